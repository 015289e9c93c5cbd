import { once } from 'node:events'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { createLatencies, percentile, record } from './latency.ts'
import { load } from './load.ts'
import { chained, inPairs, inTurns, mixed, numbered, numberHere, requestText } from './requests.ts'

const requests = inTurns(requestText('GET', '/'))
const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

async function listening(server: Server): Promise<number> {
  servers.push(server.listen(0, '127.0.0.1'))
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

const answering = (listener: RequestListener) => listening(createHttpServer(listener))

/** A server that says the same bytes to every request, whatever they are. */
const saying = (text: string, then: (socket: Socket) => void = () => {}) =>
  listening(
    createServer((socket) => {
      socket.on('error', () => {})
      socket.on('data', () => {
        socket.write(text)
        then(socket)
      })
    }),
  )

/** Long enough for a busy machine; who waits for an answer that never comes has less patience. */
const brief = { requests, connections: 4, seconds: 0.1, patience: 5 }
const impatient = { ...brief, patience: 0.1 }

test('every answer of a real server is counted, and none twice', async () => {
  let asked = 0
  const port = await answering((_, response) => {
    asked += 1
    response.setHeader('content-length', 70_000).end('x'.repeat(70_000))
  })
  const outcome = await load({ ...brief, ports: [port] })
  expect(outcome.errors).toEqual({})
  expect(outcome.answered).toBe(asked)
  expect(outcome.answered).toBeGreaterThan(10)
  expect(outcome.latencies.reduce((sum, count) => sum + count)).toBe(asked)
})

test('an answer other than 2xx is an error, and the connection goes on', async () => {
  let asked = 0
  const port = await answering((_, response) => {
    asked += 1
    response.writeHead(asked % 2 === 0 ? 404 : 200, { 'content-length': 2 }).end('{}')
  })
  const { answered, errors } = await load({ ...brief, ports: [port] })
  expect(Object.keys(errors)).toEqual(['answered 404'])
  expect(answered + (errors['answered 404'] ?? 0)).toBe(asked)
  expect(answered).toBeGreaterThan(10)
})

test('a connection that is cut in the middle of an answer is an error, and is made anew', async () => {
  const port = await saying('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345', (socket) => socket.end())
  const { answered, errors } = await load({ ...brief, ports: [port] })
  expect(answered).toBe(0)
  expect(Object.keys(errors)).toEqual(['the connection was cut'])
  expect(errors['the connection was cut']).toBeGreaterThan(4)
})

test.each([
  ['too small', 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n12345', 'the server sent more bytes than its content-length says'],
  ['too large', 'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n12345', 'no complete answer within 0.1 s'],
  ['missing', 'HTTP/1.1 200 OK\r\nDate: now\r\n\r\n12345', 'the server sent no content-length'],
  [
    'given twice',
    'HTTP/1.1 200 OK\r\nContent-Length: 5\r\ncontent-length: 5\r\n\r\n12345',
    'the server sent an odd content-length',
  ],
])('a content-length that is %s is an error', async (_, text, why) => {
  const { answered, errors } = await load({ ...impatient, ports: [await saying(text)] })
  expect(answered).toBe(0)
  expect(Object.keys(errors)).toEqual([why])
})

test('an answer that arrives byte by byte is one answer', async () => {
  const text = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n12345'
  const port = await saying(text.slice(0, 1), (socket) => {
    for (const byte of text.slice(1)) setImmediate(() => socket.write(byte))
  })
  const { answered, errors } = await load({ ...brief, connections: 1, ports: [port] })
  expect(errors).toEqual({})
  expect(answered).toBeGreaterThan(0)
})

test('nobody at the port is an error, not an endless run', async () => {
  const { errors } = await load({ ...brief, ports: [1] })
  expect(errors).toEqual({ 'no connection (ECONNREFUSED)': 4 })
})

test('at a fixed rate a stall of the server counts for every request that had to wait', async () => {
  let stalled = false
  const port = await answering((_, response) => {
    if (!stalled) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 150)
    stalled = true
    response.setHeader('content-length', 2).end('{}')
  })
  const { answered, errors, latencies } = await load({ ...brief, ports: [port], rate: 200, seconds: 0.5, patience: 1 })
  expect(errors).toEqual({})
  expect(answered).toBe(100)
  // Thirty were due during the stall. A generator that waits for each answer would have seen four.
  expect(percentile(latencies, 0.8)).toBeGreaterThan(30)
})

test('a number is never sent twice, and the next load goes on behind the last one', async () => {
  const seen: string[] = []
  const port = await answering((request, response) => {
    seen.push(request.url ?? '')
    response.setHeader('content-length', 2).end('{}')
  })
  const first = await load({ ...brief, requests: numbered(requestText('GET', `/people/${numberHere}`)), ports: [port] })
  const second = await load({ ...brief, requests: first.rest, ports: [port] })
  expect([first.errors, second.errors]).toEqual([{}, {}])
  expect(seen.length).toBe(first.answered + second.answered)
  expect(new Set(seen)).toEqual(new Set(seen.map((_, index) => `/people/${String(index + 1).padStart(9, '0')}`)))
})

/** Exchanges every token once for the next one of its chain, and answers with some bytes before and after it. */
async function exchange(filling = '') {
  const seen: string[] = []
  const port = await answering((request, response) => {
    const [, chain = '', count = ''] = /^\/(\w)-(\d{4})$/.exec(request.url ?? '') ?? []
    seen.push(`${chain}-${count}`)
    const token = `${chain}-${String(Number(count) + 1).padStart(4, '0')}`
    const body = JSON.stringify({ filling, token, more: filling })
    response.setHeader('content-length', body.length).end(body)
  })
  const firsts = ['a-0001', 'b-0001', 'c-0001', 'd-0001']
  return { port, seen, requests: chained(firsts, (token) => requestText('GET', `/${token}`), '"token":"') }
}

test.each([
  ['short', ''],
  ['that come in several pieces', 'x'.repeat(300_000)],
])(
  'from answers %s every connection takes what its next request needs, and the next load goes on with it',
  async (_, filling) => {
    const { port, seen, requests } = await exchange(filling)
    const first = await load({ ...brief, requests, ports: [port] })
    const second = await load({ ...brief, requests: first.rest, ports: [port] })
    expect([first.errors, second.errors]).toEqual([{}, {}])
    expect(seen.length).toBe(first.answered + second.answered)
    expect(new Set(seen).size).toBe(seen.length)
    for (const chain of 'abcd') {
      const own = seen.filter((token) => token.startsWith(chain))
      expect(own.length).toBeGreaterThan(1)
      expect(own).toEqual(own.map((_, index) => `${chain}-${String(index + 1).padStart(4, '0')}`))
    }
  },
)

test.each([
  ['nothing', '{"other":"a-0002"}'],
  ['something longer', '{"token":"a-00002"}'],
  ['something shorter', '{"token":"a-02"}'],
])('%s where the next request would come from is an error', async (_, body) => {
  const { requests } = await exchange()
  const port = await answering((_, response) => response.setHeader('content-length', body.length).end(body))
  const { answered, errors } = await load({ ...brief, requests, ports: [port] })
  expect(answered).toBe(0)
  expect(Object.keys(errors)).toEqual(['answered without what the next request needs'])
})

test('more connections than chains are refused, for two would ask the same', async () => {
  const { port, requests } = await exchange()
  await expect(load({ ...brief, requests, ports: [port], connections: 5 })).rejects.toThrow('5 connections need as many chains')
})

/** Answers the first of a pair with an id of its own, and remembers who came for what. */
async function counter(refuse: (asked: number) => boolean = () => false) {
  const made: string[] = []
  const taken: string[] = []
  const port = await answering((request, response) => {
    const [, what = '', id = ''] = (request.url ?? '').split('/')
    if (what === 'take') taken.push(id)
    else made.push(`${what}-${String(made.length).padStart(4, '0')}`)
    const body = JSON.stringify({ id: made.at(-1) })
    const status = what !== 'take' && refuse(made.length) ? 500 : 201
    response.writeHead(status, { 'content-length': body.length }).end(body)
  })
  const requests = inPairs(
    ['/a', '/b', '/c'].map((path) => requestText('POST', path)),
    6,
    (id) => requestText('POST', `/take/${id}`),
    '"id":"',
  )
  return { port, requests, made, taken }
}

test('a pair counts once, and its second request takes what the first was answered, in turns and also in the next load', async () => {
  const { port, requests, made, taken } = await counter()
  const first = await load({ ...brief, requests, ports: [port] })
  const second = await load({ ...brief, requests: first.rest, ports: [port] })
  expect([first.errors, second.errors]).toEqual([{}, {}])
  expect(first.answered + second.answered).toBe(made.length)
  expect(taken.toSorted()).toEqual(made.toSorted())
  const turns = made.map((id) => id.slice(0, 1))
  expect(turns).toEqual(turns.map((_, index) => 'bca'.charAt(index % 3)))
})

test('at a fixed rate it is pairs that are sent so often', async () => {
  const { port, requests, made } = await counter()
  const { answered, errors } = await load({ ...brief, requests, ports: [port], rate: 100, seconds: 0.3 })
  expect(errors).toEqual({})
  expect([answered, made.length]).toEqual([30, 30])
})

test('a pair whose first request is refused has no second one', async () => {
  const { port, requests, made, taken } = await counter((asked) => asked % 2 === 0)
  const { answered, errors } = await load({ ...brief, requests, ports: [port] })
  expect(Object.keys(errors)).toEqual(['answered 500'])
  expect(answered).toBe(taken.length)
  expect(answered + (errors['answered 500'] ?? 0)).toBe(made.length)
})

test('a mixture goes to its servers in its shares, also over two loads, and every part goes on as it would alone', async () => {
  const { port: chains, seen, requests } = await exchange()
  const paths: string[] = []
  const port = await answering((request, response) => {
    paths.push(request.url ?? '')
    response.setHeader('content-length', 2).end('{}')
  })
  const mixture = mixed([
    { share: 1, server: 0, requests: inTurns(requestText('GET', '/rare')) },
    { share: 3, server: 1, requests },
    { share: 6, server: 0, requests: numbered(requestText('GET', `/often/${numberHere}`)) },
  ])
  const order = { ...brief, ports: [port, chains], rate: 100, seconds: 0.5 }
  const first = await load({ ...order, requests: mixture })
  const second = await load({ ...order, requests: first.rest })
  expect([first.errors, second.errors]).toEqual([{}, {}])
  expect([first.answered, second.answered]).toEqual([50, 50])
  expect(paths.filter((path) => path === '/rare')).toHaveLength(10)
  expect(seen).toHaveLength(30)
  expect(new Set(seen).size).toBe(30)
  expect(new Set(paths).size).toBe(1 + 60)
})

test('a server that goes while others of its mixture stay is an error', async () => {
  const port = await answering((_, response) => response.setHeader('content-length', 2).end('{}'))
  const cutting = await saying('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345', (socket) => socket.end())
  const parts = [0, 1].map((server) => ({ share: 1, server, requests }))
  const { answered, errors } = await load({ ...brief, ports: [port, cutting], requests: mixed(parts) })
  expect(answered).toBeGreaterThan(0)
  expect(Object.keys(errors)).toEqual(['the connection was cut'])
})

test('whoever is told when to come back is counted where that is expected, and an error elsewhere', async () => {
  let advice: Record<string, string> = { 'retry-after': '1' }
  const port = await answering((_, response) => response.writeHead(503, { ...advice, 'content-length': 2 }).end('{}'))
  const expected = await load({ ...brief, ports: [port], mayBeRefused: true })
  expect(expected).toMatchObject({ answered: 0, errors: {} })
  expect(expected.refused).toBeGreaterThan(10)
  const unexpected = await load({ ...brief, ports: [port] })
  expect(unexpected.refused).toBe(0)
  expect(Object.keys(unexpected.errors)).toEqual(['answered 503'])
  // Who is not told when has been forgotten, not sent away.
  advice = {}
  const { refused, errors } = await load({ ...brief, ports: [port], mayBeRefused: true })
  expect(refused).toBe(0)
  expect(Object.keys(errors)).toEqual(['answered 503'])
})

test('percentiles are within two per cent of the truth', () => {
  const latencies = createLatencies()
  for (let count = 1; count <= 1000; count++) record(latencies, count / 10)
  for (const share of [0.5, 0.95, 0.99]) {
    const truth = share * 100
    expect(Math.abs((percentile(latencies, share) ?? 0) - truth) / truth).toBeLessThan(0.02)
  }
})
