import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { type Listening, type ListenOptions, ListenProblem, listen } from './listen.ts'
import type { Handler } from './serve.ts'
import { caller, gate, say } from './testing.ts'

const hello: Handler = (message, response) => void message.resume().on('end', () => response.end(`hello ${message.url}`))

async function start(handler: Handler = hello, options: Partial<ListenOptions> = {}): Promise<Listening & { origin: string }> {
  const listening = await listen({
    host: '127.0.0.1',
    port: 0,
    handler,
    portSetting: 'TEST_PORT',
    malformed: (status) => ({ contentType: 'text/plain', body: `refused with ${status}`, headers: { 'x-own': 'yes' } }),
    ...options,
  })
  onTestFinished(() => listening.drain(0))
  return { ...listening, origin: `http://127.0.0.1:${listening.port}` }
}

/** A handler whose answers wait until they are let go. */
function held() {
  const { enter, entered, leave } = gate<string>()
  const handler: Handler = ({ url = '' }, response) => void enter(url).then(() => response.end(`hello ${url}`))
  return { handler, entered, leave: (number: number) => leave(number, undefined) }
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`
const lastGet = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`

test.each([
  ['nonsense', 'nonsense\r\n\r\n'],
  ['a TLS handshake', Buffer.from('16030100a5010000a1030300', 'hex')],
  ['a method that does not exist', 'FROB / HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['a newline inside a header', 'GET / HTTP/1.1\r\nHost: x\r\nA: b\nc\r\n\r\n'],
  ['two lengths', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
  ['a length and chunks', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
  ['a chunk without a length', 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'],
  ['a wish for a tunnel', 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n'],
])('%s is refused in the words of the service', async (_, bytes) => {
  const { origin } = await start()
  const heard = await say(origin, bytes)
  expect(heard).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/)
  expect(heard).toContain(
    'connection: close\r\ncontent-type: text/plain\r\ncontent-length: 16\r\nx-own: yes\r\n\r\nrefused with 400',
  )
})

test('whoever pours in a megabyte of nonsense still hears why it was refused', async () => {
  const { origin } = await start()
  expect(await say(origin, Buffer.alloc(1_000_000, 'x'))).toContain('refused with 400')
})

test('a head that is too long is refused with 431', async () => {
  const { origin } = await start()
  const heard = await say(origin, `GET / HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(40_000)}\r\n\r\n`)
  expect(heard).toMatch(/^HTTP\/1\.1 431 Request Header Fields Too Large\r\n/)
})

test('a caller who dribbles is cut off with 408, in the head and in the body', async () => {
  const { origin } = await start(hello, { slowest: { head: 80, whole: 160 } })
  expect(await say(origin, 'GET / HTTP/1.1\r\nHos')).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/)
  expect(await say(origin, 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc')).toMatch(/^HTTP\/1\.1 408 /)
})

test('requests that come in one packet are answered in order', async () => {
  const { handler, entered, leave } = held()
  const { origin } = await start(handler)
  const heard = say(origin, get('/1') + get('/2') + lastGet('/3'))
  await entered(3)
  for (const number of [3, 1, 2]) leave(number)
  expect((await heard).match(/hello \/\d/g)).toEqual(['hello /1', 'hello /2', 'hello /3'])
})

test('nonsense behind a request does not overtake its answer', async () => {
  const { handler, entered, leave } = held()
  const { origin } = await start(handler)
  const heard = say(origin, get('/1'), 'nonsense\r\n\r\n')
  await entered(1)
  leave(1)
  expect((await heard).match(/hello \/1|refused with 400/g)).toEqual(['hello /1', 'refused with 400'])
})

test('whoever expects to be told to go on is told', async () => {
  const { origin } = await start()
  const heard = await say(
    origin,
    'POST /x HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nab',
  )
  expect(heard).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n/)
})

test('an expectation that nobody knows is ignored', async () => {
  const { origin } = await start()
  expect(await say(origin, 'GET /x HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: a miracle\r\n\r\n')).toContain('hello /x')
})

test('draining lets requests in flight finish and takes no new connections', async () => {
  const { handler, entered, leave } = held()
  const { origin, drain } = await start(handler)
  const first = caller(origin)('GET /1')
  await entered(1)
  const drained = drain(10)
  await expect(caller(origin)('GET /2', { headers: { connection: 'close' } })).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  leave(1)
  expect((await first).text).toBe('hello /1')
  await drained
})

test('draining closes connections that are kept, and those on which nothing was ever asked', async () => {
  const { origin, port, drain } = await start()
  const agent = new Agent({ keepAlive: true })
  const asked = request(origin, { agent }).end()
  const [response] = await once(asked, 'response')
  response.resume()
  const silent = connect(port, '127.0.0.1')
  await Promise.all([once(response, 'end'), once(silent, 'connect')])
  const closed = Promise.all([once(asked.socket as NonNullable<typeof asked.socket>, 'close'), once(silent.resume(), 'close')])
  await drain(0.4)
  await closed
})

test('a request that comes on a kept connection just after draining began is answered', async () => {
  const { port, drain } = await start()
  const socket = connect(port, '127.0.0.1').setEncoding('latin1')
  socket.write(get('/1'))
  await once(socket, 'data')
  const drained = drain(1)
  socket.write(get('/2'))
  const [heard] = await once(socket, 'data')
  expect(heard).toContain('hello /2')
  socket.end()
  await drained
})

test('what hangs is cut when the time is up', async () => {
  const { handler, entered } = held()
  const { origin, drain } = await start(handler)
  const hanging = caller(origin)('GET /1')
  const cut = expect(hanging).rejects.toMatchObject({ code: 'ECONNRESET' })
  await entered(1)
  await drain(0.05)
  await cut
})

test('a port that is taken, and an address that is not ours, are told in a sentence', async () => {
  const { port } = await start()
  await expect(start(hello, { port })).rejects.toThrow(
    new ListenProblem(`Port ${port} is taken by another program. Stop that program, or set TEST_PORT to a free port.`),
  )
  await expect(start(hello, { host: '203.0.113.1' })).rejects.toThrow('203.0.113.1 is not an address of this machine.')
})

test('trouble with the listener is told, and does not end the process', async () => {
  const told: Error[] = []
  const { server, origin } = await start(hello, { trouble: (problem) => told.push(problem) })
  server.emit('error', new Error('too many open files'))
  expect(told).toMatchObject([{ message: 'too many open files' }])
  expect((await caller(origin)('GET /still')).text).toBe('hello /still')
})
