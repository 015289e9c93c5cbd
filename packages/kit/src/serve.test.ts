import { once } from 'node:events'
import { request as ask } from 'node:http'
import { connect } from 'node:net'
import Type from 'typebox'
import { expect, onTestFinished, test } from 'vitest'
import { anyOrigin } from './cors.ts'
import { Answer, anyone, type Endpoint, Nothing } from './endpoint.ts'
import { failures, type TransportCode, Unavailable } from './failure.ts'
import { listen } from './listen.ts'
import type { Manner } from './manner.ts'
import { createHandler } from './serve.ts'
import { caller, keptLog, noTelemetry, say } from './testing.ts'

const table = {
  bad_request: [400, 'Not understood'],
  bad_json: [400, 'Not readable'],
  validation_failed: [400, 'Not fitting'],
  not_found: [404, 'Not here'],
  method_not_allowed: [405, 'Not so'],
  request_entity_too_large: [413, 'Too much'],
  request_timeout: [504, 'Too slow'],
  unavailable: [503, 'Not now'],
  unexpected_failure: [500, 'Our fault'],
  teapot: [418, 'Short and stout'],
} as const satisfies Record<TransportCode | 'teapot', readonly [number, string]>
const fail = failures(table)

const manner: Manner = {
  input: { absent: () => false, convertJson: false, caseInsensitive: false },
  bodies: 'declared',
  bodyLimit: 1000,
  fail,
  misfit: (_, problems) => fail('validation_failed', { problems }),
  word: ({ status, code, headers }, { id }) => ({ status, headers, body: JSON.stringify({ code, id }) }),
  contentType: 'application/json',
  ending: '',
  headers: { 'x-content-type-options': 'nosniff' },
  cors: anyOrigin({ methods: ['GET', 'POST'], headers: ['Authorization'], exposed: ['Link'] }),
  requestId: { header: 'X-Trace', mint: () => 'minted' },
  longestRequest: 5,
}

function endpoint(method: string, path: string, run: () => unknown, more: Partial<Endpoint<unknown>> = {}): Endpoint<unknown> {
  const reply = { 200: Type.Object({ ok: Type.Boolean() }) }
  return { method, path, summary: path, tag: 'Test', caller: anyone, reply, fails: [], run, ...more }
}

const endpoints = [
  endpoint('GET', '/plain', () => ({ ok: true })),
  endpoint('GET', '/things/{id}', () => ({ ok: true })),
  endpoint('DELETE', '/things/{id}', () => undefined, { reply: { 204: Nothing } }),
  endpoint('POST', '/body', () => ({ ok: true }), { body: Type.Object({ name: Type.Optional(Type.String()) }) }),
  endpoint('GET', '/quiet', () => ({ ok: true }), { quiet: true }),
  endpoint('GET', '/bug', () => {
    throw new Error('the password is swordfish')
  }),
  endpoint('GET', '/unnamed', () => Promise.reject(fail('teapot'))),
  endpoint('GET', '/named', () => Promise.reject(fail('teapot', { headers: { 'x-tea': 'green' } })), { fails: ['teapot'] }),
  endpoint('GET', '/outage', () => Promise.reject(new Unavailable('no database'))),
  endpoint('GET', '/header', () => new Answer(200, { ok: true }, { 'x-bad': 'a\r\nb: c' })),
  endpoint('GET', '/bad-failure', () => Promise.reject(fail('teapot', { headers: { 'x-bad': '\u0000' } })), {
    fails: ['teapot'],
  }),
]

type Options = { more?: Endpoint<unknown>[]; manner?: Partial<Manner>; strict?: boolean; leaving?: () => boolean }

async function start({ more = [], manner: own = {}, ...rest }: Options = {}) {
  const { log, lines } = keptLog()
  const all = [...endpoints, ...more]
  const handler = createHandler({ app: {}, endpoints: all, manner: { ...manner, ...own }, log, telemetry: noTelemetry, ...rest })
  const listening = await listen({
    host: '127.0.0.1',
    port: 0,
    handler,
    portSetting: 'TEST_PORT',
    malformed: () => ({ contentType: '', body: '' }),
  })
  onTestFinished(() => listening.drain(0))
  const origin = `http://127.0.0.1:${listening.port}`
  return {
    call: caller(origin),
    origin,
    port: listening.port,
    lines,
    told: () => lines.filter(({ message }) => message === 'request'),
  }
}

/** An endpoint that tells when it is asked, and answers when it is let. */
function held(path = '/held') {
  const asked = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<unknown>()
  const run = () => {
    asked.resolve()
    return answer.promise
  }
  return { endpoint: endpoint('GET', path, run), asked: asked.promise, answer: () => answer.resolve({ ok: true }) }
}

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

test('a bug is answered 500 with an id that the log has, too, and tells nothing else', async () => {
  const { call, lines } = await start()
  const answer = await call('GET /bug', { headers: { 'x-trace': 'find-me' } })
  expect(answer.status).toBe(500)
  expect(answer.json()).toEqual({ code: 'unexpected_failure', id: 'find-me' })
  expect(lines).toMatchObject([
    { level: 'error', message: 'request failed', request_id: 'find-me', error: { message: 'the password is swordfish' } },
    { level: 'error', message: 'request', request_id: 'find-me', status: 500 },
  ])
})

test('a failure that its endpoint does not name is a bug where we are strict, and goes through where we are not', async () => {
  const strict = await start({ strict: true })
  expect((await strict.call('GET /unnamed')).status).toBe(500)
  expect(strict.lines[0]?.message).toBe('teapot is not among the failures that the endpoint names')
  expect(await strict.call('GET /named')).toMatchObject({ status: 418, headers: { 'x-tea': 'green' } })
  expect((await (await start()).call('GET /unnamed')).status).toBe(418)
})

test('an outage is answered 503 and may be tried again', async () => {
  const { call } = await start()
  expect(await call('GET /outage')).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
})

test('an answer that takes too long is replaced by 504, and what comes later is dropped', async () => {
  const slow = held()
  const { call, told } = await start({ more: [slow.endpoint], manner: { longestRequest: 0.05 } })
  const answer = await call('GET /held')
  expect([answer.status, answer.json()]).toEqual([504, { code: 'request_timeout', id: 'minted' }])
  slow.answer()
  expect((await call('GET /plain')).status).toBe(200)
  expect(told().map(({ status }) => status)).toEqual([504, 200])
})

test('a caller who hangs up is logged as such, before the answer and in the middle of the body', async () => {
  const slow = held()
  const { port, call, told } = await start({ more: [slow.endpoint] })
  const [one, other] = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')]
  one.write('GET /held HTTP/1.1\r\nHost: x\r\n\r\n')
  await slow.asked
  one.destroy()
  other.write('POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nonly this', () => other.destroy())
  await expect.poll(told, { interval: 5 }).toMatchObject([{ route: '/body', status: 499 }])
  slow.answer()
  await expect.poll(told, { interval: 5 }).toMatchObject([{}, { route: '/held', status: 499 }])
  expect((await call('GET /plain')).status).toBe(200)
})

test('a header that cannot be written is a bug, not the end', async () => {
  const { call, lines } = await start()
  expect((await call('GET /header')).json()).toMatchObject({ code: 'unexpected_failure' })
  expect(lines[0]).toMatchObject({
    level: 'error',
    message: 'an answer could not be written',
    error: { code: 'ERR_INVALID_CHAR' },
  })
})

test('what every answer carries may be what cannot be written: then the connection is all that is lost', async () => {
  const { call, told } = await start({ manner: { headers: { 'x-bad': '\n' } } })
  await expect(call('GET /plain')).rejects.toMatchObject({ code: 'ECONNRESET' })
  expect(told()).toMatchObject([{ status: 500 }])
})

test.each([
  ['announces', { 'content-length': String(8_000_000) }],
  ['does not announce', { 'transfer-encoding': 'chunked' }],
])('whoever sends too much and %s it reads 413 once they have finished, and the connection ends', async (_, headers) => {
  const { origin } = await start()
  const sent = ask(`${origin}/body`, { method: 'POST', headers })
  sent.end(Buffer.alloc(8_000_000, ' '))
  const [response] = await once(sent, 'response')
  expect([response.statusCode, response.headers.connection]).toEqual([413, 'close'])
  expect(await response.toArray().then(String)).toContain('request_entity_too_large')
})

test('whoever never finishes is told after a moment, and cut off', async () => {
  const { origin, port } = await start()
  const endless = connect(port, '127.0.0.1')
  endless.on('error', () => {})
  const chunks = setInterval(() => endless.write(`1000\r\n${'a'.repeat(4096)}\r\n`), 5)
  onTestFinished(() => clearInterval(chunks))
  endless.write('POST /body HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n')
  const [heard] = await once(endless, 'data')
  expect(String(heard)).toMatch(/^HTTP\/1\.1 413 /)
  await once(endless, 'close')
  expect((await caller(origin)('GET /plain')).status).toBe(200)
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

test('whoever asks while we are leaving is told not to come back on the same connection', async () => {
  let leaving = false
  const slow = held()
  const { call } = await start({ more: [slow.endpoint], leaving: () => leaving })
  const earlier = call('GET /held')
  await slow.asked
  leaving = true
  slow.answer()
  expect((await earlier).headers.connection).toBe('close')
  expect((await call('GET /nowhere')).headers.connection).toBe('close')
})
