import type { IncomingHttpHeaders } from 'node:http'
import Type, { type Static, type TObject, type TSchema } from 'typebox'

/** A request as endpoints and callers see it, once its id is settled and before its body is read. */
export type Incoming = {
  id: string
  method: string
  /** The path as asked for, without the query. */
  path: string
  /** The query as asked for, without its question mark. It may hold secrets: for stories that hand parts of it on. */
  query: string
  headers: IncomingHttpHeaders
  /** The address of the peer; behind a proxy that is the proxy. */
  peer: string
}

export type SecurityScheme = { name: string; scheme: Record<string, unknown> }

/** Who may call: finds out who is asking, or throws the refusal. */
export type Caller<App, Who> = {
  security: SecurityScheme | undefined
  /** Other ways to say who one is, any of which will do instead. */
  alternatives?: readonly SecurityScheme[]
  fails: readonly string[]
  identify(app: App, request: Incoming): Who | Promise<Who>
}

/** Every way in which somebody may say who they are; none where nobody has to. */
export function schemesOf({ security, alternatives = [] }: Pick<Caller<never, unknown>, 'security' | 'alternatives'>) {
  return security ? [security, ...alternatives] : []
}

/** Everybody may call. */
export const anyone: Caller<unknown, undefined> = { security: undefined, fails: [], identify: () => undefined }

/** The shape of an answer without a body. */
export const Nothing = Type.Void()

export type Replies = Readonly<Record<number, TSchema>>

/** An answer whose status or headers are not the plain ones. */
export class Answer<Body = unknown> {
  readonly status: number
  readonly body: Body
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, body: Body, headers: Readonly<Record<string, string>> = {}) {
    this.status = status
    this.body = body
    this.headers = headers
  }
}

export type Given<Who, Params extends TSchema, Query extends TSchema, Body extends TSchema, Subject = undefined> = {
  who: Who
  subject: Subject
  params: Static<Params>
  query: Static<Query>
  body: Static<Body>
  request: Incoming
}

type Declaration<
  App,
  Code extends string,
  Who,
  Params extends TObject,
  Query extends TObject,
  Body extends TSchema,
  R extends Replies,
  Subject,
> = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** With `{placeholder}`s, as in the published documents. */
  path: string
  summary: string
  /** One paragraph more, for the documents. */
  description?: string
  tag: string
  caller: Caller<App, Who>
  params?: Params
  query?: Query
  body?: Body
  reply: R
  fails: readonly Code[]
  /** Reads bodies as their type says, forms included, where the service otherwise reads JSON alone. */
  forms?: true
  /** Asked too often to be worth a line in the log. */
  quiet?: true
  /** Says the same to everybody as long as the process lives: the story is told once, and what was written is kept. */
  constant?: true
  /** What stands in its path is somebody's secret, and stays out of traces. */
  secretPath?: true
  /** What the path names, as far as the caller may see it, or the refusal: looked up before query and body are found fault with. */
  subject?(app: App, asked: { who: Who; params: Static<Params>; request: Incoming }): Subject | Promise<Subject>
  /**
   * Throws what is refused before the input is found fault with, for endpoints whose story looks up by itself what the path names. Asked
   * only when the input does not fit, so that input that does costs nothing more.
   */
  firstRefusal?(app: App, asked: { who: Who; params: Static<Params> }): Promise<unknown>
  run(app: App, given: Given<Who, Params, Query, Body, Subject>): Result<R> | Promise<Result<R>>
}

type Result<R extends Replies> = Handed<Static<R[keyof R & number]>> | Answer<Handed<Static<R[keyof R & number]>>>

/** What a story hands over: where its shape lets a property be missing, null and undefined will do, for they are left out. */
type Handed<T> = T extends Date
  ? T
  : T extends readonly (infer Element)[]
    ? readonly Handed<Element>[]
    : T extends object
      ? { [K in keyof T]: object extends Pick<T, K> ? Handed<T[K]> | null | undefined : Handed<T[K]> }
      : T

/** An endpoint with its types taken off: what server, documents and tests read. */
export type Endpoint<App> = {
  method: string
  path: string
  summary: string
  description?: string
  tag: string
  caller: Caller<App, unknown>
  params?: TObject
  query?: TObject
  body?: TSchema
  reply: Replies
  fails: readonly string[]
  forms?: true
  quiet?: true
  constant?: true
  secretPath?: true
  subject?(app: App, asked: { who: never; params: unknown; request: Incoming }): unknown
  firstRefusal?(app: App, asked: { who: never; params: unknown }): Promise<unknown>
  run(app: App, given: Given<never, TSchema, TSchema, TSchema, never>): unknown
}

/** Gives a service its `endpoint` function, which knows the service's `App` and the codes of its failures table. */
export function endpointFor<App, Code extends string>() {
  return <
    Who,
    R extends Replies,
    Params extends TObject = TObject,
    Query extends TObject = TObject,
    Body extends TSchema = TSchema,
    Subject = undefined,
  >(
    declaration: Declaration<App, Code, Who, Params, Query, Body, R, Subject>,
  ): Endpoint<App> => declaration as unknown as Endpoint<App>
}
