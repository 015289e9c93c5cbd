import { createHash } from 'node:crypto'
import { oneProcess } from '@tollgate/kit/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createAccount, startIdentity } from '../packages/identity/src/testing.ts'
import { type Claims, passProvider, startIssuer } from './oidc-issuer.ts'

let issuer: Awaited<ReturnType<typeof startIssuer>>
let service: Awaited<ReturnType<typeof startIdentity>>

beforeAll(async () => {
  issuer = await startIssuer({ redirectUri: 'https://auth.site.test/callback' })
  const client = { client_id: 'acme', client_secret: 'the secret of acme' }
  const acme = { issuer: issuer.origin, ...client }
  service = await oneProcess('each process remembers by itself where a provider is', () =>
    startIdentity({
      AUTH_EXTERNAL_CUSTOM_PROVIDERS: JSON.stringify([
        { ...acme, identifier: 'custom:acme', name: 'Acme' },
        { ...acme, identifier: 'custom:late' },
        { ...acme, identifier: 'custom:forgotten' },
        { ...acme, identifier: 'custom:impostor', client_secret: 'a guess' },
        { ...acme, identifier: 'custom:no-pkce', pkce_enabled: false },
        { ...acme, identifier: 'custom:no-nonce', skip_nonce_check: true },
        {
          identifier: 'custom:post',
          issuer: issuer.origin,
          client_id: 'post',
          client_secret: 'the secret of post',
          token_endpoint_auth_method: 'client_secret_post',
        },
        {
          ...client,
          identifier: 'custom:plain',
          authorization_url: `${issuer.origin}/auth`,
          token_url: `${issuer.origin}/token`,
          userinfo_url: `${issuer.origin}/me`,
          token_endpoint_auth_method: 'client_secret_basic',
          scopes: ['openid', 'email', 'profile'],
          attribute_mapping: { nickname: 'department' },
        },
      ]),
    }),
  )
})
beforeEach(() => {
  // The provider goes by the time of the day, and so do the tokens that it signs.
  service.now.advance((Date.now() - service.now().getTime()) / 1000)
})
afterEach(() => {
  issuer.intercept(undefined)
  expect(issuer.troubles).toEqual([])
})
afterAll(async () => {
  await service?.stop()
  await issuer?.close()
})

type Query = Record<string, string>

/** The address at the provider that somebody is sent to. */
async function leave(query: Query = {}): Promise<URL> {
  const answer = await service.call(`GET /authorize?${new URLSearchParams({ provider: 'custom:acme', ...query })}`)
  expect(answer.status).toBe(302)
  return new URL(String(answer.headers.location))
}

/** Where somebody ends up who comes back with what the provider gave them. */
async function comeBack(query: Query) {
  const answer = await service.call(`GET /callback?${new URLSearchParams(query)}`)
  const to = new URL(String(answer.headers.location))
  const fragment: Query = Object.fromEntries(new URLSearchParams(to.hash.slice(1)))
  return { to, query: Object.fromEntries(to.searchParams) as Query, fragment }
}

/** What the provider gives to somebody who signs in there. */
async function grantedTo(person: { id: string }, at: URL): Promise<Query> {
  return Object.fromEntries((await passProvider(at.href, { account: person.id, answer: 'yes' })).searchParams)
}

async function signIn(person: { id: string }, query: Query = {}) {
  return comeBack(await grantedTo(person, await leave(query)))
}

async function userOf({ fragment }: { fragment: Query }) {
  const answer = await service.call('GET /user', { headers: { authorization: `Bearer ${fragment.access_token}` } })
  expect(answer.status).toBe(200)
  return answer.json<Record<string, unknown> & { id: string; identities: Claims[] }>()
}

describe('a provider of one’s own', () => {
  test('is listed with the others', async () => {
    const { external } = (await service.call('GET /settings')).json<{ external: Record<string, boolean> }>()
    expect(external).toMatchObject({ 'custom:acme': true, 'custom:plain': true, github: false, email: true })
  })

  test('lets somebody new in, as it knows them', async () => {
    const ann = issuer.enrol()
    const back = await signIn(ann, { redirect_to: 'https://site.test/in' })
    expect(back.to.origin + back.to.pathname).toBe('https://site.test/in')
    expect(back.fragment).toMatchObject({ token_type: 'bearer', provider: 'custom:acme' })
    expect(await userOf(back)).toMatchObject({
      email: ann.email,
      app_metadata: { provider: 'custom:acme', providers: ['custom:acme'] },
      user_metadata: {
        iss: issuer.origin,
        sub: ann.id,
        full_name: 'Ann',
        email_verified: true,
        custom_claims: { department: 'Sales' },
      },
      identities: [{ provider: 'custom:acme', id: ann.id, email: ann.email }],
    })
  })

  test('is asked for with PKCE, a nonce and the usual scopes', async () => {
    const to = await leave()
    expect(Object.fromEntries(to.searchParams)).toMatchObject({
      client_id: 'acme',
      redirect_uri: 'https://auth.site.test/callback',
      scope: 'openid profile email',
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{22}$/),
    })
    expect((await leave({ provider: 'custom:no-pkce' })).searchParams.has('code_challenge')).toBe(false)
  })

  test('gives a client with a challenge a code, which is good once', async () => {
    const ann = issuer.enrol()
    const verifier = 'v'.repeat(50)
    const code_challenge = createHash('sha256').update(verifier).digest('base64url')
    const back = await signIn(ann, { code_challenge, code_challenge_method: 's256' })
    expect([back.to.hash, Object.keys(back.query)]).toEqual(['', ['code']])
    const exchange = () =>
      service.call('POST /token?grant_type=pkce', { json: { auth_code: back.query.code, code_verifier: verifier } })
    expect((await exchange()).json()).toMatchObject({ user: { email: ann.email } })
    expect((await exchange()).json()).toMatchObject({ error_code: 'flow_state_not_found' })
  })

  test.each(['custom:post', 'custom:no-pkce', 'custom:no-nonce'])('lets people in as %s', async (provider) => {
    const ann = issuer.enrol()
    expect((await userOf(await signIn(ann, { provider }))).email).toBe(ann.email)
  })

  test('needs no issuer: plain OAuth 2.0 tells who somebody is, too', async () => {
    const ann = issuer.enrol()
    const user = await userOf(await signIn(ann, { provider: 'CUSTOM:plain' }))
    expect(user).toMatchObject({ email: ann.email, user_metadata: { sub: ann.id, nickname: 'Sales', email_verified: true } })
    expect(user.user_metadata).not.toHaveProperty('custom_claims')
  })
})

describe('whose account it is', () => {
  test('a second sign-in leads into the same account', async () => {
    const ann = issuer.enrol()
    const first = await userOf(await signIn(ann))
    expect((await userOf(await signIn(ann))).id).toBe(first.id)
  })

  test('an address that the provider vouches for leads to the account that has it', async () => {
    const ann = issuer.enrol()
    const { userId } = await createAccount(service, { email: ann.email })
    expect(await userOf(await signIn(ann))).toMatchObject({
      id: userId,
      app_metadata: { providers: ['custom:acme', 'email'] },
    })
  })

  test.each([false, 'false', undefined, null, 'yes'])(
    'one that it calls verified: %j leads to nobody’s',
    async (email_verified) => {
      const ann = issuer.enrol({ email_verified })
      const { userId } = await createAccount(service, { email: ann.email })
      const user = await userOf(await signIn(ann))
      expect([user.email, user.id === userId]).toEqual(['', false])
    },
  )

  test('two providers that know somebody by the same id do not share an identity', async () => {
    const ann = issuer.enrol({ email_verified: false, email: 'taken@mail.test' })
    await createAccount(service, { email: 'taken@mail.test' })
    const [one, other] = [await userOf(await signIn(ann)), await userOf(await signIn(ann, { provider: 'custom:post' }))]
    expect(one.id).not.toBe(other.id)
  })
})

describe('what is refused', () => {
  test('somebody who says no at the provider', async () => {
    const back = await passProvider((await leave()).href, { answer: 'no' })
    expect((await comeBack(Object.fromEntries(back.searchParams))).query).toMatchObject({
      error: 'access_denied',
      error_description: 'They said no',
    })
  })

  test('a state, the second time', async () => {
    const granted = await grantedTo(issuer.enrol(), await leave())
    expect((await comeBack(granted)).fragment).toHaveProperty('access_token')
    expect((await comeBack(granted)).query.error_code).toMatch(/^(bad_oauth_state|flow_state_already_used)$/)
  })

  test('a code, the second time, under another state', async () => {
    const { code = '', ...granted } = await grantedTo(issuer.enrol(), await leave({ provider: 'custom:no-pkce' }))
    expect((await comeBack({ ...granted, code })).fragment).toHaveProperty('access_token')
    const state = (await leave({ provider: 'custom:no-pkce' })).searchParams.get('state') ?? ''
    const again = await comeBack({ ...granted, code, state })
    expect(again.query.error_description).toBe(`Unable to exchange external code: ${code.slice(0, 4)}`)
    expect(again.fragment).not.toHaveProperty('access_token')
  })

  test.each([
    ['custom:acme', /^Unable to exchange external code/],
    ['custom:no-pkce', /The ID token has another nonce/],
  ])('a code that was granted to somebody else’s flow, with %s', async (provider, why) => {
    const granted = await grantedTo(issuer.enrol(), await leave({ provider }))
    const state = (await leave({ provider })).searchParams.get('state') ?? ''
    const back = await comeBack({ ...granted, state })
    expect(back.query.error_description).toMatch(why)
    expect(back.fragment).not.toHaveProperty('access_token')
  })

  test('an id token with another nonce, unless nobody is to look', async () => {
    const withOther = async (provider: string) => {
      const to = await leave({ provider })
      to.searchParams.set('nonce', 'forged')
      return comeBack(await grantedTo(issuer.enrol(), to))
    }
    expect((await withOther('custom:acme')).query).toMatchObject({
      error_code: 'bad_oauth_callback',
      error_description: expect.stringContaining('another nonce'),
    })
    expect((await withOther('custom:no-nonce')).fragment).toHaveProperty('access_token')
  })

  test('an answer without an id token', async () => {
    const to = await leave()
    to.searchParams.set('scope', 'email')
    to.searchParams.delete('nonce')
    const back = await comeBack(await grantedTo(issuer.enrol(), to))
    expect(back.query.error_description).toBe('Error getting user profile from external provider')
  })

  test('a client secret that is wrong', async () => {
    const back = await signIn(issuer.enrol(), { provider: 'custom:impostor' })
    expect(back.query).toMatchObject({
      error: 'server_error',
      error_description: expect.stringMatching(/^Unable to exchange external code/),
    })
    expect(JSON.stringify(service.lines)).not.toMatch(/a guess|the secret of/)
  })

  test('an answer in the name of another issuer, and one in nobody’s', async () => {
    const exchanges = () => issuer.paths.filter((path) => path === 'POST /token').length
    const before = exchanges()
    const { iss, ...granted } = await grantedTo(issuer.enrol(), await leave())
    expect(iss).toBe(issuer.origin)
    const mixedUp = await comeBack({ ...granted, iss: 'https://evil.test' })
    expect(mixedUp.query).toMatchObject({ error_description: 'OAuth callback comes from another issuer' })
    const { iss: _, ...nameless } = await grantedTo(issuer.enrol(), await leave())
    expect((await comeBack(nameless)).query).toMatchObject({ error_description: 'OAuth callback does not tell its issuer' })
    expect(exchanges()).toBe(before)
  })

  test('an id token and a userinfo of two people', async () => {
    const [ann, victim] = [issuer.enrol(), issuer.enrol()]
    issuer.intercept((request, response) =>
      request.url === '/me'
        ? response
            .setHeader('content-type', 'application/json')
            .end(JSON.stringify({ sub: victim.id, email: victim.email, email_verified: true }))
        : undefined,
    )
    const back = await signIn(ann)
    expect(back.query.error_description).toBe('Error getting user profile from external provider')
    expect(await service.app.db`select from auth.users where email in (${ann.email}, ${victim.email})`).toEqual([])
  })
})

describe('days at the provider', () => {
  test('new keys are found, and what they sign is believed', async () => {
    const ann = issuer.enrol()
    const first = await userOf(await signIn(ann))
    issuer.rotate()
    service.now.advance(31)
    expect((await userOf(await signIn(ann))).id).toBe(first.id)
  })

  test('one that is down is told of, and asked again when a moment has passed', async () => {
    issuer.intercept((request) => request.socket.destroy())
    const ask = () => service.call('GET /authorize?provider=custom:late')
    const answer = await ask()
    expect([answer.status, answer.json().error_code]).toEqual([503, 'unavailable'])
    issuer.intercept(undefined)
    expect((await ask()).status).toBe(503)
    service.now.advance(6)
    expect((await userOf(await signIn(issuer.enrol(), { provider: 'custom:late' }))).id).toEqual(expect.any(String))
  })

  test('one that goes down while somebody is away is told of where they were going', async () => {
    const granted = await grantedTo(issuer.enrol(), await leave({ redirect_to: 'https://site.test/in' }))
    issuer.intercept((request) => request.socket.destroy())
    const back = await comeBack(granted)
    expect(back.to.pathname).toBe('/in')
    expect(back.query.error).toBe('server_error')
    issuer.intercept(undefined)
    expect((await signIn(issuer.enrol())).fragment).toHaveProperty('access_token')
  })

  test('one whose addresses are forgotten while it is down lets nobody in, and says so', async () => {
    await leave({ provider: 'custom:forgotten' })
    service.now.advance(3500)
    const granted = await grantedTo(issuer.enrol(), await leave({ provider: 'custom:forgotten' }))
    service.now.advance(200)
    issuer.intercept((request) => request.socket.destroy())
    expect((await comeBack(granted)).query).toMatchObject({ error: 'temporarily_unavailable', error_code: 'unavailable' })
  })
})
