import { lookup } from 'node:dns/promises'
import type { IncomingHttpHeaders } from 'node:http'
import type { Agent, Dispatcher, request as Request } from 'undici'
import type { guardedConnector, Resolve } from './fetch/connector.ts'
import { OutsideTrouble, troubleOf } from './fetch/trouble.ts'

export { OutsideTrouble, type TroubleKind } from './fetch/trouble.ts'

export type FetchSettings = {
  /** Whether addresses that are not on the public internet may be spoken to: this machine, its network, metadata services. */
  allowPrivate: boolean
  /** Seconds from the first look-up of the name to the last byte of the answer. */
  timeout: number
  userAgent: string
  /** How names become addresses; the system's way where nothing is said. */
  resolve?: Resolve
}

export type FetchOptions = {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD'
  headers?: Readonly<Record<string, string>>
  body?: string | Uint8Array
  timeout?: number
  /** The most bytes that the answer's body may have. */
  limit?: number
  /** How errors call this request, e.g. `twilio: POST /Messages.json`, where the host says little or the path too much. */
  asked?: string
}

export type Fetched = {
  status: number
  headers: IncomingHttpHeaders
  text: string
  /** Throws an `OutsideTrouble` when the body is no JSON. */
  json<T = unknown>(): T
  /** What to throw when one cannot go on with an answer of this status: *api.github.com: GET /user answered 503*. */
  trouble(): OutsideTrouble
}

/**
 * Asks an outsider over HTTP. Every answer is handed back, whatever its status; a redirect is an answer like any other and is
 * never followed. What keeps an answer from coming is an `OutsideTrouble`.
 */
export type Fetch = (url: string, options?: FetchOptions) => Promise<Fetched>

const mebibyte = 1_048_576

export function createFetch(settings: FetchSettings): Fetch & { close(): Promise<void> } {
  const resolve = settings.resolve ?? ((host) => lookup(host, { all: true }))
  let opened: Promise<Outside> | undefined
  const open = () => {
    opened ??= openOutside({ allowPrivate: settings.allowPrivate, resolve })
    return opened
  }

  const fetch: Fetch = async (text, options = {}) => {
    const { method = 'GET', headers = {}, body = null, limit = mebibyte, timeout = settings.timeout } = options
    const url = addressOf(text, method, options.asked)
    const asked = options.asked ?? `${url.host}: ${method} ${url.pathname}`
    // Before the clock starts: that a process asks for the first time is not the outsider's fault.
    const { request, agent } = await open()
    const late = Promise.withResolvers<never>()
    const giveUp = new AbortController()
    const timer = setTimeout(() => {
      // First the word, then the deed: what breaks off because of it is no news. While a name is looked up there is nothing to break off.
      late.reject(new OutsideTrouble('timeout', asked, `took longer than ${timeout} s`))
      giveUp.abort()
    }, timeout * 1000)

    const ask = async () => {
      const all = { 'user-agent': settings.userAgent, ...headers }
      const answer = await request(url, { dispatcher: agent, method, headers: all, body, signal: giveUp.signal })
      return fetched(asked, answer, await read(asked, answer, limit))
    }
    try {
      return await Promise.race([ask(), late.promise])
    } catch (problem) {
      throw troubleOf(problem, asked)
    } finally {
      clearTimeout(timer)
    }
  }
  return Object.assign(fetch, { close: async () => (await opened)?.agent.destroy() })
}

type Outside = { request: typeof Request; agent: Agent }

/** Loaded when somebody outside is first asked: it takes a sixth of the time in which a process starts. */
async function openOutside(settings: Parameters<typeof guardedConnector>[0]): Promise<Outside> {
  const { Agent, request } = await import('undici')
  const { guardedConnector } = await import('./fetch/connector.ts')
  const connect = guardedConnector(settings)
  // One limit in time for the whole of a request takes the place of those for its parts.
  return { request, agent: new Agent({ connect, headersTimeout: 0, bodyTimeout: 0 }) }
}

function addressOf(text: string, method: string, asked: string | undefined): URL {
  const url = URL.parse(text)
  const forbidden = (what: string) => new OutsideTrouble('forbidden', asked ?? `${url?.host || 'an address'}: ${method}`, what)
  // The address itself is not repeated: what is wrong with it may be a secret in the wrong place.
  if (!url) throw forbidden('has no address that can be understood')
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw forbidden('is not an http or https address')
  if (url.username !== '' || url.password !== '') throw forbidden('has credentials in its address')
  return url
}

async function read(asked: string, { statusCode, headers, body }: Dispatcher.ResponseData, limit: number): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  const tooLarge = () =>
    new OutsideTrouble('too-large', asked, `answered ${statusCode} with more than ${limit} bytes`, statusCode)
  if (Number(headers['content-length']) > limit) {
    // Hanging up is meant: nobody is left to hear of it.
    body.on('error', () => {}).destroy()
    throw tooLarge()
  }
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > limit) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function fetched(asked: string, { statusCode: status, headers }: Dispatcher.ResponseData, text: string): Fetched {
  return {
    status,
    headers,
    text,
    json() {
      try {
        return JSON.parse(text)
      } catch {
        // The parser's own complaint quotes the body.
        throw new OutsideTrouble('nonsense', asked, `answered ${status} with something that is not JSON`, status)
      }
    },
    trouble: () => new OutsideTrouble('status', asked, `answered ${status}`, status),
  }
}
