import type { Problem } from './shape.ts'

/** A service's failures: code → status and message. Every refusal that a caller can meet stands in one such table. */
export type FailureTable = Readonly<Record<string, readonly [status: number, message: string]>>

/** What `kit/serve` itself may have to refuse; every service's table words them. */
export type TransportCode =
  | 'bad_request'
  | 'bad_json'
  | 'request_entity_too_large'
  | 'validation_failed'
  | 'not_found'
  | 'method_not_allowed'
  | 'request_timeout'
  | 'unavailable'
  | 'unexpected_failure'

export type FailureDetails = {
  /** Instead of the table's message, where the situation has more to say. */
  message?: string
  /** Instead of the table's status, where the reference answers one code with several. */
  status?: number
  problems?: readonly Problem[]
  headers?: Readonly<Record<string, string>>
  /** What the body says besides, for programs that can make use of it. */
  more?: Readonly<Record<string, unknown>>
}

/** A refusal that is meant for the caller. Whatever else is thrown is a bug. */
export class Failure extends Error {
  readonly code: string
  readonly status: number
  readonly problems: readonly Problem[]
  readonly headers: Readonly<Record<string, string>>
  readonly more: Readonly<Record<string, unknown>>

  constructor(code: string, status: number, message: string, details: FailureDetails = {}) {
    super(message)
    this.code = code
    this.status = status
    this.problems = details.problems ?? []
    this.headers = details.headers ?? {}
    this.more = details.more ?? {}
  }
}

/** Something that we cannot do without does not answer: the caller may try again, and there is no bug to look for. */
export class Unavailable extends Error {}

/** There is more to do at the moment than we take on: nothing is broken, and nobody has to be woken. */
export class Busy extends Unavailable {}

export type Fail<Code extends string> = (code: Code, details?: FailureDetails) => Failure

/** `throw fail('user_already_exists')`: a code that is not in the table does not compile. */
export function failures<const Table extends FailureTable>(table: Table): Fail<keyof Table & string> {
  return (code, details = {}) => {
    const [status, message] = table[code] as readonly [number, string]
    return new Failure(code, details.status ?? status, details.message ?? message, details)
  }
}
