import { gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { startOtlpReceiver } from './otlp-receiver.ts'

async function post(bytes: Uint8Array<ArrayBuffer>, { path = '/v1/traces', ...headers }: Record<string, string> = {}) {
  const receiver = await startOtlpReceiver()
  onTestFinished(() => receiver.close())
  const answer = await fetch(receiver.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/x-protobuf', ...headers },
    body: bytes,
  })
  return { status: answer.status, receiver }
}

/** A field of the wire type 2; short enough that its length is one byte. */
function field(number: number, ...parts: Uint8Array[]): Buffer<ArrayBuffer> {
  const content = Buffer.concat(parts)
  return Buffer.concat([Buffer.of(number * 8 + 2, content.length), content])
}

const text = (value: string) => Buffer.from(value)
const span = Buffer.concat([field(1, Buffer.alloc(16, 1)), field(2, Buffer.alloc(8, 2)), field(5, text('GET /user'))])
const whole = field(1, field(2, field(2, span)))

test('a span is read off the wire, plain or compressed', async () => {
  for (const { status, receiver } of [await post(whole), await post(gzipSync(whole), { 'content-encoding': 'gzip' })]) {
    expect(status).toBe(200)
    expect(receiver.spans()).toMatchObject([
      { traceId: '01'.repeat(16), spanId: '02'.repeat(8), name: 'GET /user', attributes: {} },
    ])
  }
})

test.each<[string, Uint8Array<ArrayBuffer>, Record<string, string>]>([
  ['text', Buffer.from('hello, collector'), {}],
  ['JSON', Buffer.from('{"resourceSpans":[]}'), { 'content-type': 'application/json' }],
  ['a span cut off', whole.subarray(0, -1), {}],
  ['a field that nobody knows', Buffer.concat([whole, field(9, text('x'))]), {}],
  ['a field of another type', Buffer.of(1 * 8 + 0, 1), {}],
  ['a trace id that is too short', field(1, field(2, field(2, field(1, Buffer.alloc(15)), field(2, Buffer.alloc(8))))), {}],
  ['a name that is not UTF-8', field(1, field(2, field(2, span, field(5, Buffer.of(0xff))))), {}],
  ['a length that runs backwards', Buffer.concat([Buffer.of(10), Buffer.alloc(9, 0xff), Buffer.of(1)]), {}],
  ['a number without end', Buffer.alloc(20, 0xff), {}],
  ['another address', whole, { path: '/v1/logs' }],
  ['what claims to be compressed', whole, { 'content-encoding': 'gzip' }],
])('%s is refused', async (_, bytes, options) => {
  const { status, receiver } = await post(bytes, options)
  expect(status).toBe(400)
  expect(receiver.refusals()).toHaveLength(1)
  expect(receiver.spans()).toEqual([])
})
