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

const update = (authorization: string, json: object, at = service) => at.call('PUT /user', { headers: { authorization }, json })

const dataOf = async (authorization: string) => (await ask(authorization)).json().user_metadata

test('data is merged key by key, and null takes a key away', async () => {
  const { userId, authorization } = await createAccount(service, {
    userMetadata: { nick: 'ann', home: { city: 'Rome' }, old: 1 },
  })
  service.now.advance(1)
  const answer = await update(authorization, { data: { home: { land: 'Italy' }, old: null, age: 7 } })
  expect(answer.json()).toMatchObject({
    id: userId,
    user_metadata: { nick: 'ann', home: { land: 'Italy' }, age: 7 },
    updated_at: service.now().toISOString(),
  })
  expect(await dataOf(authorization)).toEqual({ nick: 'ann', home: { land: 'Italy' }, age: 7 })
  const audits = await service.app.db<{ action: string }>`
    select payload ->> 'action' as action from auth.audit_log_entries where payload ->> 'actor_id' = ${userId}`
  expect(audits).toEqual([{ action: 'user_modified' }])
})

test('twenty updates at once all count', async () => {
  const { authorization } = await createAccount(service)
  const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => update(authorization, { data: { [`key${n}`]: n } })))
  expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200))
  expect(Object.keys((await dataOf(authorization)) as object)).toHaveLength(20)
})

test('an update that wishes for nothing changes nothing', async () => {
  const { userId, authorization } = await createAccount(service, { userMetadata: { nick: 'ann' } })
  const answer = await update(authorization, { email: '', phone: '', password: null, data: null, nonce: 'x', unknown: 1 })
  expect(answer.json()).toMatchObject({ id: userId, email: `${userId}@site.test`, user_metadata: { nick: 'ann' } })
})

test('data that grows beyond what an account may hold is refused', async () => {
  const { authorization } = await createAccount(service, { userMetadata: { nick: 'ann' } })
  const half = 'x'.repeat(600_000)
  expect((await update(authorization, { data: { one: half } })).status).toBe(200)
  expect((await update(authorization, { data: { two: half } })).json()).toMatchObject({
    code: 400,
    error_code: 'validation_failed',
    msg: 'data: user_metadata can hold at most 1048576 bytes',
  })
  expect((await update(authorization, { data: { one: null } })).status).toBe(200)
  expect(await dataOf(authorization)).toEqual({ nick: 'ann' })
})

test('data that is too large already can shrink, but not grow', async () => {
  const { authorization } = await createAccount(service, { userMetadata: { one: 'x'.repeat(1_100_000), two: 2, three: 3 } })
  expect((await update(authorization, { data: { four: 4 } })).status).toBe(400)
  expect((await update(authorization, { data: { two: null } })).status).toBe(200)
})

test('ten updates at once do not make an account larger than it may be', async () => {
  const { authorization } = await createAccount(service)
  const third = 'x'.repeat(300_000)
  const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => update(authorization, { data: { [`key${n}`]: third } })))
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(3)
  expect(Object.keys((await dataOf(authorization)) as object)).toHaveLength(3)
})

test('app_metadata is changed by the admin role alone', async () => {
  const plain = await createAccount(service)
  expect((await update(plain.authorization, { app_metadata: { plan: 'gold' }, data: { nick: 'eve' } })).json()).toMatchObject({
    code: 403,
    error_code: 'not_admin',
    msg: 'Updating app_metadata requires admin privileges',
  })
  expect(await dataOf(plain.authorization)).toEqual({})
  const roleless = await createAccount(service, { role: '' })
  expect((await update(roleless.authorization, { app_metadata: {} })).status).toBe(403)
  const admin = await createAccount(service, { role: 'admin', appMetadata: { provider: 'email', plan: 'tin' } })
  expect((await update(admin.authorization, { app_metadata: { plan: 'gold', provider: null } })).json()).toMatchObject({
    app_metadata: { plan: 'gold' },
  })
})

test.each([{ email: 'new@site.test' }, { phone: '4520304050' }, { password: 'the new password' }, { nonce: '123456' }])(
  'somebody of single sign-on changes %j there and not here',
  async (wish) => {
    const { userId, authorization } = await createAccount(service)
    await service.app.db`update auth.users set is_sso_user = true where id = ${userId}`
    expect((await update(authorization, wish)).json()).toMatchObject({ code: 422, error_code: 'user_sso_managed' })
    expect((await update(authorization, { data: { nick: 'ann' }, email: `${userId}@site.test` })).status).toBe(200)
  },
)

test('an account that was deleted does not change any more', async () => {
  const { userId, authorization } = await createAccount(service)
  await service.app.db`update auth.users set deleted_at = now() where id = ${userId}`
  expect((await update(authorization, { data: { nick: 'ann' } })).json()).toMatchObject({
    code: 403,
    error_code: 'user_not_found',
  })
})

test.each([
  ['a body that is no object', '[]', 'bad_json'],
  ['an address that is no text', '{"email":5}', 'bad_json'],
  ['data that is no object', '{"data":"x"}', 'bad_json'],
])('%s is refused', async (_, raw, error) => {
  const { authorization } = await createAccount(service)
  const headers = { authorization, 'content-type': 'application/json' }
  expect((await service.call('PUT /user', { headers, raw })).json()).toMatchObject({ code: 400, error_code: error })
})

test('a caller who updates too often is refused', async () => {
  const limited = await startIdentity({ AUTH_RATE_LIMIT_HEADER: 'x-caller', AUTH_RATE_LIMIT_OTP: '2' })
  const { authorization } = await createAccount(limited)
  const statuses: number[] = []
  for (let n = 0; n < 40; n++)
    statuses.push((await limited.call('PUT /user', { headers: { authorization, 'x-caller': 'a' }, json: {} })).status)
  expect(statuses[0]).toBe(200)
  expect(statuses.at(-1)).toBe(429)
  expect((await limited.call('PUT /user', { headers: { authorization, 'x-caller': 'b' }, json: {} })).status).toBe(200)
  await limited.stop()
})

test('nobody updates without a token', async () => {
  expect((await service.call('PUT /user', { json: {} })).status).toBe(401)
})
