import { expect, test } from 'vitest'
import { createMetrics } from './metrics.ts'
import { start } from './serve/testing.ts'
import { noTelemetry, say } from './testing.ts'

const everyKind = [
  ['GET /plain', 200],
  ['HEAD /plain', 200],
  ['DELETE /things/1', 204],
  ['OPTIONS /plain', 204],
  ['GET /nowhere', 404],
  ['HEAD /nowhere', 404],
  ['PATCH /plain', 405],
  ['POST /body', 400],
  ['GET /named', 418],
  ['GET /bug', 500],
  ['GET /outage', 503],
  ['GET /header', 500],
  ['GET /bad-failure', 500],
] as const

test.each(everyKind)(
  '%s is answered %i with the request’s id, the headers of every answer, and leave for other origins',
  async (what, status) => {
    const { call } = await start()
    const raw = what.startsWith('POST') ? { raw: '{' } : {}
    const { headers, ...answer } = await call(what, { ...raw, headers: { 'x-trace': 'abc-1', origin: 'https://page.test' } })
    expect(answer.status).toBe(status)
    expect(headers).toMatchObject({
      'x-request-id': 'abc-1',
      'x-content-type-options': 'nosniff',
      'access-control-allow-origin': 'https://page.test',
      'access-control-expose-headers': 'Link',
      vary: 'Origin',
    })
  },
)

test.each([
  ['none', undefined],
  ['an empty one', ''],
  ['one with a space', 'a b'],
  ['one beyond ASCII', 'caf\u00e9'],
  ['one of 129 characters', 'a'.repeat(129)],
])('%s as inherited id is replaced by a minted one', async (_, inherited) => {
  const { call } = await start()
  const { headers } = await call('GET /plain', { headers: inherited === undefined ? {} : { 'x-trace': inherited } })
  expect(headers['x-request-id']).toBe('minted')
})

test('without a configured header nothing is inherited', async () => {
  const { call } = await start({ manner: { requestId: { header: undefined, mint: () => 'own' } } })
  expect((await call('GET /plain', { headers: { 'x-request-id': 'theirs' } })).headers['x-request-id']).toBe('own')
})

test('HEAD is GET without the body', async () => {
  const { call } = await start()
  const [head, get] = [await call('HEAD /plain'), await call('GET /plain')]
  expect(head.text).toBe('')
  expect(get.text).toBe('{"ok":true}')
  expect(head.headers['content-length']).toBe('11')
})

test('a path that exists with other methods names them', async () => {
  const { call } = await start()
  expect((await call('POST /things/7')).headers.allow).toBe('GET, DELETE, HEAD, OPTIONS')
  expect((await call('OPTIONS /things/7')).headers.allow).toBe('GET, DELETE, HEAD, OPTIONS')
  expect((await call('OPTIONS /body')).headers.allow).toBe('POST, OPTIONS')
})

test('a page of another origin is told what it may send', async () => {
  const { call } = await start()
  const asked = await call('OPTIONS /plain', { headers: { origin: 'https://page.test', 'access-control-request-method': 'GET' } })
  expect(asked.headers).toMatchObject({
    'access-control-allow-methods': 'GET, POST',
    'access-control-allow-headers': 'Authorization',
  })
  expect((await call('OPTIONS /plain')).headers).not.toHaveProperty('access-control-allow-methods')
})

test('a trailing slash and a whole address lead to the same place', async () => {
  const { call, origin } = await start()
  expect((await call('GET /plain/')).status).toBe(200)
  for (const url of [`${origin}/plain`, 'http://elsewhere.test/plain?a=b'])
    expect(await say(origin, `GET ${url} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)).toMatch(/^HTTP\/1\.1 200 /)
  expect(await say(origin, 'OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')).toMatch(/^HTTP\/1\.1 204 /)
})

test('a request without a host is refused, unless it is as old as that', async () => {
  const { origin } = await start()
  expect(await say(origin, 'GET /plain HTTP/1.1\r\nConnection: close\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 [\s\S]*bad_request/)
  expect(await say(origin, 'GET /plain HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /)
})

test('what comes behind a head that was cut in two is not taken for another request', async () => {
  const { origin } = await start()
  const heard = await say(origin, 'GET /plain HTTP/1.1\r\n\r\nGET /plain HTTP/1.1\r\nHost: x\r\n\r\n')
  expect(heard.match(/^HTTP\/1\.1 \d+/gm)).toEqual(['HTTP/1.1 400'])
})

test('a body on a request that takes none is passed over, and the connection goes on', async () => {
  const { origin } = await start()
  const heard = await say(
    origin,
    `POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 5000\r\n\r\n${'x'.repeat(5000)}`,
    'GET /plain HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
  )
  expect(heard.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 404', 'HTTP/1.1 200'])
})

test('what is asked all the time is logged only when it fails', async () => {
  const { call, told } = await start()
  await call('GET /quiet')
  await call('POST /quiet')
  expect(told()).toMatchObject([{ route: 'unmatched', status: 405 }])
})

test('a line of the log names the route and never the path or the query', async () => {
  const { call, lines } = await start()
  await call('GET /things/secret-1?token=secret-2')
  expect(lines).toMatchObject([{ level: 'info', method: 'GET', route: '/things/{id}', status: 200, peer: '127.0.0.1' }])
  expect(JSON.stringify(lines)).not.toContain('secret')
})

test('a trace and a count name the route with its placeholders', async () => {
  const spans: unknown[] = []
  const counted: unknown[] = []
  const telemetry = {
    ...noTelemetry,
    startSpan(request: unknown) {
      return { traceId: 'trace-1', spanId: 'span-1', end: (outcome: unknown) => void spans.push(request, outcome) }
    },
    metrics: createMetrics(),
  }
  const { call, lines } = await start({ telemetry })
  await call('GET /things/7', { headers: { traceparent: '00-a-b-01' } })
  await call('GET /secret/7')
  for (const family of telemetry.metrics.snapshot())
    if (family.name === 'http_status_codes') counted.push(...family.series.map(({ values }) => values))
  expect(spans).toEqual([
    { method: 'GET', route: '/things/{id}', params: { id: '7' }, traceparent: '00-a-b-01' },
    { status: 200 },
    { method: 'GET', route: 'unmatched', params: {}, traceparent: undefined },
    { status: 404 },
  ])
  expect(counted).toEqual([
    [200, '/things/{id}'],
    [404, 'unmatched'],
  ])
  expect(lines[0]).toMatchObject({ trace_id: 'trace-1' })
})

test('what the path names is looked for before fault is found with the body', async () => {
  const { call } = await start()
  expect((await call('POST /owned/theirs', { raw: '{' })).status).toBe(404)
  expect((await call('POST /owned/mine', { json: {} })).status).toBe(400)
  expect((await call('POST /owned/mine', { json: { name: 'x' } })).status).toBe(200)
})

test('an endpoint that looks up by itself what the path names is asked for its refusal when the input does not fit', async () => {
  const { call } = await start()
  expect((await call('POST /looked-up/theirs', { json: {} })).status).toBe(404)
  expect((await call('POST /looked-up/mine', { json: {} })).status).toBe(400)
  expect((await call('POST /looked-up/theirs', { json: { name: 'x' } })).status).toBe(200)
})

test('a host name may have part of the service at its root, and everything else in its usual place', async () => {
  const { call } = await start()
  const named = { headers: { host: 'Things.test:8080' } }
  expect((await call('GET /1', named)).status).toBe(200)
  expect((await call('GET /plain', named)).status).toBe(200)
  expect((await call('GET /1', {})).status).toBe(404)
})
