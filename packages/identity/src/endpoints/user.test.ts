import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAccount, startIdentity } from '../testing.ts'

let service: Awaited<ReturnType<typeof startIdentity>>
let strict: typeof service

beforeAll(async () => {
  service = await startIdentity()
  strict = await startIdentity({ AUTH_SECURITY_STRICT_LOGOUT: 'true' })
})
afterAll(() => Promise.all([service.stop(), strict.stop()]))

const ask = (authorization: string, headers: Record<string, string> = {}) =>
  service.call('GET /user', { headers: { authorization, ...headers } })

/** A token with claims of one's own. */
const token = (claims: Record<string, unknown>) => `Bearer ${service.app.keys.sign(claims)}`

test('whoever is signed in is told who they are', async () => {
  const { userId, authorization } = await createAccount(service, { userMetadata: { nick: 'ann' } })
  const answer = await ask(authorization)
  expect(answer.status).toBe(200)
  expect(answer.json()).toMatchObject({
    id: userId,
    aud: 'authenticated',
    role: 'authenticated',
    email: `${userId}@site.test`,
    phone: '',
    app_metadata: { provider: 'email', providers: ['email'] },
    user_metadata: { nick: 'ann' },
    identities: [{ id: userId, user_id: userId, provider: 'email', email: `${userId}@site.test` }],
    last_sign_in_at: service.now().toISOString(),
    is_anonymous: false,
  })
})

test('nothing secret and nothing empty leaves', async () => {
  const { authorization } = await createAccount(service, { passwordHash: 'a-hash-that-must-stay' })
  const { text } = await ask(authorization)
  expect(text).not.toContain('a-hash-that-must-stay')
  expect(text).not.toContain('null')
  expect(text).not.toMatch(/encrypted|token|banned_until|new_email/)
})

test.each([
  ['no header', undefined, '401 no_authorization'],
  ['another scheme', 'Basic abc', '401 no_authorization'],
  ['two spaces', 'Bearer  abc', '401 no_authorization'],
  ['something that is no token', 'Bearer abc', '403 bad_jwt'],
])('%s is refused', async (_, authorization, expected) => {
  const answer = await service.call('GET /user', { headers: authorization ? { authorization } : {} })
  expect(`${answer.status} ${answer.json<{ error_code: string }>().error_code}`).toBe(expected)
})

test.each([
  ['expired', { sub: randomUUID(), exp: 1 }, 403, /token is expired/],
  ['without a subject', { role: 'service_role' }, 403, /missing sub claim/],
  ['whose subject is no UUID', { sub: 'ann' }, 400, /sub claim must be a UUID/],
  ['whose session is no UUID', { sub: randomUUID(), session_id: 'x' }, 403, /session_id claim must be a UUID/],
  ['of nobody', { sub: randomUUID() }, 403, /does not exist/],
])('a token %s is refused with a reason', async (_, claims, status, reason) => {
  const answer = await ask(token(claims))
  expect(answer.status).toBe(status)
  expect(answer.json<{ msg: string }>().msg).toMatch(reason)
})

test('a banned account is told so', async () => {
  const { userId, authorization } = await createAccount(service)
  await service.app.db`update auth.users set banned_until = ${new Date(service.now().getTime() + 1000)} where id = ${userId}`
  expect((await ask(authorization)).json()).toMatchObject({ code: 403, error_code: 'user_banned', msg: 'User is banned' })
})

test('a request for another audience than the token’s is refused', async () => {
  const { authorization } = await createAccount(service)
  expect((await ask(authorization, { 'x-jwt-aud': 'elsewhere' })).json()).toMatchObject({ error_code: 'validation_failed' })
})

test('a token outlives its session, unless logging out is strict', async () => {
  for (const [at, status] of [
    [service, 200],
    [strict, 403],
  ] as const) {
    const { sessionId, authorization } = await createAccount(at)
    await at.app.db`delete from auth.sessions where id = ${sessionId}`
    expect((await at.call('GET /user', { headers: { authorization } })).status).toBe(status)
  }
})
