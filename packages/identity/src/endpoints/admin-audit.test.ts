import { afterAll, beforeAll, expect, test } from 'vitest'
import { adminAuthorization, startIdentity } from '../testing.ts'

type Entry = { id: string; payload: Record<string, unknown>; created_at: string; ip_address: string }

let service: Awaited<ReturnType<typeof startIdentity>>
beforeAll(async () => {
  service = await startIdentity()
  const people = [
    ['login', 'account', 'ann@site.test', 'Ann Smith'],
    ['logout', 'account', 'ann@site.test', 'Ann Smith'],
    ['token_refreshed', 'token', 'bob_1@site.test', null],
    ['user_modified', 'user', 'service_role', null],
    ['factor_deleted', 'factor', 'bobx1@site.test', null],
  ]
  for (const [action, type, username, name] of people) {
    service.now.advance(1)
    const payload = JSON.stringify({ action, log_type: type, actor_username: username, ...(name ? { actor_name: name } : {}) })
    await service.app.db`
      insert into auth.audit_log_entries (id, payload, created_at, ip_address)
      values (gen_random_uuid(), ${payload}::json, ${service.now()}, '192.0.2.7')`
  }
})
afterAll(() => service.stop())

const read = (query = '', role = 'service_role') =>
  service.call(`GET /admin/audit${query}`, { headers: { authorization: adminAuthorization(service, role) } })
const actions = async (query: string) => (await read(query)).json<Entry[]>().map(({ payload }) => payload.action)

test('the log is a list, newest first, with the pagination of lists', async () => {
  const answer = await read('?per_page=2')
  expect(answer.status).toBe(200)
  expect(answer.json()).toMatchObject([
    { payload: { action: 'factor_deleted' }, created_at: service.now().toISOString(), ip_address: '192.0.2.7' },
    { payload: { action: 'user_modified', actor_username: 'service_role' } },
  ])
  expect(Object.keys(answer.json<Entry[]>()[0] ?? {})).toEqual(['id', 'payload', 'created_at', 'ip_address'])
  expect(answer.headers['x-total-count']).toBe('5')
  expect(answer.headers.link).toBe('</admin/audit?page=2&per_page=2>; rel="next", </admin/audit?page=3&per_page=2>; rel="last"')
  expect(await actions('?page=3&per_page=2')).toEqual(['login'])
  expect(await actions('?page=1000000000')).toEqual([])
})

test.each([
  ['author:ann', ['logout', 'login']],
  ['author:SMITH', ['logout', 'login']],
  ['author:bob_1', ['token_refreshed']],
  ['author:%', []],
  ['action:log', ['logout', 'login']],
  ['action:LOGIN', ['login']],
  ['action:factor', ['factor_deleted']],
  ['action:nothing', []],
  ['type:token', ['token_refreshed']],
  ['type:', ['factor_deleted', 'user_modified', 'token_refreshed', 'logout', 'login']],
])('query=%s finds what it says', async (query, expected) => {
  const answer = await read(`?query=${encodeURIComponent(query)}`)
  expect(answer.json<Entry[]>().map(({ payload }) => payload.action)).toEqual(expected)
  expect(answer.headers['x-total-count']).toBe(String(expected.length))
})

test('links keep the query', async () => {
  expect((await read('?per_page=1&query=author:ann')).headers.link).toBe(
    '</admin/audit?page=2&per_page=1&query=author%3Aann>; rel="next", </admin/audit?page=2&per_page=1&query=author%3Aann>; rel="last"',
  )
})

test.each(['actor:x', 'login', ':x', 'Author:x', 'constructor:x', 'a'.repeat(1000)])('query=%s has no scope', async (query) => {
  expect((await read(`?query=${query}`)).json()).toMatchObject({
    code: 400,
    error_code: 'validation_failed',
    msg: `Invalid query scope: ${query.split(':')[0]?.slice(0, 40)}`,
  })
})

test.each(['page=0', 'page=-1', 'per_page=1001', 'per_page=x', `query=author:${'x'.repeat(256)}`])(
  '%s is refused',
  async (query) => {
    expect((await read(`?${query}`)).json()).toMatchObject({ code: 400, error_code: 'validation_failed' })
  },
)

test('it is for operators alone', async () => {
  expect((await read('', 'authenticated')).json()).toMatchObject({ error_code: 'not_admin' })
  expect((await service.call('GET /admin/audit')).status).toBe(401)
})

test('an operator’s own doings are in it', async () => {
  const headers = { authorization: adminAuthorization(service) }
  await service.call('POST /admin/users', { headers, json: { email: 'made@site.test' } })
  expect((await read('?query=action:signedup')).json()).toMatchObject([
    {
      payload: {
        action: 'user_signedup',
        log_type: 'team',
        actor_username: 'service_role',
        traits: { user_email: 'made@site.test' },
      },
    },
  ])
})

test('where the operator wants no table of it, it is in the log, and the list is empty', async () => {
  const without = await startIdentity({ AUTH_AUDIT_LOG_DISABLE_POSTGRES: 'true' })
  const headers = { authorization: adminAuthorization(without) }
  const { id } = (await without.call('POST /admin/users', { headers, json: { email: 'made@site.test' } })).json()
  await without.call(`PUT /admin/users/${id}`, { headers, json: { role: 'editor' } })
  await without.call(`DELETE /admin/users/${id}`, { headers })
  expect((await without.call('GET /admin/audit', { headers })).json()).toEqual([])
  const noted = without.lines.flatMap(({ auth_audit_event: event }) => (event ? [(event as { action: string }).action] : []))
  expect(noted).toEqual(['user_signedup', 'user_modified', 'user_deleted'])
  await without.stop()
})
