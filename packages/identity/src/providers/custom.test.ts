import { createFetch, type Fetch, OutsideTrouble } from '@tollgate/kit/fetch'
import { type HttpFake, startHttpFake } from '@tollgate/kit/http-fake'
import { stillClock } from '@tollgate/kit/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openCustom } from './custom.ts'
import { type CustomSettings, parseCustomProviders } from './custom-settings.ts'
import { askingOf } from './oauth.ts'
import type { Claims } from './provider.ts'

let acme: HttpFake
const fetch = createFetch({ allowPrivate: true, timeout: 5, userAgent: 'test' })

const document = () => ({
  issuer: acme.origin,
  authorization_endpoint: `${acme.origin}/authorize`,
  token_endpoint: `${acme.origin}/token`,
  userinfo_endpoint: `${acme.origin}/me`,
  jwks_uri: `${acme.origin}/keys`,
})

const discovery = 'GET /.well-known/openid-configuration'

beforeAll(async () => {
  acme = await startHttpFake({})
})
beforeEach(() => {
  acme.requests.length = 0
  acme.answer({ [discovery]: () => ({ json: document() }) })
})
afterAll(async () => {
  await fetch.close()
  await acme.close()
})

function configured(more: object = {}, allowHttp = true): CustomSettings {
  const client = { identifier: 'custom:acme', client_id: 'our client', client_secret: 'our secret' }
  const places = 'authorization_url' in more ? {} : { issuer: acme.origin }
  const read = parseCustomProviders(JSON.stringify([{ ...client, ...places, ...more }]), { allowHttp })
  if ('expected' in read || read.complaints.length > 0) throw new Error(JSON.stringify(read))
  return read.providers[0] as CustomSettings
}

function open(settings: CustomSettings, { now = stillClock(), allowHttp = true, through = fetch as Fetch } = {}) {
  return openCustom(settings, { fetch: through, now, allowHttp })
}

describe('discovery', () => {
  test('tells where everything is', async () => {
    const { provider, tellsIssuer } = await open(configured())
    expect(provider).toMatchObject({
      name: 'custom:acme',
      base: acme.origin,
      authorize: `${acme.origin}/authorize`,
      token: `${acme.origin}/token`,
      scopes: ['openid', 'profile', 'email'],
      pkce: true,
    })
    expect(provider.idTokens?.issuers('')).toEqual([acme.origin])
    expect(provider.idTokens?.keys?.('')).toBe(`${acme.origin}/keys`)
    expect(tellsIssuer).toBe(false)
  })

  test('settings decide over scopes, PKCE and what is asked besides', async () => {
    const { provider } = await open(
      configured({ scopes: ['email', 'groups'], pkce_enabled: false, authorization_params: { prompt: 'login' } }),
    )
    expect(provider).toMatchObject({
      scopes: ['openid', 'email', 'groups'],
      pkce: false,
      authorizeParameters: { prompt: 'login' },
    })
  })

  test.each([
    [undefined, undefined, 'basic'],
    [['client_secret_post', 'client_secret_basic'], undefined, 'basic'],
    [['client_secret_post', 'private_key_jwt'], undefined, 'form'],
    [['client_secret_basic'], 'client_secret_post', 'form'],
    [['client_secret_post'], 'client_secret_basic', 'basic'],
  ])('with methods %j and the setting %j, the secret goes by %s', async (methods, setting, style) => {
    acme.answer({ [discovery]: { json: { ...document(), token_endpoint_auth_methods_supported: methods } } })
    const { provider } = await open(configured({ token_endpoint_auth_method: setting }))
    expect(provider.clientAuth).toBe(style)
  })

  test('is asked once by twenty who come at once, and again after an hour', async () => {
    const [settings, now] = [configured(), stillClock()]
    await Promise.all(Array.from({ length: 20 }, () => open(settings, { now })))
    now.advance(3599)
    await open(settings, { now })
    expect(acme.requests).toHaveLength(1)
    now.advance(1)
    await open(settings, { now })
    expect(acme.requests).toHaveLength(2)
  })

  test('a failure is believed for five seconds', async () => {
    const [settings, now] = [configured(), stillClock()]
    acme.answer({ [discovery]: 'cut' })
    await expect(open(settings, { now })).rejects.toThrow(OutsideTrouble)
    acme.answer({ [discovery]: { json: document() } })
    now.advance(4)
    await expect(open(settings, { now })).rejects.toThrow(OutsideTrouble)
    expect(acme.requests).toHaveLength(1)
    now.advance(1)
    await expect(open(settings, { now })).resolves.toBeDefined()
  })

  test('an issuer with a slash at its end is asked below it, and answers with the slash', async () => {
    const settings = configured({ issuer: `${acme.origin}/` })
    acme.answer({ [discovery]: { json: { ...document(), issuer: `${acme.origin}/` } } })
    expect((await open(settings)).provider.idTokens?.issuers('')).toEqual([`${acme.origin}/`])
  })

  const bad: [string, () => object][] = [
    ['answers 404', () => ({ status: 404 })],
    ['answers 500', () => ({ status: 500, json: document() })],
    ['leads elsewhere', () => ({ status: 302, headers: { location: `${acme.origin}/other` } })],
    ['talks nonsense', () => ({ text: '<html>' })],
    ['answers a list', () => ({ json: [document()] })],
    ['answers null', () => ({ json: null })],
    ['is too long', () => ({ json: { ...document(), more: 'x'.repeat(300_000) } })],
    ['speaks for another', () => ({ json: { ...document(), issuer: 'https://accounts.google.com' } })],
    ['speaks for another by a slash', () => ({ json: { ...document(), issuer: `${acme.origin}/` } })],
    ['has no issuer', () => ({ json: { ...document(), issuer: undefined } })],
    ['has no keys', () => ({ json: { ...document(), jwks_uri: undefined } })],
    ['sends people to a script', () => ({ json: { ...document(), authorization_endpoint: 'javascript:alert(1)//https://' } })],
    ['sends us to a file', () => ({ json: { ...document(), token_endpoint: 'file:///etc/passwd' } })],
    ['sends us with a password', () => ({ json: { ...document(), userinfo_endpoint: 'https://a:b@acme.test' } })],
    ['sends us to a number', () => ({ json: { ...document(), jwks_uri: 7 } })],
  ]
  test.each(bad)('one that %s is a trouble', async (_, answer) => {
    acme.answer({ [discovery]: answer() })
    await expect(open(configured())).rejects.toThrow(/^custom:acme: the discovery document/)
  })

  test('an issuer that is reached by https must not lead to http', async () => {
    const issuer = 'https://id.acme.test'
    const told = { ...document(), issuer, token_endpoint: 'https://id.acme.test/token' }
    const through: Fetch = (url, options) => fetch(url.replace(issuer, acme.origin), options)
    acme.answer({ [discovery]: { json: told } })
    await expect(open(configured({ issuer }, false), { allowHttp: false, through })).rejects.toThrow(
      'custom:acme: the discovery document has no authorization_endpoint that can be used',
    )
  })

  test('an issuer in the network behind us is not asked', async () => {
    const guarded = createFetch({ allowPrivate: false, timeout: 5, userAgent: 'test' })
    await expect(open(configured(), { through: guarded })).rejects.toThrow(OutsideTrouble)
    await guarded.close()
    expect(acme.requests).toEqual([])
  })
})

type Told = { idToken?: Claims; userinfo?: unknown; accessToken?: string }

async function profileOf(settings: CustomSettings, { idToken = {}, userinfo = {}, accessToken = 'their token' }: Told) {
  acme.answer({ [discovery]: { json: document() }, 'GET /me': { json: userinfo } })
  const { provider } = await open(settings)
  const place = { provider, clientId: 'our client', secret: 'our secret', redirectUri: 'https://auth.site.test/callback' }
  const tokens = { accessToken, refreshToken: undefined, idToken: undefined, reply: {} }
  return provider.profile(askingOf(fetch, place, { tokens, idToken, callback: {} }))
}

const address = (email: string, verified: boolean) => [{ email, verified, primary: true }]

describe('a profile by OpenID Connect', () => {
  test('is what the id token and the userinfo say together', async () => {
    const idToken = { iss: acme.origin, sub: '1', aud: 'our client', nonce: 'x', email: 'ann@acme.test', email_verified: true }
    const userinfo = { sub: '1', iss: 'https://evil.test', name: 'Ann', picture: 'https://acme.test/1', groups: ['sales'] }
    expect(await profileOf(configured(), { idToken, userinfo })).toMatchObject({
      subject: '1',
      emails: address('ann@acme.test', true),
      name: 'Ann',
      avatar: 'https://acme.test/1',
      issuer: acme.origin,
      customClaims: { groups: ['sales'] },
    })
  })

  test('is what the id token says, where somebody brings nothing else', async () => {
    const profile = await profileOf(configured(), { idToken: { sub: '1', name: 'Ann' }, accessToken: '' })
    expect(profile.name).toBe('Ann')
    expect(acme.requests.map(({ path }) => path)).not.toContain('/me')
  })

  test.each<[string, Told]>([
    ['another person', { idToken: { sub: '1' }, userinfo: { sub: '2' } }],
    ['a number that looks like them', { idToken: { sub: '1' }, userinfo: { sub: 1 } }],
    ['nobody', { idToken: { sub: '1' }, userinfo: { email: 'victim@acme.test' } }],
    ['a list', { idToken: { sub: '1' }, userinfo: [{ sub: '1' }] }],
    ['them, without an id token', { userinfo: { sub: '1' } }],
  ])('is refused where the userinfo is about %s', async (_, told) => {
    await expect(profileOf(configured(), told)).rejects.toThrow(/^custom:acme: (told of somebody else|sent no id token)$/)
  })

  test.each<[Claims, Claims, string, boolean]>([
    [{ email: 'a@x.test', email_verified: true }, {}, 'a@x.test', true],
    [{ email: 'a@x.test', email_verified: true }, { email: 'a@x.test' }, 'a@x.test', true],
    [{ email: 'a@x.test', email_verified: true }, { email: 'a@x.test', email_verified: false }, 'a@x.test', false],
    [{ email: 'a@x.test', email_verified: true }, { email: 'b@x.test' }, 'b@x.test', false],
    [{ email: 'a@x.test' }, { email: 'b@x.test', email_verified: true }, 'b@x.test', true],
    [{ email: 'a@x.test' }, { email_verified: true }, 'a@x.test', false],
    [{ email: 'a@x.test', email_verified: true }, { email: null, email_verified: null }, 'a@x.test', true],
    [{ email_verified: true }, { email: 'b@x.test' }, 'b@x.test', false],
  ])('of %j and %j the address is %s, verified: %s', async (signed, asked, email, verified) => {
    const profile = await profileOf(configured(), { idToken: { sub: '1', ...signed }, userinfo: { sub: '1', ...asked } })
    expect(profile.emails).toEqual(address(email, verified))
  })

  test('a number of the id token is not vouched for by what the userinfo says of another', async () => {
    const idToken = { sub: '1', phone_number: '+4511', phone_number_verified: true }
    const profile = await profileOf(configured(), { idToken, userinfo: { sub: '1', phone_number: '+4522' } })
    expect([profile.phone, profile.phoneVerified ?? false]).toEqual(['+4522', false])
  })

  test('takes the subject from what is signed, where it is mapped', async () => {
    const settings = configured({ attribute_mapping: { subject: 'oid' } })
    const profile = await profileOf(settings, { idToken: { sub: '1', oid: 'signed' }, userinfo: { sub: '1', oid: 'asked' } })
    expect(profile.subject).toBe('signed')
  })
})

describe('a profile by OAuth 2.0', () => {
  const plain = (attribute_mapping: object = {}) =>
    configured({
      authorization_url: `${acme.origin}/authorize`,
      token_url: `${acme.origin}/token`,
      userinfo_url: `${acme.origin}/me`,
      attribute_mapping,
    })

  test('nothing is discovered, and no id token is believed', async () => {
    const { provider } = await open(plain())
    expect(acme.requests).toEqual([])
    expect(provider).toMatchObject({ scopes: [], clientAuth: 'form', pkce: true })
    expect(provider.idTokens).toBeUndefined()
  })

  test('is found by names, by dots, and by names with dots', async () => {
    const userinfo = {
      user: { id: 42, names: [{ full: 'Ann' }] },
      'https://acme.test/mail': 'ann@acme.test',
      flags: { mail: 'true' },
      image: { a: 1 },
    }
    const mapping = {
      subject: 'user.id',
      name: 'user.names.0.full',
      email: 'https://acme.test/mail',
      email_verified: 'flags.mail',
      avatar: 'image.b.c',
    }
    const profile = await profileOf(plain(mapping), { userinfo })
    expect(profile).toMatchObject({ subject: '42', name: 'Ann', emails: address('ann@acme.test', true) })
    expect([profile.avatar, profile.issuer, profile.customClaims]).toEqual([undefined, undefined, undefined])
  })

  test.each(['constructor.name', '__proto__.x', 'toString', 'sub.length'])('%s leads to nothing', async (name) => {
    expect((await profileOf(plain({ name }), { userinfo: { sub: '1' } })).name).toBeUndefined()
  })

  test('an address from elsewhere is not vouched for by what is said of the usual one', async () => {
    const userinfo = { sub: '1', email: 'ann@acme.test', email_verified: true, mail: 'victim@acme.test' }
    const unvouched = await profileOf(plain({ email: 'mail' }), { userinfo })
    expect(unvouched.emails).toEqual(address('victim@acme.test', false))
    const vouched = await profileOf(plain({ email: 'mail', email_verified: 'email_verified' }), { userinfo })
    expect(vouched.emails).toEqual(address('victim@acme.test', true))
  })

  test.each([undefined, null, '', ' ', 0, {}, ['1']])('without an id, as %j, nobody comes in', async (sub) => {
    await expect(profileOf(plain(), { userinfo: { sub, email: 'ann@acme.test' } })).rejects.toThrow('custom:acme: told no id')
  })
})
