import type { IncomingMessage, ServerResponse } from 'node:http'
import { BodyTooLarge, UnreadableBody } from './body.ts'
import type { Endpoint, Incoming } from './endpoint.ts'
import { Busy, Failure, type TransportCode, Unavailable } from './failure.ts'
import type { Log } from './log.ts'
import { httpMetrics } from './metrics.ts'
import { createRoutes } from './routes.ts'
import { headersOf, type Manner, type Wire } from './serve/manner.ts'
import { answer, compileRoute, type Route } from './serve/route.ts'
import type { RequestSpan, Telemetry } from './telemetry.ts'

export type { Manner, Wire } from './serve/manner.ts'

export type ServeOptions<App> = {
  app: App
  endpoints: readonly Endpoint<App>[]
  manner: Manner<App>
  log: Log
  telemetry: Telemetry
  /** Answers a failure that an endpoint does not name with a 500: in tests, so that the documents stay true. */
  strict?: boolean
  /** Whether this process is about to end: callers are then told not to use their connection again. */
  leaving?(): boolean
}

export type Handler = (message: IncomingMessage, response: ServerResponse) => void

/** As proxies write it in their logs: the caller hung up before there was an answer. */
const callerGone = 499

const everywhere = new Set<string>([
  'bad_request',
  'bad_json',
  'request_entity_too_large',
  'validation_failed',
  'not_found',
  'method_not_allowed',
  'request_timeout',
  'unavailable',
  'unexpected_failure',
] satisfies TransportCode[])

/** Turns endpoints into the one function that answers every request of a service. */
export function createHandler<App>(options: ServeOptions<App>): Handler {
  const { app, manner, log, telemetry, leaving = () => false } = options
  const routes = createRoutes<Route<App>>()
  for (const endpoint of options.endpoints) routes.add(endpoint.method, endpoint.path, compileRoute(endpoint, manner))
  const metrics = telemetry.metrics && httpMetrics(telemetry.metrics)

  return (message, response) => {
    const started = performance.now()
    metrics?.started()
    const [asked, query] = pathAndQuery(message.url ?? '/')
    // HEAD is GET whose body node:http leaves out.
    const method = message.method === 'HEAD' ? 'GET' : (message.method ?? 'GET')
    const path = mountedPath(message.headers.host, asked, manner).find((each) => routes.find(method, each)) ?? asked
    const found = routes.find(method, path)
    const request: Incoming = {
      id: requestId(message, manner),
      method: message.method ?? 'GET',
      path,
      query,
      headers: message.headers,
      peer: message.socket.remoteAddress ?? '',
    }
    const route = found && 'target' in found ? found.target : undefined
    const pattern = route?.endpoint.path ?? 'unmatched'
    const span = telemetry.startSpan?.({
      method: request.method,
      route: pattern,
      params: found && 'params' in found && !route?.endpoint.secretPath ? traceable(found.params) : {},
      traceparent: headerText(message, 'traceparent'),
    })

    let done = false
    const finish = (wire: Wire, error?: unknown) => {
      // The deadline has answered already.
      if (done) return
      done = true
      clearTimeout(deadline)
      const status = deliver(wire)
      const seconds = (performance.now() - started) / 1000
      metrics?.finished({ method: request.method, route: route?.endpoint.path, status, seconds })
      span?.end({ status, ...(error === undefined ? {} : { error }) })
      if (!route?.endpoint.quiet || !(status in route.endpoint.reply)) tell(log, request, pattern, status, seconds, span)
    }

    const deliver = (wire: Wire): number => {
      if (response.destroyed) return callerGone
      try {
        send(wire)
        return wire.status
      } catch (problem) {
        log.error({ request_id: request.id, route: pattern, error: problem }, 'an answer could not be written')
      }
      try {
        send(manner.word(manner.fail('unexpected_failure'), request))
      } catch {
        response.destroy()
      }
      return 500
    }

    const send = (wire: Wire) => {
      const headers = headersOf(wire, { id: request.id, path, origin: message.headers.origin }, manner)
      if (leaving()) headers.connection = 'close'
      response.writeHead(wire.status, wire.reason, headers)
      response.end(wire.body)
    }

    const refuse = (thrown: unknown) => {
      const failure = settleFailure(thrown, route, request, options)
      finish(manner.word(failure, request), failure.status >= 500 ? thrown : undefined)
    }

    const respond = async (): Promise<Wire> => {
      if (request.method === 'OPTIONS') return preflight(manner, path, message, found)
      // https://www.rfc-editor.org/rfc/rfc9112#section-3.2: without a host nobody can tell whom it was meant for. A head that breaks off
      // there was cut in two, and what comes behind it is no request.
      if (message.headers.host === undefined && message.httpVersion === '1.1')
        throw manner.fail('bad_request', { headers: { connection: 'close' } })
      if (!found) throw manner.fail('not_found')
      if (!('target' in found)) throw manner.fail('method_not_allowed', { headers: { allow: allowed(found.methods) } })
      return answer(app, found.target, { request, message, params: found.params, query }, manner)
    }

    const deadline =
      manner.longestRequest > 0
        ? setTimeout(() => refuse(manner.fail('request_timeout')), manner.longestRequest * 1000)
        : undefined
    respond().then(finish, async (thrown: unknown) => {
      if (thrown instanceof BodyTooLarge) await discardRest(message)
      refuse(thrown)
    })
  }
}

function settleFailure<App>(
  thrown: unknown,
  route: Route<App> | undefined,
  request: Incoming,
  { app, manner, log, strict }: ServeOptions<App>,
): Failure {
  if (thrown instanceof BodyTooLarge) return manner.fail('request_entity_too_large', { headers: { connection: 'close' } })
  if (thrown instanceof UnreadableBody) return manner.fail('bad_json', { message: thrown.message })
  if (thrown instanceof Failure) {
    const named = route === undefined || everywhere.has(thrown.code) || route.fails.has(thrown.code)
    if (named || !strict) return thrown
    log.error(
      { request_id: request.id, route: route.endpoint.path },
      `${thrown.code} is not among the failures that the endpoint names`,
    )
    return manner.fail('unexpected_failure')
  }
  if (thrown instanceof Unavailable) {
    const line = { request_id: request.id, route: route?.endpoint.path, error: thrown }
    if (thrown instanceof Busy) log.warn(line, thrown.message)
    else log.error(line, thrown.message)
    return manner.fail('unavailable', { headers: { 'retry-after': '1' } })
  }
  // Not a refusal, so a bug of ours: the caller gets an id to ask about, the log gets the rest.
  log.error({ request_id: request.id, route: route?.endpoint.path, error: thrown }, 'request failed')
  return manner.refusalOf?.(thrown, request, app) ?? manner.fail('unexpected_failure')
}

function preflight(
  manner: Manner,
  path: string,
  message: IncomingMessage,
  found: { methods: string[] } | object | undefined,
): Wire {
  const methods = found && 'methods' in found ? allowed(found.methods as string[]) : 'OPTIONS'
  return { status: 204, headers: { allow: methods, ...manner.cors(path)?.preflight(message.headers.origin) }, body: undefined }
}

function allowed(methods: string[]): string {
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ')
}

/** A sender who is still talking does not listen, and hanging up on them would take the answer along: they get a moment to finish. */
function discardRest(message: IncomingMessage): Promise<void> {
  if (message.complete || message.destroyed) return Promise.resolve()
  return new Promise((resolve) => {
    const enough = setTimeout(resolve, 1000)
    message.once('close', () => {
      clearTimeout(enough)
      resolve()
    })
    message.resume()
  })
}

/** A proxy may ask with the whole address, which is as good as the path in it. */
function pathAndQuery(url: string): [path: string, query: string] {
  const local = url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?]*/i, '') || '/'
  const mark = local.indexOf('?')
  return mark < 0 ? [local, ''] : [local.slice(0, mark), local.slice(mark + 1)]
}

/** Paths are traced, and callers make mistakes: what could be the number of a card is left out. */
function traceable(params: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(params).filter(([, value]) => !/^\d[\d -]{8,}\d$/.test(value)))
}

/** Where a path is looked for first, when it was asked for under a host name that part of the service has to itself. */
function mountedPath(host: string | undefined, path: string, { mounts }: Manner): string[] {
  if (!mounts || mounts.size === 0 || host === undefined) return []
  const prefix = mounts.get(host.replace(/:\d+$/, '').toLowerCase())
  return prefix === undefined ? [] : [path === '/' ? prefix : prefix + path]
}

function requestId(message: IncomingMessage, { requestId }: Manner): string {
  const inherited = requestId.header === undefined ? undefined : headerText(message, requestId.header)
  return inherited !== undefined && /^[\x21-\x7e]{1,128}$/.test(inherited) ? inherited : requestId.mint()
}

function headerText(message: IncomingMessage, name: string): string | undefined {
  const value = message.headers[name.toLowerCase()]
  return Array.isArray(value) ? value[0] : value
}

/** The route, never the path or the query: those may hold tokens. */
function tell(log: Log, request: Incoming, route: string, status: number, seconds: number, span: RequestSpan | undefined) {
  log.request({
    request_id: request.id,
    method: request.method,
    route,
    status,
    ms: Math.round(seconds * 100_000) / 100,
    peer: request.peer,
    ...(span ? { trace_id: span.traceId } : {}),
  })
}
