import type { IncomingMessage } from 'node:http'
import type { TSchema } from 'typebox'
import { parseForm, parseFormBytes, parseJson, readBytes, UnreadableBody } from '../body.ts'
import { Answer, type Endpoint, type Incoming } from '../endpoint.ts'
import { compileInput, compileReply, type Problem, type Settle } from '../shape.ts'
import type { Manner, Place, Wire } from './manner.ts'

/** An endpoint with its shapes compiled. */
export type Route<App> = {
  endpoint: Endpoint<App>
  params: Settle<unknown> | undefined
  query: Settle<unknown> | undefined
  body: Settle<unknown> | undefined
  replies: Map<number, Reply>
  plainStatus: number
  fails: Set<string>
  /** What an endpoint that always says the same has said. */
  kept?: Wire
}

type Reply = { write(value: unknown): string | Buffer; contentType: string }

export function compileRoute<App>(endpoint: Endpoint<App>, manner: Manner): Route<App> {
  const compile = (schema: TSchema | undefined) => (schema ? compileInput(schema, manner.input) : undefined)
  // Its answer is kept before anybody is asked who they are or what they want.
  if (endpoint.constant && (endpoint.caller.security || endpoint.params || endpoint.query || endpoint.body))
    throw new Error(`${endpoint.method} ${endpoint.path} cannot say the same to everybody: it asks who is calling, or for input`)
  const statuses = Object.keys(endpoint.reply).map(Number)
  const bodied = statuses.filter((status) => (endpoint.reply[status] as { type?: string }).type !== 'void')
  return {
    endpoint,
    params: compile(endpoint.params),
    query: compile(endpoint.query),
    body: compile(endpoint.body),
    replies: new Map(bodied.map((status) => [status, replyOf(endpoint.reply[status] as TSchema, manner)])),
    plainStatus: Math.min(...statuses),
    fails: new Set([...endpoint.fails, ...endpoint.caller.fails]),
  }
}

/** JSON, unless the shape says that the value is a text of another kind, such as a page; it may have been compressed already. */
function replyOf(schema: TSchema, manner: Manner): Reply {
  const { contentMediaType } = schema as { contentMediaType?: string }
  if (contentMediaType)
    return {
      write: (value) => (Buffer.isBuffer(value) ? value : String(value)),
      contentType: `${contentMediaType}; charset=utf-8`,
    }
  const write = compileReply(schema)
  return { write: (value) => write(value) + manner.ending, contentType: manner.contentType }
}

const noHeaders: Readonly<Record<string, string>> = {}

/** The way of a request: who is asking, what was sent, the story, what may leave. */
export async function answer<App>(
  app: App,
  route: Route<App>,
  asked: { request: Incoming; message: IncomingMessage; params: Record<string, string>; query: string },
  manner: Manner,
): Promise<Wire> {
  if (route.kept) return route.kept
  const { endpoint } = route
  const { request, message, params, query } = asked
  const bytes = route.body ? await readBytes(message, manner.bodyLimit) : undefined
  const who = await endpoint.caller.identify(app, request)
  const named = route.params ? settleInput(route.params, 'params', params, 'text', manner) : params
  const subject = await endpoint.subject?.(app, { who: who as never, params: named, request })
  const readQuery = () => (route.query ? settleInput(route.query, 'query', parseQuery(query, manner), 'text', manner) : {})
  const readBody = () =>
    route.body && bytes
      ? settleBody(route.body, bytes, message, endpoint.forms ? { ...manner, bodies: 'declared' } : manner)
      : undefined
  const given = { who: who as never, subject: subject as never, params: named, query: {}, body: undefined as unknown, request }
  try {
    given.query = readQuery() as object
    given.body = readBody()
  } catch (problem) {
    await endpoint.firstRefusal?.(app, { who: who as never, params: named })
    throw problem
  }
  const result = await endpoint.run(app, given)
  const status = result instanceof Answer ? result.status : route.plainStatus
  const value = result instanceof Answer ? result.body : result
  const reply = route.replies.get(status)
  const headers = result instanceof Answer ? result.headers : noHeaders
  const wire: Wire = reply
    ? { status, headers, body: reply.write(value), contentType: reply.contentType }
    : { status, headers, body: undefined }
  if (endpoint.constant) route.kept = wire
  return wire
}

function settleBody(settle: Settle<unknown>, bytes: Buffer, message: IncomingMessage, manner: Manner): unknown {
  const encoding = message.headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity')
    throw new UnreadableBody(`content encoding ${encoding.slice(0, 40)} is not read here`)
  // Most clients send none with a DELETE, whatever a body could say.
  const mayBeEmpty = manner.bodies === 'declared' || message.method === 'DELETE'
  if (bytes.length === 0 && mayBeEmpty) return settleInput(settle, 'body', {}, 'json', manner)
  if (manner.bodies === 'json') return settleInput(settle, 'body', parseJson(bytes), 'json', manner)
  const type = message.headers['content-type']?.toLowerCase() ?? 'application/json'
  if (type.includes('json')) return settleInput(settle, 'body', parseJson(bytes), 'json', manner)
  if (type.startsWith('application/x-www-form-urlencoded'))
    return settleInput(settle, 'body', parseFormBytes(bytes), 'text', manner)
  throw new UnreadableBody('send it as application/json or application/x-www-form-urlencoded')
}

function parseQuery(text: string, manner: Manner): Record<string, unknown> {
  try {
    return parseForm(text)
  } catch (problem) {
    throw manner.misfit('query', [
      { path: '', kind: 'value', message: `The query cannot be read: ${(problem as Error).message}` },
    ])
  }
}

function settleInput(settle: Settle<unknown>, place: Place, input: unknown, source: 'json' | 'text', manner: Manner): unknown {
  const problems: Problem[] = []
  const value = settle(input, source, problems)
  if (problems.length > 0) throw manner.misfit(place, problems)
  return value
}
