import { createHash } from 'node:crypto'
import { createFetch, OutsideTrouble } from '@tollgate/kit/fetch'
import { type FakeAnswer, type FakeTable, startHttpFake } from '@tollgate/kit/http-fake'
import { gate, keptLog, stillClock } from '@tollgate/kit/testing'
import { exportJWK, exportSPKI, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose'
import { describe, expect, onTestFinished, test } from 'vitest'
import { accessTokenHashMatches, createIdTokens, type Expected, IdTokenProblem } from './id-tokens.ts'

type Signer = { kid: string | undefined; alg: string; privateKey: CryptoKey; publicKey: CryptoKey; jwk: JWK }

async function signer(kid: string | undefined, alg = 'ES256', more: JWK & { issuer?: string } = {}): Promise<Signer> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  return {
    kid,
    alg,
    privateKey,
    publicKey,
    jwk: { ...(await exportJWK(publicKey)), use: 'sig', ...(kid ? { kid } : {}), ...more },
  }
}

const one = await signer('one')
const two = await signer('two')
const stranger = await signer('one')
const rsa = await signer('rsa', 'RS256')
const shared = await signer('shared', 'ES256', { issuer: 'http://issuer/{tenantid}/v2.0' })
const personal = await signer('personal', 'ES256', { issuer: 'http://issuer/personal/v2.0' })
const secretJwk = { ...(await exportJWK(one.privateKey)), kid: 'one' }

const client = 'our-client'

/** An issuer over real HTTP, and what verifies its tokens. */
async function open(keys: readonly JWK[] = [one.jwk, rsa.jwk]) {
  const fake = await startHttpFake({})
  const { origin } = fake
  const fetch = createFetch({ allowPrivate: true, timeout: 5, userAgent: 'tollgate/test' })
  onTestFinished(async () => {
    await fetch.close()
    await fake.close()
  })
  const now = stillClock()
  const { log, lines } = keptLog()
  const discovery = { issuer: origin, jwks_uri: `${origin}/keys` }
  const answer = (table: FakeTable = {}) =>
    fake.answer({ 'GET /.well-known/openid-configuration': { json: discovery }, 'GET /keys': { json: { keys } }, ...table })
  answer()

  const seconds = () => Math.floor(now().getTime() / 1000)
  const claims = (more: JWTPayload = {}): JWTPayload => ({
    iss: origin,
    aud: client,
    sub: 'somebody',
    iat: seconds(),
    exp: seconds() + 300,
    ...more,
  })
  const idTokens = createIdTokens({ fetch, now, log, allowHttp: true })
  return {
    fake,
    origin,
    fetch,
    now,
    lines,
    answer,
    discovery,
    idTokens,
    seconds,
    claims,
    /** How often the keys were asked for. */
    keyReadings: () => fake.requests.filter(({ path }) => path === '/keys').length,
    token: (more?: JWTPayload, by: Signer = one) => signed(claims(more), by),
    verify: (token: string, more: Partial<Expected> = {}) =>
      idTokens.verify(token, { issuers: [origin], audiences: [client], ...more }),
  }
}

function signed(claims: JWTPayload, { alg, kid, privateKey }: Signer): Promise<string> {
  return new SignJWT(claims).setProtectedHeader({ alg, ...(kid ? { kid } : {}) }).sign(privateKey)
}

/** Put together by hand, as nobody who means well would. */
function forged(header: object, claims: object, signature = ''): string {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
  return `${encode(header)}.${encode(claims)}.${signature}`
}

async function problemWith(verifying: Promise<unknown>): Promise<unknown> {
  return verifying.then(
    () => 'was believed',
    (problem: unknown) => problem,
  )
}

async function faultOf(verifying: Promise<unknown>): Promise<unknown> {
  const problem = await problemWith(verifying)
  return problem instanceof IdTokenProblem ? problem.fault : problem
}

async function troubleOf(verifying: Promise<unknown>): Promise<unknown> {
  const problem = await problemWith(verifying)
  return problem instanceof OutsideTrouble ? `${problem.kind}: ${problem.what}` : problem
}

describe('a good token', () => {
  test('tells who somebody is, with keys that are found by the name of the issuer', async () => {
    const { verify, token, fake } = await open()
    expect(await verify(await token({ email: 'a@example.com' }))).toMatchObject({ sub: 'somebody', email: 'a@example.com' })
    expect(fake.requests.map(({ path }) => path)).toEqual(['/.well-known/openid-configuration', '/keys'])
  })

  test('is verified with the keys at the address that is given, without any discovery', async () => {
    const { verify, token, fake, origin } = await open()
    await verify(await token(), { keysUrl: `${origin}/keys` })
    expect(fake.requests.map(({ path }) => path)).toEqual(['/keys'])
  })

  test.each(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'])(
    'may be signed with %s',
    async (alg) => {
      const by = await signer('own', alg)
      const { verify, token } = await open([by.jwk])
      expect(await verify(await token({}, by))).toMatchObject({ sub: 'somebody' })
    },
  )

  test('an issuer whose name ends in a slash is asked at the same place', async () => {
    const { verify, token, origin, answer, fake } = await open()
    answer({ 'GET /.well-known/openid-configuration': { json: { issuer: `${origin}/`, jwks_uri: `${origin}/keys` } } })
    await verify(await token({ iss: `${origin}/` }), { issuers: [`${origin}/`] })
    expect(fake.requests[0]?.path).toBe('/.well-known/openid-configuration')
  })

  test('any of our client ids may be its audience', async () => {
    const { verify, token } = await open()
    await expect(verify(await token({ aud: 'native' }), { audiences: [client, 'native'] })).resolves.toBeDefined()
  })

  test('one for several is ours when it was issued to us', async () => {
    const { verify, token } = await open()
    await expect(verify(await token({ aud: ['api', client], azp: client }))).resolves.toBeDefined()
  })
})

describe('is refused', () => {
  const cases: [name: string, fault: string, claims: JWTPayload][] = [
    ['for another audience', 'audience', { aud: 'another-client' }],
    ['without an audience', 'audience', { aud: undefined as unknown as string }],
    ['for an empty audience', 'audience', { aud: '' }],
    ['for several, issued to another', 'audience', { aud: [client, 'evil'], azp: 'evil' }],
    ['for several, issued to nobody in particular', 'audience', { aud: [client, 'evil'] }],
    ['of another issuer', 'issuer', { iss: 'https://evil.example.com' }],
    ['without an issuer', 'issuer', { iss: undefined as unknown as string }],
    ['without a subject', 'subject', { sub: undefined as unknown as string }],
    ['with an empty subject', 'subject', { sub: '' }],
    ['with a blank subject', 'subject', { sub: ' ' }],
    ['with a subject that is no text', 'subject', { sub: 7 as unknown as string }],
    ['with a subject of more than 255 characters', 'subject', { sub: 'x'.repeat(256) }],
    ['without an end', 'time', { exp: undefined as unknown as number }],
    ['without a beginning', 'time', { iat: undefined as unknown as number }],
    ['with an end that is no number', 'time', { exp: '2099' as unknown as number }],
  ]
  test.each(cases)('a token %s', async (_, fault, claims) => {
    const { verify, token } = await open()
    expect(await faultOf(verify(await token(claims), { audiences: [client, ''] }))).toBe(fault)
  })

  test('a token for anybody, where no client id is set up', async () => {
    const { verify, token } = await open()
    expect(await faultOf(verify(await token(), { audiences: [] }))).toBe('audience')
  })

  test('a token signed by a stranger under the name of a known key', async () => {
    const { verify, token } = await open()
    expect(await faultOf(verify(await token({}, stranger)))).toBe('signature')
  })

  test.each(['none', 'None', 'NONE'])('a token signed by nobody (%s), without anybody being asked', async (alg) => {
    const { verify, claims, fake } = await open()
    expect(await faultOf(verify(forged({ alg }, claims())))).toBe('algorithm')
    expect(fake.requests).toEqual([])
  })

  test('a token whose secret is the public key', async () => {
    const { verify, claims, fake } = await open()
    const secret = new TextEncoder().encode(await exportSPKI(rsa.publicKey))
    const token = await new SignJWT(claims()).setProtectedHeader({ alg: 'HS256', kid: 'rsa' }).sign(secret)
    expect(await faultOf(verify(token))).toBe('algorithm')
    expect(fake.requests).toEqual([])
  })

  test('a token of a secret that the issuer publishes by mistake', async () => {
    const secret = new TextEncoder().encode('a secret that everybody can read')
    const { verify, claims } = await open([{ kty: 'oct', kid: 'oct', k: Buffer.from(secret).toString('base64url') }])
    const token = await new SignJWT(claims()).setProtectedHeader({ alg: 'HS256', kid: 'oct' }).sign(secret)
    expect(await faultOf(verify(token))).toBe('algorithm')
  })

  test('a token that brings its own key along', async () => {
    const { verify, claims } = await open()
    const token = await new SignJWT(claims())
      .setProtectedHeader({ alg: 'ES256', kid: 'one', jwk: stranger.jwk, jku: 'https://evil.example.com/keys' } as never)
      .sign(stranger.privateKey)
    expect(await faultOf(verify(token))).toBe('signature')
  })

  test('a token whose claims were changed', async () => {
    const { verify, token, claims } = await open()
    const [header, , signature] = (await token()).split('.')
    const changed = Buffer.from(JSON.stringify(claims({ sub: 'admin' }))).toString('base64url')
    expect(await faultOf(verify(`${header}.${changed}.${signature}`))).toBe('signature')
  })

  test('a token with an extension that must be understood', async () => {
    const { verify, claims } = await open()
    const header = { alg: 'ES256', kid: 'one', crit: ['own'], own: true }
    expect(await faultOf(verify(forged(header, claims(), 'AAAA')))).toBe('malformed')
  })

  test('a token that names no key where there are several', async () => {
    const { verify, token } = await open([one.jwk, two.jwk])
    expect(await faultOf(verify(await token({}, { ...one, kid: undefined })))).toBe('key')
  })

  test.each([
    '',
    'x',
    'a.b',
    'a.b.c',
    '..',
    'e30.e30.',
    `${'x'.repeat(20_000)}.y.z`,
    'bnVsbA.bnVsbA.bnVsbA',
    '\u0000.\u0000.\u0000',
  ])('what is no token: %#', async (text) => {
    const { verify, fake } = await open()
    expect(await faultOf(verify(text))).toMatch(/malformed|algorithm/)
    expect(fake.requests).toEqual([])
  })

  test('a token that is longer than any would be, before anybody is asked', async () => {
    const { verify, token, fake } = await open()
    expect(await faultOf(verify(await token({ long: 'x'.repeat(16_384) })))).toBe('malformed')
    expect(fake.requests).toEqual([])
  })

  test('a token of an issuer that nobody expects makes us ask nobody', async () => {
    const { verify, token, fake } = await open()
    await faultOf(verify(await token({ iss: `${fake.origin}/elsewhere` })))
    expect(fake.requests).toEqual([])
  })
})

describe('time', () => {
  const cases: [name: string, claims: (now: number) => JWTPayload, fault: string | undefined][] = [
    ['expired a minute ago', (now) => ({ exp: now - 60 }), 'time'],
    ['expired 59 seconds ago, which may be the clocks', (now) => ({ exp: now - 59 }), undefined],
    ['valid in 61 seconds', (now) => ({ nbf: now + 61 }), 'time'],
    ['valid in a minute', (now) => ({ nbf: now + 60 }), undefined],
    ['issued in 61 seconds', (now) => ({ iat: now + 61 }), 'time'],
    ['issued in a minute', (now) => ({ iat: now + 60 }), undefined],
    ['issued in a year', (now) => ({ iat: now + 31_536_000, exp: now + 31_536_300 }), 'time'],
  ]
  test.each(cases)('a token that is %s', async (_, claims, fault) => {
    const { verify, token, seconds } = await open()
    const verifying = verify(await token(claims(seconds())))
    if (fault) expect(await faultOf(verifying)).toBe(fault)
    else await expect(verifying).resolves.toMatchObject({ sub: 'somebody' })
  })

  test('a token that was good is refused when our own clock has passed its end', async () => {
    const { verify, token, now } = await open()
    const good = await token()
    await verify(good)
    now.advance(361)
    expect(await faultOf(verify(good))).toBe('time')
  })
})

describe('the nonce', () => {
  const cases: [name: string, told: unknown][] = [
    ['is another', 'stolen'],
    ['is missing', undefined],
    ['is no text', 7],
    ['is longer', 'expected2'],
  ]
  test.each(cases)('a token whose nonce %s is refused', async (_, nonce) => {
    const { verify, token } = await open()
    expect(await faultOf(verify(await token({ nonce }), { nonce: 'expected' }))).toBe('nonce')
  })

  test('a token with the expected nonce is believed', async () => {
    const { verify, token } = await open()
    await expect(verify(await token({ nonce: 'expected' }), { nonce: 'expected' })).resolves.toBeDefined()
  })
})

describe('the access token', () => {
  // The example of https://openid.net/specs/openid-connect-core-1_0.html#id_token-tokenExample
  const example = { at_hash: '77QmUPtjPfzWtF2AnpK9RQ' }
  const accessToken = 'jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y'

  test('the documented example matches', () => {
    expect(accessTokenHashMatches(example, accessToken, 'RS256')).toBe(true)
    expect(accessTokenHashMatches(example, `${accessToken}x`, 'RS256')).toBe(false)
    expect(accessTokenHashMatches(example, accessToken, 'RS384')).toBe(false)
  })

  test.each([
    ['ES384', 'sha384', 24],
    ['PS512', 'sha512', 32],
    ['EdDSA', 'sha512', 32],
  ])('with %s it is the left half of %s', (alg, hash, half) => {
    const at_hash = createHash(hash).update('token').digest().subarray(0, half).toString('base64url')
    expect(accessTokenHashMatches({ at_hash }, 'token', alg)).toBe(true)
    expect(accessTokenHashMatches({ at_hash }, 'other', alg)).toBe(false)
  })

  test('an id token that tells of none goes with any, and one that tells nonsense with none', () => {
    expect(accessTokenHashMatches({}, 'token', 'RS256')).toBe(true)
    for (const at_hash of [null, '', 7, {}, example.at_hash.slice(1)]) {
      expect(accessTokenHashMatches({ at_hash }, accessToken, 'RS256')).toBe(false)
    }
    expect(accessTokenHashMatches(example, accessToken, 'none')).toBe(false)
  })

  test('one that was issued with another id token is refused', async () => {
    const { verify, token } = await open()
    const bound = await token(example, rsa)
    expect(await faultOf(verify(bound, { accessToken: 'stolen' }))).toBe('access-token')
    await expect(verify(bound, { accessToken })).resolves.toBeDefined()
  })
})

describe('tenants', () => {
  const openTenants = async () => {
    const opened = await open([one.jwk, shared.jwk, personal.jwk])
    const expected = { issuers: ['http://issuer/{tenantid}/v2.0'], keysUrl: `${opened.origin}/keys` }
    return {
      ...opened,
      try: async (claims: JWTPayload, by?: Signer) => opened.verify(await opened.token(claims, by), expected),
    }
  }

  test('a token of any tenant is believed when it says whose it is', async () => {
    const tenants = await openTenants()
    await expect(tenants.try({ iss: 'http://issuer/contoso/v2.0', tid: 'contoso' })).resolves.toMatchObject({ tid: 'contoso' })
    await expect(tenants.try({ iss: 'http://issuer/contoso/v2.0', tid: 'contoso' }, shared)).resolves.toBeDefined()
    await expect(tenants.try({ iss: 'http://issuer/personal/v2.0', tid: 'personal' }, personal)).resolves.toBeDefined()
  })

  const cases: [iss: string, tid: unknown][] = [
    ['http://issuer/contoso/v2.0', 'fabrikam'],
    ['http://issuer/contoso/v2.0', undefined],
    ['http://issuer/{tenantid}/v2.0', undefined],
    ['http://issuer/{tenantid}/v2.0', '{tenantid}'],
    ['http://issuer/a/b/v2.0', 'a/b'],
    ['http://issuer//v2.0', ''],
    ['http://issuer/../v2.0', '..'],
    ['http://issuer/contoso/v2.0/', 'contoso'],
    ['http://issuer/contoso/v1.0', 'contoso'],
    ['http://evil/contoso/v2.0', 'contoso'],
    ["http://issuer/$'/v2.0", "$'"],
  ]
  test.each(cases)('a token of %s that says it is of tenant %s is refused', async (iss, tid) => {
    const tenants = await openTenants()
    expect(await faultOf(tenants.try({ iss, tid }))).toBe('issuer')
    expect(tenants.fake.requests).toEqual([])
  })

  test('one tenant is not another', async () => {
    const { verify, token, origin } = await openTenants()
    const other = await token({ iss: 'http://issuer/fabrikam/v2.0', tid: 'fabrikam' })
    const expected = { issuers: ['http://issuer/contoso/v2.0'], keysUrl: `${origin}/keys` }
    expect(await faultOf(verify(other, expected))).toBe('issuer')
  })

  test('a key that is for one tenant does not sign for another', async () => {
    const tenants = await openTenants()
    expect(await faultOf(tenants.try({ iss: 'http://issuer/contoso/v2.0', tid: 'contoso' }, personal))).toBe('key')
  })
})

describe('keys', () => {
  test('are read once an hour, however many tokens come', async () => {
    const { verify, token, now, keyReadings, fake } = await open()
    await Promise.all(Array.from({ length: 20 }, async () => verify(await token())))
    expect(fake.requests).toHaveLength(2)
    now.advance(3599)
    await verify(await token())
    expect(fake.requests).toHaveLength(2)
    now.advance(1)
    await verify(await token())
    expect([fake.requests.length, keyReadings()]).toEqual([4, 2])
  })

  test('a new key is found at once, and the old one is forgotten when the issuer has dropped it', async () => {
    const { verify, token, answer, now, keyReadings } = await open()
    await verify(await token())
    answer({ 'GET /keys': { json: { keys: [two.jwk] } } })
    now.advance(31)
    await expect(verify(await token({}, two))).resolves.toBeDefined()
    expect(keyReadings()).toBe(2)
    expect(await faultOf(verify(await token()))).toBe('key')
  })

  test('a new key without a name is found too', async () => {
    const [before, after] = [await signer(undefined), await signer(undefined)]
    const { verify, token, answer, now } = await open([before.jwk])
    await verify(await token({}, before))
    answer({ 'GET /keys': { json: { keys: [after.jwk] } } })
    now.advance(31)
    await expect(verify(await token({}, after))).resolves.toBeDefined()
  })

  test('a flood of tokens with unknown keys reads them once in thirty seconds', async () => {
    const { verify, claims, now, keyReadings } = await open()
    const flood = (round: number) =>
      Promise.all(
        Array.from({ length: 50 }, (_, index) =>
          faultOf(verify(forged({ alg: 'ES256', kid: `${round}-${index}` }, claims(), 'AAAA'))),
        ),
      )
    expect(new Set(await flood(1))).toEqual(new Set(['key']))
    expect(keyReadings()).toBe(1)
    now.advance(29)
    await flood(2)
    expect(keyReadings()).toBe(1)
    now.advance(1)
    await flood(3)
    expect(keyReadings()).toBe(2)
    await flood(4)
    expect(keyReadings()).toBe(2)
  })

  test('others go on with the keys that are there while newer ones are not to be had', async () => {
    const { verify, token, answer, now, keyReadings } = await open()
    await verify(await token())
    now.advance(31)
    answer({ 'GET /keys': { status: 503 } })
    expect(await troubleOf(verify(await token({}, two)))).toBe('status: answered 503')
    await expect(verify(await token())).resolves.toBeDefined()
    expect(await troubleOf(verify(await token({}, two)))).toBe('status: answered 503')
    expect(keyReadings()).toBe(2)
  })

  test('nobody waits for newer keys but who needs them', async () => {
    const { verify, token, answer, now } = await open()
    await verify(await token())
    now.advance(31)
    const slow = gate<void, FakeAnswer>()
    answer({ 'GET /keys': () => slow.enter() })
    const waiting = verify(await token({}, two))
    await slow.entered()
    await expect(verify(await token())).resolves.toBeDefined()
    slow.leave(1, { json: { keys: [one.jwk, two.jwk] } })
    await expect(waiting).resolves.toBeDefined()
  })

  const bad: [name: string, answer: FakeTable[string], trouble: string][] = [
    ['that redirect', { status: 302, headers: { location: 'http://127.0.0.1:1/' } }, 'status: answered 302'],
    ['that are not there', { status: 404 }, 'status: answered 404'],
    ['that never end', { text: 'x'.repeat(300_000) }, 'too-large: answered 200 with more than 262144 bytes'],
    ['that are no JSON', { text: '<html>' }, 'nonsense: answered 200 with something that is not JSON'],
    ['that are null', { json: null }, 'nonsense: answered with something that is no key set'],
    ['that are a list', { json: [one.jwk] }, 'nonsense: answered with something that is no key set'],
    ['that are not objects', { json: { keys: ['x', null] } }, 'nonsense: answered with something that is no key set'],
    ['that are broken', { json: { keys: [{ ...one.jwk, x: 'AAAA' }] } }, 'nonsense: has a key that cannot be used'],
    ['that are private', { json: { keys: [secretJwk] } }, 'nonsense: has a key that cannot be used'],
  ]
  test.each(bad)('keys %s are trouble with the issuer, not with the token', async (_, reply, trouble) => {
    const { verify, token, answer } = await open()
    answer({ 'GET /keys': reply })
    expect(await troubleOf(verify(await token()))).toBe(trouble)
  })

  test('trouble is believed for five seconds, so that a flood is not passed on, and then asked about again', async () => {
    const { verify, token, answer, now, keyReadings } = await open()
    answer({ 'GET /keys': { status: 500 } })
    for (let time = 0; time < 10; time++) await troubleOf(verify(await token()))
    expect(keyReadings()).toBe(1)
    answer()
    now.advance(5)
    await expect(verify(await token())).resolves.toBeDefined()
  })
})

describe('discovery', () => {
  const bad: [name: string, json: (origin: string) => unknown, trouble: string][] = [
    [
      'that speaks for another issuer',
      (origin) => ({ issuer: 'https://other', jwks_uri: `${origin}/keys` }),
      'nonsense: speaks for another issuer',
    ],
    [
      'that speaks for a longer name',
      (origin) => ({ issuer: `${origin}/`, jwks_uri: `${origin}/keys` }),
      'nonsense: speaks for another issuer',
    ],
    ['that says nothing', () => null, 'nonsense: speaks for another issuer'],
    ['without keys', (origin) => ({ issuer: origin }), 'nonsense: does not tell where its keys are'],
    [
      'with keys that are in a file',
      (origin) => ({ issuer: origin, jwks_uri: 'file:///etc/passwd' }),
      'forbidden: is not an http or https address',
    ],
    [
      'with keys that are nowhere',
      (origin) => ({ issuer: origin, jwks_uri: 'nonsense' }),
      'forbidden: has no address that can be understood',
    ],
  ]
  test.each(bad)('a document %s is trouble with the issuer', async (_, json, trouble) => {
    const { verify, token, answer, origin, keyReadings } = await open()
    answer({ 'GET /.well-known/openid-configuration': { json: json(origin) } })
    expect(await troubleOf(verify(await token()))).toBe(trouble)
    expect(keyReadings()).toBe(0)
  })

  test('a document that redirects is not followed', async () => {
    const { verify, token, answer, origin, keyReadings } = await open()
    answer({ 'GET /.well-known/openid-configuration': { status: 301, headers: { location: `${origin}/keys` } } })
    expect(await troubleOf(verify(await token()))).toBe('status: answered 301')
    expect(keyReadings()).toBe(0)
  })

  test('keys that are not at https are not read, unless that is allowed', async () => {
    const { fetch, now, token, origin, fake } = await open()
    const strict = createIdTokens({ fetch, now, log: keptLog().log })
    const good = await token()
    const expected = { issuers: [origin], audiences: [client] }
    expect(await troubleOf(strict.verify(good, expected))).toBe('forbidden: is not https')
    expect(await troubleOf(strict.verify(good, { ...expected, keysUrl: `${origin}/keys` }))).toBe('forbidden: is not https')
    expect(fake.requests).toEqual([])
  })

  test('an issuer on a private address is not spoken to where private addresses are not allowed', async () => {
    const { now, token, origin, fake } = await open()
    const fetch = createFetch({ allowPrivate: false, timeout: 5, userAgent: 'tollgate/test' })
    onTestFinished(() => fetch.close())
    const guarded = createIdTokens({ fetch, now, log: keptLog().log, allowHttp: true })
    expect(await troubleOf(guarded.verify(await token(), { issuers: [origin], audiences: [client] }))).toBe(
      'forbidden: is not at a public address',
    )
    expect(fake.requests).toEqual([])
  })

  test('the document is read again after an hour', async () => {
    const { verify, token, now, fake } = await open()
    await verify(await token())
    now.advance(3600)
    await verify(await token())
    expect(fake.requests.filter(({ path }) => path !== '/keys')).toHaveLength(2)
  })
})

test('what is remembered is bounded: the issuer that was read longest ago is read again', async () => {
  const { idTokens, token, origin, keyReadings, answer } = await open()
  const keys = { json: { keys: [one.jwk] } }
  const many = Array.from({ length: 200 }, (_, index) => `/keys-${index}`)
  answer(Object.fromEntries(many.map((path) => [`GET ${path}`, keys])))
  const good = await token()
  const verify = (path: string) => idTokens.verify(good, { issuers: [origin], audiences: [client], keysUrl: `${origin}${path}` })
  await verify('/keys')
  for (const path of many.slice(0, 199)) await verify(path)
  await verify('/keys')
  expect(keyReadings()).toBe(1)
  await verify('/keys-199')
  await verify('/keys')
  expect(keyReadings()).toBe(2)
})
