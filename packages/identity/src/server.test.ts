import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { anyone } from '@tollgate/kit/endpoint'
import { Unavailable } from '@tollgate/kit/failure'
import { say, testService } from '@tollgate/kit/testing'
import Type from 'typebox'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { endpoint } from './app.ts'
import { identity } from './main.ts'
import { adminAuthorization, createAccount, requiredSettings } from './testing.ts'

const reply = { 200: Type.Object({ name: Type.String() }) }
const about = { tag: 'Test', summary: 'For the test', caller: anyone, reply, fails: [] }
const body = Type.Object({ name: Type.String(), colour: Type.Optional(Type.String()) })
const endpoints = [
  ...identity.endpoints,
  endpoint({ ...about, method: 'POST', path: '/test/names', body, run: (_, given) => ({ name: given.body.name }) }),
  endpoint({ ...about, method: 'GET', path: '/test/bug', run: () => Promise.reject(new Error('the password is swordfish')) }),
  endpoint({ ...about, method: 'GET', path: '/test/outage', run: () => Promise.reject(new Unavailable('gone')) }),
]

let service: Awaited<ReturnType<typeof start>>
const start = (env = {}) => testService({ ...identity, endpoints }, { ...requiredSettings, ...env })
beforeAll(async () => {
  service = await start()
})
afterAll(() => service.stop())

const tooLarge = `{"name":"${'x'.repeat(1_100_000)}"}`

test.each([
  ['GET /nowhere', '', 404, 'not_found', 'No endpoint answers this path; /docs lists those that exist'],
  ['PATCH /settings', '', 405, 'method_not_allowed', expect.stringContaining('Allow')],
  ['POST /test/names', '{"name"', 400, 'bad_json', expect.stringMatching(/^Could not parse request body as JSON: /)],
  ['POST /test/names', '', 400, 'bad_json', 'Could not parse request body as JSON: unexpected end of JSON input'],
  ['POST /test/names', '{"name":7}', 400, 'bad_json', expect.stringMatching(/^Could not parse request body as JSON: name: /)],
  ['POST /test/names', '{"name":"a"} x', 400, 'bad_json', expect.any(String)],
  ['POST /test/names', '{}', 400, 'validation_failed', expect.stringContaining('name')],
  ['POST /test/names', tooLarge, 413, 'request_entity_too_large', expect.any(String)],
  ['GET /test/outage', '', 503, 'unavailable', expect.any(String)],
  ['GET /test/bug', '', 500, 'unexpected_failure', 'Unexpected failure, please check server logs for more information'],
])('%s with %.12s is refused in both forms: %i %s', async (what, raw, status, code, message) => {
  const sent = what.startsWith('POST') ? { raw } : {}
  const old = await service.call(what, sent)
  const id = old.headers['x-request-id']
  expect(old.json()).toEqual({ code: status, error_code: code, msg: message, ...(status >= 500 ? { error_id: id } : {}) })
  expect(old.headers).not.toHaveProperty('x-supabase-api-version')

  const recent = await service.call(what, { ...sent, headers: { 'X-Supabase-Api-Version': '2024-01-01' } })
  expect(recent.json()).toEqual({ code, message })
  expect(recent.headers['x-supabase-api-version']).toBe('2024-01-01')

  for (const answer of [old, recent]) {
    expect(answer.status).toBe(status)
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json',
      'x-sb-error-code': code,
      'x-request-id': expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      'referrer-policy': 'no-referrer',
      'strict-transport-security': 'max-age=31536000; includeSubDomains',
      'x-content-type-options': 'nosniff',
    })
  }
})

test.each([
  ['2024-01-01', true],
  ['2031-12-31', true],
  ['2023-12-31', false],
  ['2024-02-31', false],
  ['2024-1-1', false],
  ['20240101', false],
  ['2024-01-01T00:00:00Z', false],
  ['latest', false],
  ['2024-01-01, 2024-01-01', false],
  ['', false],
])('the version %s asks for the newer form: %s', async (version, newer) => {
  const answer = await service.call('GET /nowhere', { headers: { 'x-supabase-api-version': version } })
  expect(typeof answer.json().code).toBe(newer ? 'string' : 'number')
})

test('what went wrong inside stays inside', async () => {
  const { text, headers } = await service.call('GET /test/bug')
  expect(text).not.toContain('swordfish')
  expect(service.lines).toContainEqual(
    expect.objectContaining({
      request_id: headers['x-request-id'],
      error: expect.objectContaining({ message: 'the password is swordfish' }),
    }),
  )
})

test('bodies are JSON whatever their type says, names match in any case, and what nobody asked for is passed over', async () => {
  const headers = { 'content-type': 'text/plain' }
  const answer = await service.call('POST /test/names', { headers, raw: '{"NAME":"Ada","other":1,"Colour":null}' })
  expect([answer.status, answer.text]).toEqual([200, '{"name":"Ada"}'])
})

test('bytes that are not HTTP are refused in the form of every other refusal', async () => {
  const heard = await say(service.origin, 'nonsense\r\n\r\n')
  const [head = '', content = ''] = heard.split('\r\n\r\n')
  expect(head).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/)
  expect(head).toMatch(/\r\nx-request-id: [0-9a-f-]{36}\r\n/)
  expect(head).toContain('\r\nx-content-type-options: nosniff')
  expect(JSON.parse(content)).toMatchObject({ code: 400, error_code: 'bad_request' })
})

test('pages of any origin may call, with the headers that clients send and those that are configured', async () => {
  const own = await start({ AUTH_CORS_ALLOWED_HEADERS: 'X-Own,X-Other' })
  const headers = { origin: 'https://page.test', 'access-control-request-method': 'POST' }
  const preflight = await own.call('OPTIONS /settings', { headers })
  await own.stop()
  expect(preflight).toMatchObject({
    status: 204,
    headers: {
      'access-control-allow-origin': 'https://page.test',
      'access-control-allow-credentials': 'true',
      'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
    },
  })
  for (const name of ['Authorization', 'Content-Type', 'apikey', 'X-Client-Info', 'X-Supabase-Api-Version', 'X-Own', 'X-Other'])
    expect(String(preflight.headers['access-control-allow-headers']).split(', ')).toContain(name)
})

test('under the strict profile no page may have sent along what a browser keeps', async () => {
  const own = await start({ AUTH_SECURITY_PROFILE: 'strict' })
  const headers = { origin: 'https://page.test', 'access-control-request-method': 'POST' }
  const answers = [await own.call('OPTIONS /settings', { headers }), await own.call('GET /settings', { headers })]
  await own.stop()
  for (const answer of answers) {
    expect(answer.headers['access-control-allow-origin']).toBe('https://page.test')
    expect(answer.headers).not.toHaveProperty('access-control-allow-credentials')
  }
})

test('the id of a request is inherited from the header that is configured', async () => {
  const own = await start({ AUTH_REQUEST_ID_HEADER: 'X-Amzn-Trace-Id' })
  const { headers } = await own.call('GET /settings', { headers: { 'x-amzn-trace-id': 'Root=1-67891233-abcdef' } })
  await own.stop()
  expect(headers['x-request-id']).toBe('Root=1-67891233-abcdef')
})

/** What operators add to our tables: a trigger that refuses people with the code that they ask for, and a constraint. */
async function startWithTrigger(env = {}) {
  const own = await start({ AUTH_MAILER_AUTOCONFIRM: 'true', ...env })
  await own.app.db`
    create function public.refuse() returns trigger language plpgsql as $$
    begin
      if new.raw_user_meta_data ? 'refuse' then
        raise exception using errcode = new.raw_user_meta_data ->> 'refuse', message = 'only staff may join', hint = 'Ask Ann';
      end if;
      return new;
    end $$`
  await own.app.db`create trigger refuse before insert or update on auth.users for each row execute function public.refuse()`
  await own.app.db`
    alter table auth.users add constraint club_is_closed check (coalesce(raw_user_meta_data ->> 'club', '') <> 'closed')`
  onTestFinished(() => own.stop())
  const account = await createAccount(own)
  const authorization = adminAuthorization(own)
  const fresh = () => ({ email: `${randomUUID()}@site.test`, password: 'correct horse battery' })
  const ways = {
    'POST /signup': (data: object, headers: Record<string, string> = {}) =>
      own.call('POST /signup', { headers, json: { ...fresh(), data } }),
    'POST /admin/users': (data: object, headers: Record<string, string> = {}) =>
      own.call('POST /admin/users', { headers: { authorization, ...headers }, json: { ...fresh(), user_metadata: data } }),
    'PUT /user': (data: object, headers: Record<string, string> = {}) =>
      own.call('PUT /user', { headers: { authorization: account.authorization, ...headers }, json: { data } }),
  }
  return { own, ways, authorization, fresh }
}

const newer = { 'x-supabase-api-version': '2024-01-01' }

test.each(['POST /signup', 'POST /admin/users', 'PUT /user'] as const)(
  '%s tells what a trigger of the operator says, in both forms, and logs it',
  async (way) => {
    const { own, ways } = await startWithTrigger()
    const old = await ways[way]({ refuse: 'P0001' })
    expect(old.status).toBe(500)
    expect(old.json()).toEqual({ code: 'P0001', message: 'only staff may join', hint: 'Ask Ann' })
    expect(old.headers['x-sb-error-code']).toBe('unexpected_failure')
    expect(old.headers).not.toHaveProperty('x-supabase-api-version')
    expect(own.lines).toContainEqual(
      expect.objectContaining({
        level: 'error',
        message: 'request failed',
        request_id: old.headers['x-request-id'],
        error: expect.objectContaining({ code: 'P0001', message: 'only staff may join' }),
      }),
    )

    const recent = await ways[way]({ refuse: 'P0001' }, newer)
    expect([recent.status, recent.json()]).toEqual([
      500,
      { code: 'unexpected_failure', message: 'Database error: only staff may join' },
    ])
    expect(recent.headers).toMatchObject({ 'x-sb-error-code': 'unexpected_failure', 'x-supabase-api-version': '2024-01-01' })
    expect((await ways[way]({ club: 'open' })).status).toBe(200)
  },
)

test('a trigger chooses the status with PT and three digits, in both forms', async () => {
  const { ways } = await startWithTrigger()
  const answers = [await ways['POST /signup']({ refuse: 'PT403' }), await ways['POST /signup']({ refuse: 'PT403' }, newer)]
  expect(answers.map(({ status }) => status)).toEqual([403, 403])
  expect(answers.map(({ json }) => json())).toEqual([
    { code: 'PT403', message: 'only staff may join', hint: 'Ask Ann' },
    { code: 'unexpected_failure', message: 'Database error: only staff may join' },
  ])
  expect((await ways['POST /signup']({ refuse: 'PT200' })).status).toBe(500)
})

test('what a trigger raises with a code of its own stays inside', async () => {
  const { ways } = await startWithTrigger()
  const answer = await ways['POST /signup']({ refuse: '42501' })
  expect([answer.status, answer.json().error_code]).toEqual([500, 'unexpected_failure'])
  expect(answer.text).not.toContain('staff')
})

test('a constraint of the operator is named to whoever administers, and described to everybody else', async () => {
  const { own, ways, authorization } = await startWithTrigger()
  const named = expect.stringContaining('violates check constraint "club_is_closed"')
  const closed = { club: 'closed' }
  const plain = { code: '23514', message: 'A value is not allowed' }
  for (const way of ['POST /signup', 'PUT /user'] as const) {
    const old = await ways[way](closed)
    expect([old.status, old.json()]).toEqual([500, plain])
    const recent = await ways[way](closed, newer)
    expect(recent.json()).toEqual({
      code: 'unexpected_failure',
      message: 'Database error: A value is not allowed (SQLSTATE 23514)',
    })
  }
  expect((await ways['POST /admin/users'](closed)).json()).toEqual({ code: '23514', message: named })
  expect((await ways['POST /admin/users'](closed, newer)).json()).toEqual({ code: 'unexpected_failure', message: named })
  // Where nobody has to be an admin, a token that says so counts, and one that anybody could have made does not.
  expect((await ways['POST /signup'](closed, { authorization })).json()).toEqual({ code: '23514', message: named })
  expect((await ways['POST /signup'](closed, { authorization: `${authorization}x` })).json()).toEqual(plain)
  expect(own.lines.filter(({ message }) => message === 'request failed')).toHaveLength(8)
})

test('what is refused at the very end of a transaction is told, too', async () => {
  const { own, ways } = await startWithTrigger()
  await own.app.db`
    create function public.refuse_late() returns trigger language plpgsql as $$
    begin
      raise exception 'not on Sundays';
    end $$`
  await own.app.db`
    create constraint trigger late after insert on auth.users deferrable initially deferred
    for each row execute function public.refuse_late()`
  for (const way of ['POST /signup', 'POST /admin/users'] as const)
    expect((await ways[way]({})).json()).toEqual({ code: 'P0001', message: 'not on Sundays' })
})

test('a trigger that looks before a row is there refuses known and unknown addresses alike', async () => {
  const { own, fresh } = await startWithTrigger({ AUTH_MAILER_AUTOCONFIRM: 'false' })
  const [known, unknown] = [fresh(), fresh()]
  await createAccount(own, { email: known.email })
  const answers = []
  for (const person of [known, unknown])
    answers.push(await own.call('POST /signup', { json: { ...person, data: { refuse: 'PT403' } } }))
  expect(answers.map(({ status }) => status)).toEqual([403, 403])
  expect(answers[0]?.text).toBe(answers[1]?.text)
})

test('the trigger of the guide lets staff in, nobody else, and whom it let in be forgotten', async () => {
  const own = await start({ AUTH_MAILER_AUTOCONFIRM: 'true', AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true' })
  onTestFinished(() => own.stop())
  const guide = readFileSync(new URL('../../../docs/guides/accounts.md', import.meta.url), 'utf8')
  const [, example = ''] = /```sql\n([\s\S]*?)```/.exec(guide) ?? []
  for (const statement of example.split('\n\n')) await own.app.db(Object.assign([statement], { raw: [statement] }))
  const join = (json: object) => own.call('POST /signup', { json })
  const password = 'correct horse battery'

  const refused = [await join({ email: 'bob@elsewhere.test', password }), await join({})]
  for (const answer of refused)
    expect([answer.status, answer.json()]).toEqual([
      403,
      { code: 'PT403', message: 'Only staff may join', hint: 'Ask for an address at example.com' },
    ])
  const joined = await join({ email: 'ann@example.com', password })
  expect(joined.status).toBe(200)

  const headers = { authorization: adminAuthorization(own) }
  const { user } = joined.json<{ user: { id: string } }>()
  const change = await own.call(`PUT /admin/users/${user.id}`, { headers, json: { email: 'ann@elsewhere.test' } })
  expect([change.status, change.json().code]).toEqual([403, 'PT403'])
  const forgotten = await own.call(`DELETE /admin/users/${user.id}`, { headers, json: { should_soft_delete: true } })
  expect(forgotten.status).toBe(200)
})

test('whoever is refused leaves nothing behind', async () => {
  const { own, ways } = await startWithTrigger()
  const count = () =>
    own.app.db`select (select count(*) from auth.users) as users, (select count(*) from auth.audit_log_entries) as notes`
  const before = await count()
  for (const way of ['POST /signup', 'POST /admin/users', 'PUT /user'] as const) await ways[way]({ refuse: 'P0001' })
  expect(await count()).toEqual(before)
})
