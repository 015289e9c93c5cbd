import { createHash, randomUUID } from 'node:crypto'
import { type HttpFake, startHttpFake } from '@tollgate/kit/http-fake'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAccount, startWithInbox } from '../testing.ts'

let google: HttpFake
let service: Awaited<ReturnType<typeof startWithInbox>>
let privateKey: CryptoKey

beforeAll(async () => {
  const pair = await generateKeyPair('RS256', { extractable: true })
  privateKey = pair.privateKey
  const key = { ...(await exportJWK(pair.publicKey)), kid: 'theirs', alg: 'RS256', use: 'sig' }
  google = await startHttpFake({ 'GET /oauth2/v3/certs': { json: { keys: [key] } } })
  service = await startWithInbox({
    AUTH_EXTERNAL_GOOGLE_ENABLED: 'true',
    AUTH_EXTERNAL_GOOGLE_CLIENT_ID: 'web,ios',
    AUTH_EXTERNAL_GOOGLE_SECRET: 'our secret',
    AUTH_EXTERNAL_GOOGLE_REDIRECT_URI: 'https://auth.site.test/callback',
    AUTH_EXTERNAL_GOOGLE_URL: google.origin,
    AUTH_SECURITY_MANUAL_LINKING_ENABLED: 'true',
  })
})
afterAll(async () => {
  await service.stop()
  await google.close()
})

const hashed = (nonce: string) => createHash('sha256').update(nonce).digest('hex')

/** A token as the provider gives it to a telephone. */
function tokenOf(claims: JWTPayload & Record<string, unknown> = {}): Promise<string> {
  const now = Math.floor(service.now().getTime() / 1000)
  const all = {
    iss: google.origin,
    aud: 'ios',
    sub: randomUUID(),
    iat: now,
    exp: now + 600,
    email_verified: true,
    name: 'Ann',
    ...claims,
  }
  return new SignJWT(all).setProtectedHeader({ alg: 'RS256', kid: 'theirs' }).sign(privateKey)
}

type Told = { access_token: string; user: Record<string, unknown> & { id: string; identities: { provider: string }[] } }
const bring = async (json: object, headers: Record<string, string> = {}) => {
  const answer = await service.call('POST /token?grant_type=id_token', { json, headers })
  return { status: answer.status, told: answer.json<Told>() }
}

test('a token of the provider opens an account, by its name or by who issued it', async () => {
  const [sub, email] = [randomUUID(), `${randomUUID()}@mail.test`]
  const first = await bring({ provider: 'google', id_token: await tokenOf({ sub, email, nonce: hashed('mine') }), nonce: 'mine' })
  expect(first.status).toBe(200)
  expect(first.told.user).toMatchObject({ email, app_metadata: { provider: 'google' }, user_metadata: { full_name: 'Ann' } })
  const second = await bring({ issuer: google.origin, client_id: 'ios', id_token: await tokenOf({ sub, email }) })
  expect(second.told.user.id).toBe(first.told.user.id)
})

test('whoever is signed in adds an identity by it', async () => {
  const { userId, authorization } = await createAccount(service)
  const id_token = await tokenOf({ email: `${randomUUID()}@mail.test` })
  const { told } = await bring({ provider: 'google', id_token, link_identity: true }, { authorization })
  expect([told.user.id, told.user.identities.map(({ provider }) => provider).toSorted()]).toEqual([userId, ['email', 'google']])
  expect((await bring({ provider: 'google', id_token, link_identity: true }, { authorization })).told).toMatchObject({
    error_code: 'identity_already_exists',
  })
  expect((await bring({ provider: 'google', id_token, link_identity: true })).told).toMatchObject({
    code: 401,
    error_code: 'no_authorization',
  })
})

test.each<[string, () => Promise<object>, object]>([
  ['nothing', async () => ({}), { error: 'invalid request', error_description: 'id_token required' }],
  [
    'no provider',
    async () => ({ id_token: 'x' }),
    { error: 'invalid request', error_description: 'provider or client_id and issuer required' },
  ],
  [
    'nonsense',
    async () => ({ provider: 'google', id_token: 'nonsense' }),
    { error: 'invalid request', error_description: expect.stringMatching(/^Bad ID token/) },
  ],
  [
    'a token for somebody else',
    async () => ({ provider: 'google', id_token: await tokenOf({ aud: 'theirs' }) }),
    { error: 'invalid request' },
  ],
  [
    'a token of somebody else',
    async () => ({ provider: 'google', id_token: await tokenOf({ iss: 'https://evil.test' }) }),
    { error: 'invalid request' },
  ],
  [
    'a token that is over',
    async () => ({ provider: 'google', id_token: await tokenOf({ exp: 1 }) }),
    { error: 'invalid request' },
  ],
  [
    'a nonce that the token does not have',
    async () => ({ provider: 'google', id_token: await tokenOf(), nonce: 'x' }),
    { error_description: 'Passed nonce and nonce in id_token should either both exist or not.' },
  ],
  [
    'a token whose nonce is not told',
    async () => ({ provider: 'google', id_token: await tokenOf({ nonce: 'x' }) }),
    { error_description: 'Passed nonce and nonce in id_token should either both exist or not.' },
  ],
  [
    'another nonce',
    async () => ({ provider: 'google', id_token: await tokenOf({ nonce: hashed('mine') }), nonce: 'yours' }),
    { error: 'invalid nonce', error_description: 'Nonces mismatch' },
  ],
  [
    'an access token of another sign-in',
    async () => ({ provider: 'google', id_token: await tokenOf({ at_hash: 'x' }), access_token: 'y' }),
    { error: 'invalid request' },
  ],
  [
    'a provider that is not enabled',
    async () => ({ provider: 'apple', id_token: await tokenOf() }),
    { code: 400, error_code: 'provider_disabled' },
  ],
  [
    'a provider without such tokens',
    async () => ({ provider: 'github', id_token: await tokenOf() }),
    { code: 400, error_code: 'provider_disabled' },
  ],
  [
    'an issuer that nobody knows',
    async () => ({ issuer: 'https://evil.test', client_id: 'ios', id_token: await tokenOf() }),
    { code: 400, error_code: 'provider_disabled' },
  ],
])('%s is refused', async (_, json, refusal) => {
  const { status, told } = await bring(await json())
  expect(status).toBe(400)
  expect(told).toMatchObject(refusal)
  expect(service.lines.findLast(({ message }) => message === 'sign-in refused')).toMatchObject({ grant: 'id_token', user: null })
})
