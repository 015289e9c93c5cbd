import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { adminAuthorization, createAccount, signIn, startIdentity } from '../testing.ts'

type Service = Awaited<ReturnType<typeof startIdentity>>

let service: Service
beforeAll(async () => {
  service = await startIdentity()
})
afterAll(() => service.stop())

const call = (what: string, authorization = adminAuthorization(service)) => service.call(what, { headers: { authorization } })
const pathOf = (userId: string) => `/admin/users/${userId}/sessions`
const list = async (userId: string) =>
  (await call(`GET ${pathOf(userId)}`)).json<{ sessions: Record<string, unknown>[] }>().sessions
const idsOf = async (userId: string) => (await list(userId)).map(({ id }) => id)
const refusal = ({ status, json }: Awaited<ReturnType<typeof call>>) => {
  const { error_code: code, msg } = json<{ error_code: string; msg: string }>()
  return `${status} ${code}: ${msg}`
}
const notesOn = async (userId: string) => {
  const found = await service.app.db<{ payload: Record<string, unknown> }>`
    select payload from auth.audit_log_entries where payload -> 'traits' ->> 'user_id' = ${userId} order by created_at`
  return found.map(({ payload }) => payload)
}

test('the sessions of somebody are shown, the one that was used last first', async () => {
  const first = await createAccount(service)
  service.now.advance(1)
  const second = await signIn(service, first.userId)
  const answer = await call(`GET ${pathOf(first.userId.toUpperCase())}`)
  const now = service.now().toISOString()
  expect(answer.json<{ sessions: unknown[] }>().sessions).toEqual([
    {
      id: second.sessionId,
      created_at: now,
      updated_at: now,
      user_agent: 'a test',
      ip: '192.0.2.7',
      aal: 'aal1',
      amr: ['password'],
    },
    expect.objectContaining({ id: first.sessionId }),
  ])
  for (const { refreshToken } of [first, second]) expect(answer.text).not.toContain(refreshToken)
})

test('sessions past their time are not shown', async () => {
  const { userId, sessionId } = await createAccount(service)
  await service.app.db`update auth.sessions set not_after = ${service.now()} where id = ${sessionId}`
  service.now.advance(1)
  expect(await list(userId)).toEqual([])
})

test('somebody who is signed in nowhere has no sessions', async () => {
  const { userId } = await createAccount(service)
  await service.app.db`delete from auth.sessions where user_id = ${userId}`
  const answer = await call(`GET ${pathOf(userId)}`)
  expect([answer.status, answer.json()]).toEqual([200, { sessions: [] }])
})

test('one session is ended, and who did it is written down', async () => {
  const first = await createAccount(service)
  const second = await signIn(service, first.userId)
  const answer = await call(`DELETE ${pathOf(first.userId)}/${first.sessionId.toUpperCase()}`)
  expect(answer).toMatchObject({ status: 204, text: '' })
  expect(await idsOf(first.userId)).toEqual([second.sessionId])
  expect(await notesOn(first.userId)).toEqual([
    {
      actor_id: '00000000-0000-0000-0000-000000000000',
      actor_via_sso: false,
      actor_username: 'service_role',
      action: 'logout',
      log_type: 'account',
      traits: {
        user_id: first.userId,
        user_email: `${first.userId}@site.test`,
        user_phone: '',
        session_id: first.sessionId,
      },
    },
  ])
})

test('somebody is signed out everywhere, and nobody else is', async () => {
  const first = await createAccount(service)
  const second = await signIn(service, first.userId)
  const other = await createAccount(service)
  expect(await call(`DELETE ${pathOf(first.userId)}`)).toMatchObject({ status: 204, text: '' })
  expect([await idsOf(first.userId), await idsOf(other.userId)]).toEqual([[], [other.sessionId]])
  for (const { refreshToken } of [first, second]) {
    const refreshed = await service.call('POST /token?grant_type=refresh_token', { json: { refresh_token: refreshToken } })
    expect(refreshed.json().error_code).toBe('refresh_token_not_found')
  }
  expect(await notesOn(first.userId)).toMatchObject([{ action: 'logout', actor_username: 'service_role' }])
  expect((await notesOn(first.userId))[0]?.traits).not.toHaveProperty('session_id')
})

test('to sign out somebody who is signed in nowhere is fine', async () => {
  const { userId } = await createAccount(service)
  for (const _ of [1, 2]) expect((await call(`DELETE ${pathOf(userId)}`)).status).toBe(204)
})

test('an administrator who is a person goes by their own name', async () => {
  const chief = await createAccount(service, { role: 'service_role' })
  const { userId } = await createAccount(service)
  await call(`DELETE ${pathOf(userId)}`, chief.authorization)
  expect(await notesOn(userId)).toMatchObject([{ actor_id: chief.userId, actor_username: `${chief.userId}@site.test` }])
})

test('a session of somebody else is not ended by the path of another', async () => {
  const [ann, bob] = [await createAccount(service), await createAccount(service)]
  for (const id of [bob.sessionId, randomUUID()])
    expect(refusal(await call(`DELETE ${pathOf(ann.userId)}/${id}`))).toBe(
      '404 session_not_found: This user has no session with this id',
    )
  expect(await idsOf(bob.userId)).toEqual([bob.sessionId])
  expect(await notesOn(ann.userId)).toEqual([])
})

test.each(['GET', 'DELETE'])('%s of an id that is none, or nobody’s, is a 404', async (method) => {
  expect(refusal(await call(`${method} ${pathOf('ann')}`))).toBe('404 validation_failed: user_id must be an UUID')
  expect(refusal(await call(`${method} ${pathOf(randomUUID())}`))).toBe('404 user_not_found: User not found')
})

test('a session is ended by ids alone', async () => {
  const { userId, sessionId } = await createAccount(service)
  const refused = async (user: string, session: string) => refusal(await call(`DELETE ${pathOf(user)}/${session}`))
  expect(await refused('ann', sessionId)).toBe('404 validation_failed: user_id must be an UUID')
  expect(await refused(userId, 'all')).toBe('404 validation_failed: session_id must be an UUID')
  expect(await refused(randomUUID(), sessionId)).toBe('404 user_not_found: User not found')
  expect(await idsOf(userId)).toEqual([sessionId])
})

test('of many who end a session at once exactly one does', async () => {
  const { userId, sessionId } = await createAccount(service)
  const answers = await Promise.all(Array.from({ length: 8 }, () => call(`DELETE ${pathOf(userId)}/${sessionId}`)))
  expect(answers.map(({ status }) => status).toSorted()).toEqual([204, ...new Array(7).fill(404)])
  expect(await notesOn(userId)).toHaveLength(1)
})

test('where logging out is strict, whoever is signed out is out at once', async () => {
  const own = await startIdentity({ AUTH_SECURITY_STRICT_LOGOUT: 'true' })
  onTestFinished(() => own.stop())
  const { userId, authorization } = await createAccount(own)
  await own.call(`DELETE ${pathOf(userId)}`, { headers: { authorization: adminAuthorization(own) } })
  expect(refusal(await own.call('GET /user', { headers: { authorization } }))).toMatch(/^403 session_not_found: /)
})

test.each(['GET', 'DELETE'])('%s is for administrators', async (method) => {
  const { userId, authorization, sessionId } = await createAccount(service)
  expect(refusal(await call(`${method} ${pathOf(userId)}`, authorization))).toBe('403 not_admin: User not allowed')
  expect((await call(`DELETE ${pathOf(userId)}/${sessionId}`, authorization)).status).toBe(403)
  expect(await idsOf(userId)).toEqual([sessionId])
})
