import { EventEmitter, once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'

type Attribute = string | number | boolean | Attribute[]
type Attributes = Record<string, Attribute>

export type ReceivedSpan = {
  traceId: string
  spanId: string
  parentSpanId: string
  traceState: string
  name: string
  /** 2 is a server. */
  kind: number
  attributes: Attributes
  resource: Attributes
  /** 0 unset, 1 fine, 2 an error. */
  status: number
  /** Nanoseconds since the epoch. */
  start: bigint
  end: bigint
}

type Point = { attributes: Attributes; start: bigint; time: bigint }
export type ReceivedMetric = { name: string; description: string; unit: string; resource: Attributes } & (
  | { kind: 'gauge'; points: (Point & { value: number })[] }
  | { kind: 'sum'; monotonic: boolean; cumulative: boolean; points: (Point & { value: number })[] }
  | {
      kind: 'histogram'
      cumulative: boolean
      points: (Point & { count: number; sum: number; counts: number[]; bounds: number[] })[]
    }
)

export type OtlpReceiver = {
  url: string
  spans(): ReceivedSpan[]
  /** Every export's metrics, oldest first: one that was pushed twice is here twice. */
  metrics(): ReceivedMetric[]
  /** The headers of every export that was understood. */
  headers(): IncomingHttpHeaders[]
  /** What was wrong with those that were not; they were answered 400. */
  refusals(): string[]
  /** The first span that fits, whether it came already or is to come. */
  nextSpan(fits: (span: ReceivedSpan) => boolean): Promise<ReceivedSpan>
  nextMetric(fits: (metric: ReceivedMetric) => boolean): Promise<ReceivedMetric>
  close(): Promise<void>
}

/** For tests: a collector that takes OTLP over HTTP (https://opentelemetry.io/docs/specs/otlp/) and reads it strictly. */
export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = []
  const metrics: ReceivedMetric[] = []
  const headers: IncomingHttpHeaders[] = []
  const refusals: string[] = []
  const arrivals = new EventEmitter()

  async function take(request: IncomingMessage): Promise<void> {
    const type = request.headers['content-type']
    if (request.method !== 'POST' || type !== 'application/x-protobuf') throw new Error(`${request.method} of ${type}`)
    const sent = await buffer(request)
    const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent
    if (request.url === '/v1/traces') spans.push(...readExport(body, readSpan))
    else if (request.url === '/v1/metrics') metrics.push(...readExport(body, readMetric))
    else throw new Error(`nothing is taken at ${request.url}`)
    headers.push(request.headers)
  }

  const server = createServer((request, response) => {
    take(request).then(
      () => {
        response.writeHead(200, { 'Content-Type': 'application/x-protobuf' }).end()
        arrivals.emit('arrival')
      },
      (error: Error) => {
        refusals.push(error.message)
        response.writeHead(400).end(error.message)
      },
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  async function next<T>(items: T[], fits: (item: T) => boolean): Promise<T> {
    for (;;) {
      const found = items.find(fits)
      if (found !== undefined) return found
      await once(arrivals, 'arrival')
    }
  }

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: () => spans,
    metrics: () => metrics,
    headers: () => headers,
    refusals: () => refusals,
    nextSpan: (fits) => next(spans, fits),
    nextMetric: (fits) => next(metrics, fits),
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

/** https://github.com/open-telemetry/opentelemetry-proto: resources hold scopes, which hold the spans or metrics. */
function readExport<T>(body: Buffer, readItem: (item: Buffer, resource: Attributes) => T): T[] {
  return readFields(body, [1])
    .messages(1)
    .flatMap((described) => {
      const { messages } = readFields(described, [1, 2, 3])
      const resource = readAttributes(messages(1).flatMap((each) => readFields(each, [1, 2]).messages(1)))
      const items = messages(2).flatMap((scope) => readFields(scope, [1, 2, 3]).messages(2))
      return items.map((item) => readItem(item, resource))
    })
}

function readSpan(bytes: Buffer, resource: Attributes): ReceivedSpan {
  const field = readFields(bytes, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16])
  const [status] = field.messages(15)
  return {
    traceId: field.hex(1, 16),
    spanId: field.hex(2, 8),
    traceState: field.text(3),
    parentSpanId: field.has(4) ? field.hex(4, 8) : '',
    name: field.text(5),
    kind: field.integer(6),
    start: field.fixed(7),
    end: field.fixed(8),
    attributes: readAttributes(field.messages(9)),
    status: status ? readFields(status, [2, 3]).integer(3) : 0,
    resource,
  }
}

function readMetric(bytes: Buffer, resource: Attributes): ReceivedMetric {
  const field = readFields(bytes, [1, 2, 3, 5, 7, 9])
  const named = { name: field.text(1), description: field.text(2), unit: field.text(3), resource }
  const [content] = [...field.messages(5), ...field.messages(7), ...field.messages(9)]
  if (!content) throw new Error(`the metric ${named.name} has no data`)
  const data = readFields(content, [1, 2, 3])
  const points = data.messages(1)
  const cumulative = data.integer(2) === 2
  if (field.has(9)) return { ...named, kind: 'histogram', cumulative, points: points.map(readHistogramPoint) }
  if (field.has(5)) return { ...named, kind: 'gauge', points: points.map(readNumberPoint) }
  return { ...named, kind: 'sum', cumulative, monotonic: data.integer(3) === 1, points: points.map(readNumberPoint) }
}

function readNumberPoint(bytes: Buffer) {
  const field = readFields(bytes, [2, 3, 4, 6, 7])
  const attributes = readAttributes(field.messages(7))
  const value = field.has(6) ? Number(BigInt.asIntN(64, field.fixed(6))) : field.double(4)
  return { attributes, start: field.fixed(2), time: field.fixed(3), value }
}

function readHistogramPoint(bytes: Buffer) {
  const field = readFields(bytes, [2, 3, 4, 5, 6, 7, 9])
  const counts = field.packed(6).map((each) => Number(each.readBigUInt64LE()))
  const bounds = field.packed(7).map((each) => each.readDoubleLE())
  if (counts.length !== bounds.length + 1) throw new Error('a histogram has one count more than bounds')
  const attributes = readAttributes(field.messages(9))
  return {
    attributes,
    start: field.fixed(2),
    time: field.fixed(3),
    count: Number(field.fixed(4)),
    sum: field.double(5),
    counts,
    bounds,
  }
}

function readAttributes(pairs: Buffer[]): Attributes {
  return Object.fromEntries(
    pairs.map((pair) => {
      const field = readFields(pair, [1, 2])
      const [value] = field.messages(2)
      if (!value) throw new Error(`the attribute ${field.text(1)} has no value`)
      return [field.text(1), readAny(value)]
    }),
  )
}

function readAny(bytes: Buffer): Attribute {
  const field = readFields(bytes, [1, 2, 3, 4, 5])
  if (field.has(2)) return field.integer(2) === 1
  if (field.has(3)) return field.integer(3)
  if (field.has(4)) return field.double(4)
  if (field.has(5)) return field.messages(5).flatMap((list) => readFields(list, [1]).messages(1).map(readAny))
  return field.text(1)
}

type Fields = {
  has(number: number): boolean
  text(number: number): string
  hex(number: number, length: number): string
  integer(number: number): number
  fixed(number: number): bigint
  double(number: number): number
  messages(number: number): Buffer[]
  /** Numbers of eight bytes each. */
  packed(number: number): Buffer[]
}

const varint = 0
const eightBytes = 1
const delimited = 2
const fourBytes = 5

/** https://protobuf.dev/programming-guides/encoding/; a field that is not known fails, for here it can only be a mistake. */
function readFields(bytes: Buffer, known: readonly number[]): Fields {
  const fields = new Map<number, { wire: number; value: Buffer }[]>()
  let position = 0

  function take(length: number): Buffer {
    if (length < 0 || position + length > bytes.length) throw new Error('a message ends too early')
    position += length
    return bytes.subarray(position - length, position)
  }
  function takeVarint(): Buffer {
    const start = position
    while ((take(1).readUInt8() & 0x80) !== 0) if (position - start >= 10) throw new Error('a number is too long')
    return bytes.subarray(start, position)
  }
  function takeValue(wire: number): Buffer {
    if (wire === varint) return takeVarint()
    if (wire === eightBytes) return take(8)
    if (wire === fourBytes) return take(4)
    if (wire === delimited) return take(number(takeVarint()))
    throw new Error(`there is no wire type ${wire}`)
  }
  while (position < bytes.length) {
    const tag = number(takeVarint())
    const field = Math.floor(tag / 8)
    if (!known.includes(field)) throw new Error(`field ${field} is not known`)
    const entries = fields.get(field) ?? []
    entries.push({ wire: tag % 8, value: takeValue(tag % 8) })
    fields.set(field, entries)
  }

  function all(field: number, wire: number): Buffer[] {
    const entries = fields.get(field) ?? []
    if (entries.some((entry) => entry.wire !== wire)) throw new Error(`field ${field} is of another type`)
    return entries.map(({ value }) => value)
  }
  // What is left out has its type's default.
  const last = (field: number, wire: number): Buffer | undefined => all(field, wire).at(-1)
  return {
    has: (field) => fields.has(field),
    text: (field) => new TextDecoder('utf-8', { fatal: true }).decode(last(field, delimited)),
    hex(field, length) {
      const value = last(field, delimited)
      if (value?.length !== length) throw new Error(`field ${field} must have ${length} bytes`)
      return value.toString('hex')
    },
    integer: (field) => number(last(field, varint) ?? Buffer.of(0)),
    fixed: (field) => last(field, eightBytes)?.readBigUInt64LE() ?? 0n,
    double: (field) => last(field, eightBytes)?.readDoubleLE() ?? 0,
    messages: (field) => all(field, delimited),
    packed: (field) =>
      all(field, delimited).flatMap((list) => Array.from({ length: eighths(list) }, (_, at) => list.subarray(at * 8))),
  }
}

function eighths(list: Buffer): number {
  if (list.length % 8 !== 0) throw new Error('a list of numbers is cut off')
  return list.length / 8
}

function number(bytes: Buffer): number {
  let value = 0n
  for (const [position, byte] of bytes.entries()) value |= BigInt(byte & 0x7f) << BigInt(7 * position)
  return Number(BigInt.asIntN(64, value))
}
