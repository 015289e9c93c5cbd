import { anyone } from '@tollgate/kit/endpoint'
import { Unavailable } from '@tollgate/kit/failure'
import { say, testService } from '@tollgate/kit/testing'
import Type from 'typebox'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { endpoint } from './app.ts'
import { identity } from './main.ts'
import { requiredSettings } from './testing.ts'

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
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
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

test('the id of a request is inherited from the header that is configured', async () => {
  const own = await start({ AUTH_REQUEST_ID_HEADER: 'X-Amzn-Trace-Id' })
  const { headers } = await own.call('GET /settings', { headers: { 'x-amzn-trace-id': 'Root=1-67891233-abcdef' } })
  await own.stop()
  expect(headers['x-request-id']).toBe('Root=1-67891233-abcdef')
})
