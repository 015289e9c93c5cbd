import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createAccount, signIn, startIdentity } from '../testing.ts'

type Listed = { id: string; current: boolean; [field: string]: unknown }
type Service = Awaited<ReturnType<typeof startIdentity>>

let service: Service
beforeAll(async () => {
  service = await startIdentity()
})
afterAll(() => service.stop())

async function startOwn(env: Record<string, string>) {
  const own = await startIdentity(env)
  onTestFinished(() => own.stop())
  return own
}

const list = async (authorization: string, on: Service = service) =>
  (await on.call('GET /user/sessions', { headers: { authorization } })).json<{ sessions: Listed[] }>().sessions
const idsOf = async (authorization: string, on: Service = service) => (await list(authorization, on)).map(({ id }) => id)
const end = (authorization: string, id: string, on: Service = service) =>
  on.call(`DELETE /user/sessions/${id}`, { headers: { authorization } })
const refresh = (token: string, on: Service = service, headers: Record<string, string> = {}) =>
  on.call('POST /token?grant_type=refresh_token', { headers, json: { refresh_token: token } })
const refusal = ({ status, json }: Awaited<ReturnType<typeof end>>) => {
  const { error_code: code, msg } = json<{ error_code: string; msg: string }>()
  return `${status} ${code}: ${msg}`
}
const notesBy = async (userId: string) =>
  service.app.db<{ payload: Record<string, unknown> }>`
    select payload from auth.audit_log_entries where payload ->> 'actor_id' = ${userId}`

test('a session is shown with where and how it was entered, and nothing that opens it', async () => {
  const { authorization, sessionId, refreshToken } = await createAccount(service)
  const answer = await service.call('GET /user/sessions', { headers: { authorization } })
  const now = service.now().toISOString()
  expect(answer.json()).toEqual({
    sessions: [
      {
        id: sessionId,
        created_at: now,
        updated_at: now,
        user_agent: 'a test',
        ip: '192.0.2.7',
        aal: 'aal1',
        amr: ['password'],
        current: true,
      },
    ],
  })
  expect(answer.text).not.toContain(refreshToken)
})

test('the session that was used last comes first, and tells from where', async () => {
  const first = await createAccount(service)
  service.now.advance(10)
  const second = await signIn(service, first.userId)
  expect(await idsOf(first.authorization)).toEqual([second.sessionId, first.sessionId])
  service.now.advance(10)
  const origin = { 'user-agent': 'a phone', 'x-forwarded-for': '2001:db8::9' }
  await refresh(first.refreshToken, service, origin)
  const [used, other] = await list(second.authorization)
  const now = service.now().toISOString()
  expect(used).toMatchObject({
    id: first.sessionId,
    current: false,
    user_agent: 'a phone',
    ip: '2001:db8::9',
    refreshed_at: now,
    updated_at: now,
  })
  expect(other).toMatchObject({ id: second.sessionId, current: true })
})

test('sessions of others are not shown', async () => {
  const [ann, bob] = [await createAccount(service), await createAccount(service)]
  expect(await idsOf(ann.authorization)).toEqual([ann.sessionId])
  expect(await idsOf(bob.authorization)).toEqual([bob.sessionId])
})

test('a token without a session is none of those that are shown', async () => {
  const { userId, sessionId } = await createAccount(service)
  const authorization = `Bearer ${service.app.keys.sign({ sub: userId, role: 'authenticated' })}`
  expect(await list(authorization)).toMatchObject([{ id: sessionId, current: false }])
})

test('a session of an older installation that knows little of itself is shown with what it knows', async () => {
  const { userId, authorization } = await createAccount(service)
  const id = randomUUID()
  await service.app.db`insert into auth.sessions (id, user_id) values (${id}, ${userId})`
  expect((await list(authorization))[1]).toEqual({
    id,
    created_at: '1970-01-01T00:00:00.000Z',
    updated_at: '1970-01-01T00:00:00.000Z',
    user_agent: '',
    ip: '',
    aal: 'aal1',
    amr: [],
    current: false,
  })
})

test('of very many sessions the hundred that were used last are shown', async () => {
  const { userId, authorization, sessionId } = await createAccount(service)
  const now = service.now()
  await service.app.db`
    insert into auth.sessions (id, user_id, created_at, updated_at)
    select gen_random_uuid(), ${userId}, moment, moment
    from (select ${now}::timestamptz - n * interval '1 minute' as moment from generate_series(1, 150) as n) as given`
  const sessions = await list(authorization)
  expect(sessions).toHaveLength(100)
  expect(sessions[0]).toMatchObject({ id: sessionId, current: true })
  expect(sessions[99]?.created_at).toBe(new Date(now.getTime() - 99 * 60_000).toISOString())
})

test('a session that must not be used after a moment is shown up to it', async () => {
  const first = await createAccount(service)
  const second = await signIn(service, first.userId)
  const end = new Date(service.now().getTime() + 5000)
  await service.app.db`update auth.sessions set not_after = ${end} where id = ${first.sessionId}`
  service.now.advance(5)
  expect((await list(second.authorization)).find(({ id }) => id === first.sessionId)?.not_after).toBe(end.toISOString())
  service.now.advance(1)
  expect(await idsOf(second.authorization)).toEqual([second.sessionId])
})

test('a session is shown as long as the longest that one may last', async () => {
  const own = await startOwn({ AUTH_SESSIONS_TIMEBOX: '100' })
  const first = await createAccount(own)
  own.now.advance(50)
  const second = await signIn(own, first.userId)
  await refresh(first.refreshToken, own)
  own.now.advance(50)
  expect(await idsOf(second.authorization, own)).toHaveLength(2)
  own.now.advance(1)
  expect(await idsOf(second.authorization, own)).toEqual([second.sessionId])
})

test('a session that nobody has used for too long is not shown', async () => {
  const own = await startOwn({ AUTH_SESSIONS_INACTIVITY_TIMEOUT: '100' })
  const first = await createAccount(own)
  const second = await signIn(own, first.userId)
  own.now.advance(90)
  await refresh(first.refreshToken, own)
  own.now.advance(20)
  expect(await idsOf(second.authorization, own)).toEqual([first.sessionId])
})

test('where the newest session ends the others, it alone is shown', async () => {
  const own = await startOwn({ AUTH_SESSIONS_SINGLE_PER_USER: 'true' })
  const first = await createAccount(own)
  own.now.advance(1)
  const second = await signIn(own, first.userId)
  expect(await idsOf(first.authorization, own)).toEqual([second.sessionId])
  expect((await refresh(first.refreshToken, own)).json().error_code).toBe('session_expired')
})

test('a session is ended with its refresh token, and the others go on', async () => {
  const here = await createAccount(service)
  const there = await signIn(service, here.userId)
  expect(await end(here.authorization, there.sessionId.toUpperCase())).toMatchObject({ status: 204, text: '' })
  expect(await idsOf(here.authorization)).toEqual([here.sessionId])
  expect((await refresh(there.refreshToken)).json().error_code).toBe('refresh_token_not_found')
  expect((await refresh(here.refreshToken)).status).toBe(200)
})

test('who ended which session is written down', async () => {
  const here = await createAccount(service)
  const there = await signIn(service, here.userId)
  await end(here.authorization, there.sessionId.toUpperCase())
  const notes = await notesBy(here.userId)
  expect(notes.map(({ payload }) => payload)).toMatchObject([
    { action: 'logout', log_type: 'account', traits: { session_id: there.sessionId } },
  ])
})

test('somebody else’s session is answered like one that is not there, and goes on', async () => {
  const [ann, bob] = [await createAccount(service), await createAccount(service)]
  const answers = [await end(ann.authorization, bob.sessionId), await end(ann.authorization, randomUUID())]
  for (const answer of answers) expect(refusal(answer)).toBe('404 session_not_found: No session of yours has this id')
  expect(await idsOf(bob.authorization)).toEqual([bob.sessionId])
  expect(await notesBy(ann.userId)).toHaveLength(0)
})

test.each(['1', 'all', `${randomUUID()}0`, '%27or%201=1', 'a'.repeat(3000)])(
  'an id such as %.20s is refused, and ends nothing',
  async (id) => {
    const { authorization, sessionId } = await createAccount(service)
    expect(refusal(await end(authorization, id))).toBe('404 validation_failed: session_id must be an UUID')
    expect(await idsOf(authorization)).toEqual([sessionId])
  },
)

test('of many who end a session at once exactly one does', async () => {
  const here = await createAccount(service)
  const there = await signIn(service, here.userId)
  const answers = await Promise.all(Array.from({ length: 8 }, () => end(here.authorization, there.sessionId)))
  expect(answers.map(({ status }) => status).toSorted()).toEqual([204, ...new Array(7).fill(404)])
  expect(await notesBy(here.userId)).toHaveLength(1)
})

test('a session that is ended while it is refreshed is over in the end', async () => {
  const here = await createAccount(service)
  const there = await signIn(service, here.userId)
  const [ended, refreshed] = await Promise.all([end(here.authorization, there.sessionId), refresh(there.refreshToken)])
  expect(ended.status).toBe(204)
  expect([200, 400]).toContain(refreshed.status)
  const left = await service.app.db`select from auth.refresh_tokens where session_id = ${there.sessionId}`
  expect(left).toHaveLength(0)
})

test('two people who end each other’s session on the same account at once are both answered', async () => {
  const one = await createAccount(service)
  const other = await signIn(service, one.userId)
  const answers = await Promise.all([end(one.authorization, other.sessionId), end(other.authorization, one.sessionId)])
  expect(answers.map(({ status }) => status)).toEqual([204, 204])
})

test('the access token of an ended session stays valid until it expires', async () => {
  const here = await createAccount(service)
  const there = await signIn(service, here.userId)
  await end(here.authorization, there.sessionId)
  expect(await list(there.authorization)).toMatchObject([{ id: here.sessionId, current: false }])
})

test('where logging out is strict, an ended session is out at once, one’s own included', async () => {
  const own = await startOwn({ AUTH_SECURITY_STRICT_LOGOUT: 'true' })
  const here = await createAccount(own)
  const there = await signIn(own, here.userId)
  await end(here.authorization, there.sessionId, own)
  expect(refusal(await end(there.authorization, here.sessionId, own))).toBe(
    '403 session_not_found: Session from session_id claim in JWT does not exist',
  )
  expect((await end(here.authorization, here.sessionId, own)).status).toBe(204)
  expect((await own.call('GET /user/sessions', { headers: { authorization: here.authorization } })).status).toBe(403)
})

test.each(['GET /user/sessions', `DELETE /user/sessions/${randomUUID()}`])('%s asks who is calling', async (what) => {
  expect((await service.call(what)).status).toBe(401)
})
