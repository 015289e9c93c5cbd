import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAccount, signIn, startIdentity } from '../testing.ts'

let service: Awaited<ReturnType<typeof startIdentity>>
beforeAll(async () => {
  service = await startIdentity()
})
afterAll(() => service.stop())

const logout = (authorization: string, query = '') => service.call(`POST /logout${query}`, { headers: { authorization } })

async function sessionsOf(userId: string): Promise<string[]> {
  const rows = await service.app.db<{
    id: string
  }>`select id from auth.sessions where user_id = ${userId} order by created_at, id`
  return rows.map(({ id }) => id)
}

async function threeSessions() {
  const first = await createAccount(service)
  return { first, second: await signIn(service, first.userId), third: await signIn(service, first.userId) }
}

test.each(['', '?scope=global', '?scope='])('logging out%s ends all sessions of the account', async (query) => {
  const { first } = await threeSessions()
  const answer = await logout(first.authorization, query)
  expect(answer).toMatchObject({ status: 204, text: '' })
  expect(await sessionsOf(first.userId)).toEqual([])
})

test('logging out locally ends this session alone, and its refresh tokens', async () => {
  const { first, second, third } = await threeSessions()
  await logout(second.authorization, '?scope=local')
  expect((await sessionsOf(first.userId)).toSorted()).toEqual([first.sessionId, third.sessionId].toSorted())
  const left = await service.app.db`select from auth.refresh_tokens where session_id = ${second.sessionId}`
  expect(left).toHaveLength(0)
})

test('logging the others out leaves this session', async () => {
  const { first, third } = await threeSessions()
  await logout(third.authorization, '?scope=others')
  expect(await sessionsOf(first.userId)).toEqual([third.sessionId])
})

test('another account is left alone', async () => {
  const other = await createAccount(service)
  await logout((await createAccount(service)).authorization)
  expect(await sessionsOf(other.userId)).toEqual([other.sessionId])
})

test('an unknown scope is refused, and ends nothing', async () => {
  const { userId, sessionId, authorization } = await createAccount(service)
  const answer = await logout(authorization, '?scope=everything')
  expect(answer.json()).toMatchObject({
    code: 400,
    error_code: 'validation_failed',
    msg: 'Unsupported logout scope "everything"',
  })
  expect(await sessionsOf(userId)).toEqual([sessionId])
})

test('who logged out is written down', async () => {
  const { userId, authorization } = await createAccount(service)
  await logout(authorization)
  const [entry] = await service.app.db<{ payload: Record<string, unknown> }>`
    select payload from auth.audit_log_entries where payload ->> 'actor_id' = ${userId}`
  expect(entry?.payload).toMatchObject({ action: 'logout', log_type: 'account', actor_username: `${userId}@site.test` })
})
