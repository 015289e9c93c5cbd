import { once } from 'node:events'
import { request as ask } from 'node:http'
import { connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { Failure } from '../failure.ts'
import { caller, gate } from '../testing.ts'
import { endpoint, start } from './testing.ts'

/** An endpoint that tells when it is asked, and answers when it is let. */
function held() {
  const { enter, entered, leave } = gate<void, unknown>()
  return { endpoint: endpoint('GET', '/held', () => enter()), entered, answer: () => leave(1, { ok: true }) }
}

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

test('a service may tell a caller more of what went wrong: it is logged as a bug all the same', async () => {
  const refusalOf = (thrown: unknown, request: { path: string }, app: unknown) =>
    request.path === '/bug' && app !== undefined && thrown instanceof Error ? new Failure('told', 409, thrown.message) : undefined
  const own = endpoint('GET', '/other-bug', () => Promise.reject('a bug'))
  const { call, lines } = await start({ strict: true, more: [own], manner: { refusalOf } })
  const told = await call('GET /bug')
  expect([told.status, told.json()]).toEqual([409, { code: 'told', id: 'minted' }])
  expect(lines).toMatchObject([
    { level: 'error', message: 'request failed', request_id: 'minted', error: { message: 'the password is swordfish' } },
    { level: 'info', message: 'request', status: 409 },
  ])
  const untold = await call('GET /other-bug')
  expect([untold.status, untold.json()]).toEqual([500, { code: 'unexpected_failure', id: 'minted' }])
})

test('what is a refusal already, or an outage, is not asked about', async () => {
  const refusalOf = () => new Failure('told', 409, 'Asked')
  const { call } = await start({ manner: { refusalOf } })
  expect([(await call('GET /named')).status, (await call('GET /outage')).status]).toEqual([418, 503])
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
  await slow.entered()
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
  // Whoever goes on talking to somebody who hung up may get an error on the way.
  await new Promise((resolve) => endless.once('close', resolve))
  expect((await caller(origin)('GET /plain')).status).toBe(200)
})

test('whoever asks while we are leaving is told not to come back on the same connection', async () => {
  let leaving = false
  const slow = held()
  const { call } = await start({ more: [slow.endpoint], leaving: () => leaving })
  const earlier = call('GET /held')
  await slow.entered()
  leaving = true
  slow.answer()
  expect((await earlier).headers.connection).toBe('close')
  expect((await call('GET /nowhere')).headers.connection).toBe('close')
})
