import { type Agent, type IncomingMessage, request } from 'node:http'
import fc from 'fast-check'

/** What an endpoint says about its input, as far as requests are made from it. */
export type Called = {
  method: string
  path: string
  caller: { security: { name: string } | undefined }
  query?: unknown
  body?: unknown
  params?: unknown
}

/** A request whose head is fine and that comes with what the endpoint asks for, or something like it. */
export type FuzzCall = {
  method: string
  /** With its query. */
  path: string
  headers: Record<string, string>
  /** Undefined for none; a text is sent as it is. */
  body: Record<string, unknown> | string | Buffer | undefined
  /** How the body is written. */
  encoding: 'json' | 'form'
}

type Shape = {
  type?: string
  properties?: Record<string, Shape>
  required?: readonly string[]
  items?: Shape
  anyOf?: Shape[]
  enum?: readonly unknown[]
  const?: unknown
}

/** What somebody who knows a service would send it. */
export type Vocabulary = {
  /**
   * By the names that fields, parameters and placeholders go by: `/me name` is that of one path alone, and `card.number` goes before
   * `number`.
   */
  byName: Readonly<Record<string, fc.Arbitrary<unknown>>>
  /** What few requests come with, or what does not go together with the rest. */
  seldom: ReadonlySet<string>
  /** Names that no shape has. */
  strangeNames: readonly string[]
  /** Of objects whose fields have no shape. */
  objects: fc.Arbitrary<unknown>
  /** Makes the fields of a request fit each other, for all but few values of `chance`, which is at most 20. */
  tidy(fields: Record<string, unknown>, chance: number): void
  authorization(called: Called): fc.Arbitrary<string>
  headers: fc.Arbitrary<Record<string, string>>
  /** What one endpoint wants besides. */
  headersFor?(called: Called): fc.Arbitrary<Record<string, string>>
  /** Bodies that are none. */
  broken: fc.Arbitrary<string | Buffer>
  encoding: fc.Arbitrary<FuzzCall['encoding']> | ((called: Called) => fc.Arbitrary<FuzzCall['encoding']>)
}

/**
 * What only a running service can give: `$refresh:7` stands for the seventh of the refresh tokens that were heard of so far. Whoever sends
 * the request puts them in.
 */
export const heard = (kind: string) => fc.nat(50).map((number) => `$${kind}:${number}`)
const heardOf = /^\$(\w+):(\d+)$/

/** What is good gets a request on its way; what is bad is then bad in one place. */
export const usually =
  (weight: number) =>
  <T>(good: fc.Arbitrary<T>, bad: fc.Arbitrary<T>) =>
    fc.oneof({ weight, arbitrary: good }, { weight: 1, arbitrary: bad })

export function rarely<T>(arbitrary: fc.Arbitrary<T>, otherwise: T): fc.Arbitrary<T> {
  return fc.oneof({ weight: 12, arbitrary: fc.constant(otherwise) }, { weight: 1, arbitrary })
}

export const texts = (...given: string[]) => fc.constantFrom(...given)

/** What node:http lets a client say. */
export const sayable = fc.stringMatching(/^[\x21-\x7e\xa1-\xff]{0,30}$/)

/** What `$raw` holds is sent as it is: some of it no program would write. */
export const raw = (text: string) => ({ $raw: text })

export const deep = fc.constantFrom(50, 3_000, 20_000).map((depth) => raw(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`))

const hostile = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, 0, -1, 1e308, '', ' ', '\u0000', '\ud800', 'x'.repeat(300), [], [[]], {}),
  fc.constantFrom<unknown>('%00', "' or 1=1 --", '../..', '#{7*7}', '{{ .Token }}', '<script>', ['a'], { a: 1 }),
  fc.jsonValue({ maxDepth: 2 }),
)

/** Makes requests to an endpoint from what it says it takes. */
export function callMaker(vocabulary: Vocabulary): (called: Called) => fc.Arbitrary<FuzzCall> {
  const { byName, seldom, strangeNames, objects, tidy } = vocabulary

  function oneFor(route: string, place: string, shape: Shape): fc.Arbitrary<unknown> {
    const name = place.slice(place.lastIndexOf('.') + 1)
    const arbitrary = byName[`${route} ${place}`] ?? byName[place] ?? byName[name] ?? ofShape(route, place, shape)
    return fc.oneof({ weight: 60, arbitrary }, { weight: 1, arbitrary: hostile })
  }

  function ofShape(route: string, place: string, shape: Shape): fc.Arbitrary<unknown> {
    if ('const' in shape) return fc.constant(shape.const)
    if (shape.enum) return fc.constantFrom(...shape.enum)
    if (shape.anyOf) return fc.oneof(...shape.anyOf.map((each) => ofShape(route, place, each)))
    switch (shape.type) {
      case 'boolean':
        return fc.boolean()
      case 'integer':
        return fc.oneof(fc.integer({ min: -2, max: 100 }), fc.maxSafeInteger())
      case 'number':
        return fc.double()
      case 'array':
        return fc.array(ofShape(route, place, shape.items ?? {}), { maxLength: 3 })
      case 'string':
        return fc.oneof(fc.string({ maxLength: 20 }), fc.string({ unit: 'binary', maxLength: 20 }))
      case 'object':
        return shape.properties ? fieldsOf(route, `${place}.`, shape) : objects
      default:
        return fc.jsonValue({ maxDepth: 2 })
    }
  }

  /** Each of them is there or not. */
  function fieldsOf(route: string, place: string, shape: Shape | undefined): fc.Arbitrary<Record<string, unknown>> {
    const fields = Object.entries(shape?.properties ?? {}).map(([name, each]) => {
      const value = oneFor(route, place + name, each).map((value) => [[name, value]])
      const [there, missing] = shape?.required?.includes(name) ? [30, 1] : seldom.has(name) ? [1, 5] : [3, 1]
      return fc.oneof({ weight: there, arbitrary: value }, { weight: missing, arbitrary: fc.constant([]) })
    })
    const more = fc.dictionary(texts(...strangeNames), hostile, { maxKeys: 1 })
    return fc.tuple(fc.tuple(...fields), fc.nat(20), rarely(more, {})).map(([pairs, chance, others]) => {
      const all: Record<string, unknown> = { ...Object.fromEntries(pairs.flat()), ...others }
      tidy(all, chance)
      return all
    })
  }

  return (called) => {
    const { method, path, params, query, body } = called
    const placeholders = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
    const places = fc.record(
      Object.fromEntries(
        placeholders.map((name) => [name, oneFor(path, name, (params as Shape)?.properties?.[name] ?? { type: 'string' })]),
      ),
    )
    return fc
      .record({
        places,
        query: fieldsOf(path, '', query as Shape | undefined),
        headers: vocabulary.headers,
        authorization: vocabulary.authorization(called),
        own: vocabulary.headersFor?.(called) ?? fc.constant({}),
        encoding: typeof vocabulary.encoding === 'function' ? vocabulary.encoding(called) : vocabulary.encoding,
        body: body
          ? fc.oneof(
              { weight: 30, arbitrary: fieldsOf(path, '', body as Shape) as fc.Arbitrary<FuzzCall['body']> },
              { weight: 1, arbitrary: vocabulary.broken as fc.Arbitrary<FuzzCall['body']> },
            )
          : fc.constant(undefined),
      })
      .map(({ places, query, headers, own, authorization, ...rest }) => ({
        method,
        path: path.replace(/\{(\w+)\}/g, (_, name: string) => inUrl(places[name])) + queryOf(query),
        headers: { ...headers, ...own, authorization },
        ...rest,
      }))
  }
}

function queryOf(query: Record<string, unknown>): string {
  const pairs = pairsOf(query)
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`
}

/** `filter[test]=yes`, as clients write what is inside of something. */
function pairsOf(fields: object, within = ''): string[] {
  return Object.entries(fields).flatMap(([name, value]) => {
    const own = encodeURIComponent((Array.isArray(fields) ? '' : name).toWellFormed())
    const place = within === '' ? own : `${within}[${own}]`
    if (typeof value === 'object' && value !== null && !('$raw' in value) && Object.keys(value).length > 0)
      return pairsOf(value, place)
    return [`${place}=${inUrl(value)}`]
  })
}

/** Halves of characters have no place in a URL. */
function inUrl(value: unknown): string {
  const text = typeof value === 'string' ? value : (rawOf(value) ?? JSON.stringify(value) ?? '')
  return text.match(heardOf) ? text : encodeURIComponent(text.toWellFormed())
}

function rawOf(value: unknown): string | undefined {
  const text = (value as { $raw?: unknown } | null)?.$raw
  return typeof text === 'string' ? text : undefined
}

/** Whole numbers from 0 to below another, the same ones for the same seed. */
export function luckOf(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

/** What answers and mails gave away so far, for requests to come. */
export type Pools = Record<string, string[]>

/** Enough to choose from, and no more: what is older is tried often enough. */
export function remember(pools: Pools, kind: string, value: unknown): void {
  const pool = pools[kind] ?? []
  if (typeof value !== 'string' || value === '') return
  pool.push(value)
  if (pool.length > 40) pool.shift()
}

/** The request with all that was heard of put in. */
export function settled(call: FuzzCall, pools: Pools): FuzzCall {
  const given = (kind: string, number: string) => {
    const pool = pools[kind] ?? []
    return pool[Number(number) % pool.length] ?? ''
  }
  const settle = (value: unknown): unknown => {
    if (typeof value === 'object' && value !== null && !Buffer.isBuffer(value))
      return Array.isArray(value)
        ? value.map(settle)
        : Object.fromEntries(Object.entries(value).map(([name, part]) => [name, settle(part)]))
    const [, kind, number] = (typeof value === 'string' && heardOf.exec(value)) || []
    return kind === undefined || number === undefined ? value : given(kind, number)
  }
  return {
    ...call,
    path: call.path.replace(/\$(\w+):(\d+)/g, (_, kind, number) => encodeURIComponent(given(kind, number))),
    headers: settle(call.headers) as Record<string, string>,
    body: settle(call.body) as FuzzCall['body'],
  }
}

export type Answered = { status: number; text: string; headers: IncomingMessage['headers'] }

/** Sends a request; once more where the other side was just about to hang up on a connection that had been idle. */
export async function sendCall(origin: string, agent: Agent, call: FuzzCall): Promise<Answered> {
  try {
    return await sendOnce(origin, agent, call)
  } catch (problem) {
    if (!(problem instanceof Reused)) throw problem
    return sendOnce(origin, agent, call)
  }
}

class Reused extends Error {}

function sendOnce(origin: string, agent: Agent, { method, path, headers, body, encoding }: FuzzCall): Promise<Answered> {
  const content = encoding === 'json' ? textOf(body) : formOf(body)
  const type = encoding === 'json' ? 'application/json' : 'application/x-www-form-urlencoded'
  const own = content === undefined ? {} : { 'content-type': type, 'content-length': String(Buffer.byteLength(content)) }
  return new Promise((resolve, reject) => {
    const sent = request(`${origin}${path}`, { method, agent, headers: { ...own, ...headers } }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, text: String(Buffer.concat(chunks)), headers: response.headers }),
      )
    })
    sent.on('error', (problem: NodeJS.ErrnoException) =>
      reject(sent.reusedSocket && problem.code === 'ECONNRESET' ? new Reused('hung up on', { cause: problem }) : problem),
    )
    sent.end(content)
  })
}

function formOf(body: FuzzCall['body']): string | Buffer | undefined {
  return typeof body === 'object' && !Buffer.isBuffer(body) ? pairsOf(body).join('&') : body
}

function textOf(body: FuzzCall['body']): string | Buffer | undefined {
  if (typeof body !== 'object' || Buffer.isBuffer(body)) return body
  const raws: string[] = []
  const text = JSON.stringify(body, (_, value) => {
    const held = rawOf(value)
    if (held === undefined) return value
    raws.push(held)
    return `$raw ${raws.length - 1}`
  })
  return text.replace(/"\$raw (\d+)"/g, (_, index) => raws[Number(index)] ?? '')
}
