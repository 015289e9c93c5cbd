import { EventEmitter, once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export type FakeRequest = {
  method: string
  /** Without the query. */
  path: string
  query: Record<string, string>
  headers: IncomingHttpHeaders
  body: string
}

/** An ordinary answer: 200 with nothing in it, where nothing else is said. */
export type FakeReply = { status?: number; headers?: Record<string, string>; json?: unknown; text?: string }

/** What outside services do on bad days: never answer, hang up, hang up in the middle of the answer, talk nonsense. */
export type FakeTrouble = 'hang' | 'cut' | 'cut in the middle' | 'garbage'

export type FakeAnswer = FakeReply | FakeTrouble

/** May take its time: an answer is slow when its promise is. */
export type FakeAnswering = (request: FakeRequest) => FakeAnswer | Promise<FakeAnswer>

/** `'POST /token'` → what it answers. A path that is not there is answered 404. */
export type FakeTable = Readonly<Record<string, FakeAnswer | FakeAnswering>>

export type HttpFake = {
  origin: string
  /** What was asked, oldest first. */
  requests: FakeRequest[]
  /** The first request, or the one of this number, whether it came already or is to come. */
  request(number?: number): Promise<FakeRequest>
  /** Answers differently from now on. */
  answer(answers: FakeTable | FakeAnswering): void
  close(): Promise<void>
}

/** For tests: an HTTP server on this machine that stands in for somebody else's. */
export async function startHttpFake(answers: FakeTable | FakeAnswering): Promise<HttpFake> {
  let current = answers
  const requests: FakeRequest[] = []
  const arrivals = new EventEmitter().setMaxListeners(0)

  async function serve(message: IncomingMessage, response: ServerResponse) {
    const { pathname, searchParams } = new URL(message.url ?? '/', 'http://fake')
    const { method = 'GET', headers } = message
    const request = { method, path: pathname, query: Object.fromEntries(searchParams), headers, body: await text(message) }
    requests.push(request)
    arrivals.emit('arrival')
    respond(response, await choose(current, request))
  }

  const server = createServer((message, response) => {
    serve(message, response).catch((problem: unknown) => {
      // A caller who has gone needs no answer; a mistake of the test is told where the test will see it.
      if (!response.destroyed) respond(response, { status: 500, text: `The fake failed: ${problem}` })
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async request(number = 1) {
      while (requests.length < number) await once(arrivals, 'arrival')
      return requests[number - 1] as FakeRequest
    },
    answer(next) {
      current = next
    },
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

function choose(answers: FakeTable | FakeAnswering, request: FakeRequest): FakeAnswer | Promise<FakeAnswer> {
  if (typeof answers === 'function') return answers(request)
  const known = `${request.method} ${request.path}`
  const found = answers[known] ?? { status: 404, text: `The fake has no answer to ${known}` }
  return typeof found === 'function' ? found(request) : found
}

function respond(response: ServerResponse, answer: FakeAnswer) {
  if (answer === 'hang') return
  if (answer === 'cut') return void response.destroy()
  if (answer === 'garbage') return void response.socket?.end('\u0000 this is not HTTP \r\n\r\n')
  if (answer === 'cut in the middle') {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1000 })
    return void response.write('{"half":', () => response.destroy())
  }
  const { status = 200, headers = {}, json, text: plain = '' } = answer
  const type = json === undefined ? 'text/plain' : 'application/json'
  response.writeHead(status, { 'content-type': type, ...headers }).end(json === undefined ? plain : JSON.stringify(json))
}
