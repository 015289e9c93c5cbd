import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { say } from '@tollgate/kit/testing'
import { expect, onTestFinished, test } from 'vitest'
import { startBalancer } from './balancer.ts'

type Handler = (request: IncomingMessage, response: ServerResponse, node: number) => void

async function startNodes(count: number, handler: Handler) {
  const servers: Server[] = []
  for (let node = 0; node < count; node++) {
    const server = createServer((request, response) => handler(request, response, node))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    servers.push(server)
    onTestFinished(() => void server.close().closeAllConnections())
  }
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  const balancer = await startBalancer(ports)
  onTestFinished(() => balancer.close())
  return { servers, ports, balancer }
}

const tellNode: Handler = (_, response, node) => response.end(`node ${node}\n`)

test('requests on one connection go round, pipelined or not, and are answered in order', async () => {
  const { balancer, ports } = await startNodes(3, tellNode)
  const get = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'
  const heard = await say(balancer.origin, get, get, get, get, 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  expect(heard.match(/node \d/g)).toEqual(['node 0', 'node 1', 'node 2', 'node 0', 'node 1'])
  expect(ports.map((port) => balancer.given.get(port))).toEqual([2, 2, 1])
})

test('bodies of every kind find their end, however they are cut into pieces', async () => {
  const { balancer } = await startNodes(3, (request, response, node) => {
    request.toArray().then((parts) => response.end(`<${node}:${Buffer.concat(parts)}>`))
  })
  const long = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello'
  const chunked =
    'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n4\r\n\r\nde\r\n0\r\nTrailer: 1\r\n\r\n'
  const last = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
  const bytes = Buffer.from(long + chunked + long + last)
  const { hostname, port } = new URL(balancer.origin)
  const socket = connect(Number(port), hostname).setNoDelay(true)
  const heard: Buffer[] = []
  socket.on('data', (chunk) => heard.push(chunk))
  const closed = once(socket, 'close')
  for (const byte of bytes) {
    socket.write(Buffer.of(byte))
    await new Promise(setImmediate)
  }
  await closed
  expect(String(Buffer.concat(heard)).match(/<[^>]*>/g)).toEqual(['<0:hello>', '<1:abc\r\nde>', '<2:hello>', '<0:>'])
})

test('headers arrive as they were written, and nothing is added', async () => {
  const { balancer } = await startNodes(2, (request, response) => {
    response.sendDate = false
    response.setHeader('X-Odd-Case', ['one', 'two'])
    response.end(JSON.stringify(request.rawHeaders))
  })
  const heard = await say(balancer.origin, 'GET / HTTP/1.1\r\nhOST: x\r\nX-Forwarded-For: 192.0.2.1\r\nConnection: close\r\n\r\n')
  expect(JSON.parse(heard.slice(heard.indexOf('[')))).toEqual([
    'hOST',
    'x',
    'X-Forwarded-For',
    '192.0.2.1',
    'Connection',
    'close',
  ])
  expect(heard).toContain('X-Odd-Case: one\r\nX-Odd-Case: two\r\n')
})

test('an answer without a body, a refusal before the body, and what is not HTTP pass as they are', async () => {
  const { balancer } = await startNodes(2, (request, response) => {
    if (request.method === 'HEAD') return void response.setHeader('content-length', 5).end()
    if (request.method === 'DELETE') return void response.writeHead(204).end()
    response.writeHead(413, { connection: 'close' }).end('too much')
  })
  const head = 'HEAD / HTTP/1.1\r\nHost: x\r\n\r\n'
  const gone = 'DELETE / HTTP/1.1\r\nHost: x\r\n\r\n'
  const heard = await say(balancer.origin, head, gone, 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nabc')
  expect(heard.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 204', 'HTTP/1.1 413'])
  expect(heard).toMatch(/too much/)
  expect(await say(balancer.origin, 'nonsense\r\n\r\n')).toMatch(/^HTTP\/1.1 400/)
})

test('what a node says in pieces arrives in pieces', async () => {
  const waiting = Promise.withResolvers<void>()
  const { balancer } = await startNodes(2, (_, response) => {
    response.write('first')
    waiting.promise.then(() => response.end('last'))
  })
  const asked = request(balancer.origin).end()
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  expect(String((await once(answer, 'data'))[0])).toBe('first')
  waiting.resolve()
  expect(String((await once(answer, 'data'))[0])).toBe('last')
})

test('a node that is gone is passed over; one that dies while it answers is not covered up', async () => {
  const { balancer, servers } = await startNodes(3, (request, response, node) => {
    if (request.url === '/die') return void response.socket?.destroy()
    response.end(`node ${node}\n`)
  })
  await new Promise((resolve) => servers[1]?.close(resolve))
  const close = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
  const heard = [await say(balancer.origin, close), await say(balancer.origin, close), await say(balancer.origin, close)]
  expect(heard.map((text) => /node \d/.exec(text)?.[0])).toEqual(['node 0', 'node 2', 'node 0'])
  expect(await say(balancer.origin, 'GET /die HTTP/1.1\r\nHost: x\r\n\r\n')).toBe('')
})
