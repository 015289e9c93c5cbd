import { Failure } from '@tollgate/kit/failure'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hashToken } from '../rules/refresh-token.ts'
import { createAccount, signIn, startIdentity } from '../testing.ts'
import { type Refreshed, refreshSession } from './refresh-session.ts'

type Service = Awaited<ReturnType<typeof startIdentity>>
let service: Service
let strict: Service

beforeAll(async () => {
  service = await startIdentity()
  strict = await startIdentity({ AUTH_SESSIONS_TIMEBOX: '1h', AUTH_SESSIONS_INACTIVITY_TIMEOUT: '10m' })
})
afterAll(() => Promise.all([service.stop(), strict.stop()]))

const origin = { userAgent: 'a test', address: '192.0.2.7' }

const begin = (at: Service = service) => createAccount(at)

const refresh = (token: string, { app }: Service = service): Promise<Refreshed> => refreshSession(app, token, origin)

/** The code of the refusal that a token meets. */
async function refusal(token: string, at: Service = service): Promise<string> {
  const outcome = await refresh(token, at).catch((problem: unknown) => problem)
  if (!(outcome instanceof Failure)) throw new Error('It was not refused')
  return `${outcome.status} ${outcome.code}`
}

test('a token is exchanged for another one of the same session', async () => {
  const { userId, sessionId, refreshToken } = await begin()
  const refreshed = await refresh(refreshToken)
  expect(refreshed.session).toMatchObject({ id: userId, sessionId, methods: [{ method: 'password' }] })
  expect(refreshed.refreshToken).not.toBe(refreshToken)
  expect((await refresh(refreshed.refreshToken)).session.sessionId).toBe(sessionId)
})

test('no token stands in the database as its holder knows it', async () => {
  const { sessionId, refreshToken } = await begin()
  const child = await refresh(refreshToken)
  const rows = await service.app.db<{ token: string }>`select token from auth.refresh_tokens where session_id = ${sessionId}`
  expect(rows).toHaveLength(2)
  for (const { token } of rows) expect([refreshToken, child.refreshToken]).not.toContain(token)
})

test('fifty presentations of one token at once end in the same child', async () => {
  const { sessionId, refreshToken } = await begin()
  const outcomes = await Promise.all(Array.from({ length: 50 }, () => refresh(refreshToken)))
  expect(new Set(outcomes.map((each) => each.refreshToken)).size).toBe(1)
  const [{ count } = { count: 0 }] = await service.app.db<{ count: number }>`
    select count(*) from auth.refresh_tokens where session_id = ${sessionId}`
  expect(count).toBe(2)
})

test('the previous token gives the same child again within the interval, and is an attack after it', async () => {
  const { refreshToken } = await begin()
  const child = await refresh(refreshToken)
  service.now.advance(9)
  expect((await refresh(refreshToken)).refreshToken).toBe(child.refreshToken)
  service.now.advance(2)
  expect(await refusal(refreshToken)).toBe('400 refresh_token_already_used')
  expect(await refusal(child.refreshToken)).toBe('400 refresh_token_already_used')
})

test('a token older than the previous one is an attack at once, and the whole line ends', async () => {
  const { refreshToken } = await begin()
  const child = await refresh(refreshToken)
  const grandchild = await refresh(child.refreshToken)
  expect(await refusal(refreshToken)).toBe('400 refresh_token_already_used')
  expect(await refusal(grandchild.refreshToken)).toBe('400 refresh_token_already_used')
})

test('an attack while the newest token is being exchanged leaves no valid token behind, whoever is first', async () => {
  for (let round = 0; round < 20; round++) {
    const { sessionId, refreshToken } = await begin()
    const child = await refresh(refreshToken)
    const grandchild = await refresh(child.refreshToken)
    await Promise.allSettled([
      refresh(grandchild.refreshToken),
      refresh(refreshToken),
      refresh(grandchild.refreshToken),
      refresh(refreshToken),
    ])
    const valid = await service.app.db`select from auth.refresh_tokens where session_id = ${sessionId} and not revoked`
    expect(valid).toHaveLength(0)
  }
})

test('an attack on one session leaves the others of the account alone', async () => {
  const { userId, refreshToken } = await begin()
  const other = await signIn(service, userId)
  const child = await refresh(refreshToken)
  await refresh(child.refreshToken)
  await refusal(refreshToken)
  expect((await refresh(other.refreshToken)).session.sessionId).toBe(other.sessionId)
})

test('an unknown token is not found', async () => {
  expect(await refusal('x'.repeat(32))).toBe('400 refresh_token_not_found')
})

test('a banned account is told so, and may go on when the ban is over', async () => {
  const { userId, refreshToken } = await begin()
  const until = new Date(service.now().getTime() + 60_000)
  await service.app.db`update auth.users set banned_until = ${until} where id = ${userId}`
  expect(await refusal(refreshToken)).toBe('400 user_banned')
  service.now.advance(61)
  expect((await refresh(refreshToken)).session.id).toBe(userId)
})

test('a session ends after its time, however often it is refreshed', async () => {
  let { refreshToken } = await begin(strict)
  for (let minutes = 0; minutes < 55; minutes += 5) {
    strict.now.advance(300)
    refreshToken = (await refresh(refreshToken, strict)).refreshToken
  }
  strict.now.advance(301)
  expect(await refusal(refreshToken, strict)).toBe('400 session_expired')
})

test('a session that is not refreshed ends by itself', async () => {
  const { refreshToken } = await begin(strict)
  strict.now.advance(601)
  expect(await refusal(refreshToken, strict)).toBe('400 session_expired')
})

test('a session that is gone takes its tokens along', async () => {
  const { sessionId, refreshToken } = await begin()
  await service.app.db`delete from auth.sessions where id = ${sessionId}`
  expect(await refusal(refreshToken)).toBe('400 refresh_token_not_found')
})

test('a token that was exchanged elsewhere, for a child that we do not know, is never answered with one that does not exist', async () => {
  const lenient = await startIdentity({ AUTH_SECURITY_REFRESH_TOKEN_ROTATION_ENABLED: 'false' })
  const { sessionId, userId, refreshToken } = await createAccount(lenient)
  const now = lenient.now()
  const parent = hashToken(refreshToken)
  await lenient.app.db`update auth.refresh_tokens set revoked = true where token = ${parent}`
  await lenient.app.db`
    insert into auth.refresh_tokens (token, user_id, session_id, parent, created_at, updated_at)
    values (${hashToken('elsewhere222')}, ${userId}, ${sessionId}, ${parent}, ${now}, ${now})`
  expect(await refusal(refreshToken, lenient)).toBe('400 refresh_token_already_used')
  expect((await refresh('elsewhere222', lenient)).session.sessionId).toBe(sessionId)
  await lenient.stop()
})
