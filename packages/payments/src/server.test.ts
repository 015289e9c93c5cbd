import { anyone } from '@tollgate/kit/endpoint'
import { Unavailable } from '@tollgate/kit/failure'
import { say, testService } from '@tollgate/kit/testing'
import Type from 'typebox'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { endpoint } from './app.ts'
import { payments } from './main.ts'

const about = { tag: 'Test', summary: 'For the test', caller: anyone, reply: { 200: Type.Object({}) }, fails: [] }
const params = Type.Object({ id: Type.String({ pattern: '^[0-9a-f]{24}$' }) })
const query = Type.Object({ limit: Type.Integer({ minimum: 1 }), filter: Type.Optional(Type.Object({ test: Type.Boolean() })) })
const endpoints = [
  ...payments.endpoints,
  endpoint({
    ...about,
    method: 'GET',
    path: '/test/bug',
    run: () => Promise.reject(new Error('the number is 4100000000000000')),
  }),
  endpoint({ ...about, method: 'GET', path: '/test/outage', run: () => Promise.reject(new Unavailable('gone')) }),
  endpoint({ ...about, method: 'GET', path: '/test/things/{id}', params, query, run: () => ({}) }),
]

let service: Awaited<ReturnType<typeof start>>
const start = () => testService({ ...payments, endpoints }, {})
beforeAll(async () => {
  service = await start()
})
afterAll(() => service.stop())

const tooLarge = `{"name":"${'x'.repeat(1_100_000)}"}`
const refusals = [
  ['GET /nowhere', '', 404, 'not_found'],
  ['GET /test/things/wrong_id?limit=1', '', 404, 'not_found'],
  ['GET /me', '', 401, 'unauthorized'],
  ['DELETE /me', '', 405, 'method_not_allowed'],
  ['POST /apps', tooLarge, 413, 'request_entity_too_large'],
  ['GET /test/outage', '', 503, 'unavailable'],
  ['GET /test/bug', '', 500, 'unexpected_failure'],
] as const

const everyAnswer = {
  'x-request-id': expect.stringMatching(/^[0-9a-f]{32}$/),
  'strict-transport-security': 'max-age=31536000; includeSubdomains; preload',
  'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  vary: 'Accept, Accept-Encoding',
}

function ask(what: string, raw: string, accept: string | undefined) {
  const headers: Record<string, string> = accept === undefined ? {} : { accept }
  return service.call(what, { headers, ...(raw === '' ? {} : { raw }) })
}

test.each(refusals)('%s with %.8s is refused with %i and told why to whoever admits JSON', async (what, raw, status, code) => {
  for (const accept of ['*/*', 'application/json', 'text/html, application/*;q=0.8', 'Application/JSON; charset=utf-8']) {
    const answer = await ask(what, raw, accept)
    expect(answer.status).toBe(status)
    expect(answer.text).toMatch(/^\{.*\}\n$/)
    expect(answer.json()).toEqual({ code, message: expect.stringMatching(/.{10}/) })
    expect(answer.headers).toMatchObject({ ...everyAnswer, 'content-type': 'application/json; charset=utf-8' })
  }
})

test.each(refusals)('%s with %.8s is refused with %i and nothing else to the old clients', async (what, raw, status) => {
  for (const accept of [undefined, '', 'application/vnd.api+json', 'text/html', 'application/json;q=0, */*;q=0.0']) {
    const answer = await ask(what, raw, accept)
    expect([answer.status, answer.text]).toEqual([status, ''])
    expect(answer.headers).toMatchObject({ ...everyAnswer, 'content-length': '0' })
    expect(answer.headers).not.toHaveProperty('content-type')
  }
})

test.each([
  ['POST /apps', '{"name"', 'body'],
  ['POST /apps', '[7]', 'body'],
  ['POST /apps', 'null', 'body'],
  ['POST /apps', '{"name":7}', 'name'],
  ['POST /apps', '\uFEFF', 'body'],
  ['GET /test/things/0123456789abcdef01234567', '', 'limit'],
  ['GET /test/things/0123456789abcdef01234567?limit=0', '', 'limit'],
  ['GET /test/things/0123456789abcdef01234567?limit=1&filter[test]=perhaps', '', 'filter.test'],
  ['GET /test/things/0123456789abcdef01234567?limit=%ff', '', 'query'],
])('%s with %s names the field, whatever the caller admits', async (what, raw, field) => {
  for (const accept of ['*/*', undefined, 'application/vnd.api+json']) {
    const answer = await ask(what, raw, accept)
    expect(answer.status).toBe(400)
    expect(answer.headers).toMatchObject({ ...everyAnswer, 'content-type': 'application/json; charset=utf-8' })
    expect(answer.text).toMatch(/^\[\{"field":.*\}\]\n$/)
    expect(answer.json()).toEqual([{ field, message: expect.any(String) }])
  }
})

test('booleans and brackets come in every spelling that clients use', async () => {
  for (const text of ['filter[test]=y', 'filter%5Btest%5D=1', 'filter[test]=No', 'filter[test]=false'])
    expect((await service.call(`GET /test/things/0123456789abcdef01234567?limit=10&${text}`)).status).toBe(200)
})

test('what went wrong inside stays inside', async () => {
  const { text, headers } = await ask('GET /test/bug', '', '*/*')
  expect(text).not.toContain('4100')
  expect(service.lines).toContainEqual(
    expect.objectContaining({ message: 'request failed', request_id: headers['x-request-id'] }),
  )
})

test('bytes that are not HTTP are refused like a body that cannot be read', async () => {
  const [head = '', content = ''] = (await say(service.origin, 'nonsense\r\n\r\n')).split('\r\n\r\n')
  expect(head).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/)
  expect(head).toMatch(/\r\nx-request-id: [0-9a-f]{32}(\r\n|$)/)
  expect(JSON.parse(content)).toEqual([{ field: 'body', message: expect.any(String) }])
})

test('a method that a path does not answer names those it does', async () => {
  expect((await service.call('PUT /me')).headers.allow).toBe('GET, HEAD, OPTIONS')
  expect(await service.call('OPTIONS /apps')).toMatchObject({ status: 204, headers: { allow: 'POST, OPTIONS' }, text: '' })
})
