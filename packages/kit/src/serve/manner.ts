import type { Cors } from '../cors.ts'
import type { Incoming } from '../endpoint.ts'
import type { Fail, Failure, TransportCode } from '../failure.ts'
import type { InputRules, Problem } from '../shape.ts'

/** An answer as it goes out. */
export type Wire = {
  status: number
  headers: Readonly<Record<string, string>>
  body: string | Buffer | undefined
  contentType?: string
  /** Instead of the usual words for the status, for clients that read these. */
  reason?: string | undefined
}

export type Place = 'params' | 'query' | 'body'

/** How one service speaks: everything about its wire that is not the business of a single endpoint. */
export type Manner<App = unknown> = {
  input: InputRules
  /** `json`: whatever the content type says. `declared`: as it says, forms included, an empty body being an empty object. */
  bodies: 'json' | 'declared'
  bodyLimit: number
  fail: Fail<TransportCode>
  /** Which failure an input that does not fit its shape amounts to. */
  misfit(place: Place, problems: readonly Problem[]): Failure
  /** What a caller is told of something that is no failure of ours; it is logged like every bug. Undefined: no more than of every bug. */
  refusalOf?(thrown: unknown, request: Incoming, app: App): Failure | undefined
  /** How a failure is written on the wire. */
  word(failure: Failure, request: Incoming): Wire
  contentType: string
  /** What follows a JSON body. */
  ending: string
  headers: Readonly<Record<string, string>>
  /** Which pages of other origins may call what is at a path; undefined where none may. */
  cors(path: string): Cors | undefined
  /** Host names of our own, by which part of the service stands at their root: a path is looked for there first. */
  mounts?: ReadonlyMap<string, string>
  requestId: { header: string | undefined; mint(): string }
  longestRequest: number
}

export type AnswerHeaders = Record<string, string | number>

/** The headers of every answer, and those of this one. */
export function headersOf(
  wire: Wire,
  request: { id: string; path: string; origin: string | undefined },
  manner: Manner,
): AnswerHeaders {
  const headers: AnswerHeaders = { ...manner.headers, 'x-request-id': request.id }
  manner.cors(request.path)?.decorate(request.origin, headers)
  if (wire.body !== undefined) {
    headers['content-type'] = wire.contentType ?? manner.contentType
    headers['content-length'] = Buffer.byteLength(wire.body)
  } else if (wire.status !== 204 && wire.status !== 304) headers['content-length'] = 0
  return Object.assign(headers, wire.headers)
}
