import { connect } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { identity } from '@tollgate/identity/main'
import { bodied, requiredSettings } from '@tollgate/identity/testing'
import { type TestedService, testService } from '@tollgate/kit/testing'
import { payments } from '@tollgate/payments/main'
import { admitsJson } from '@tollgate/payments/rules/accept'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { anyBytes, anyRequest, type FuzzRequest, valuesOf, wireOf } from './fuzz-requests.ts'

let services: { identity: TestedService<unknown>; payments: TestedService<unknown> }
beforeAll(async () => {
  services = {
    identity: await testService({ ...identity, endpoints: [...identity.endpoints, bodied] }, requiredSettings),
    payments: await testService(payments, {}),
  }
})
afterAll(async () => {
  await services.identity.stop()
  await services.payments.stop()
})

type Heard = { status: number; headers: Map<string, string>; body: string }

/** Says the bytes and listens to the end. A sender who keeps the other side waiting for more hangs up halfway, like real ones do. */
function exchange(origin: string, bytes: Buffer, whole: boolean): Promise<Heard> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(origin).port), '127.0.0.1')
    const heard: Buffer[] = []
    const enough = setTimeout(() => reject(new Error('no answer')), 5_000)
    socket.on('data', (chunk) => heard.push(chunk))
    socket.on('error', () => {})
    socket.on('close', () => {
      clearTimeout(enough)
      try {
        resolve(read(Buffer.concat(heard).toString('utf8')))
      } catch (problem) {
        reject(problem)
      }
    })
    if (whole) socket.write(bytes)
    else socket.end(bytes)
  })
}

class HungUp extends Error {}

function read(text: string): Heard {
  const final = text.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, '')
  if (final === '') throw new HungUp('no answer')
  const [head = '', ...rest] = final.split('\r\n\r\n')
  const [first = '', ...lines] = head.split('\r\n')
  const status = Number(/^HTTP\/1\.1 (\d{3}) [A-Z]/.exec(first)?.[1])
  if (!status) throw new Error(`not an answer: ${JSON.stringify(text.slice(0, 200))}`)
  const headers = new Map(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
  )
  return { status, headers, body: rest.join('\r\n\r\n') }
}

function checkEveryAnswer({ status, headers }: Heard) {
  expect(status).toBeLessThan(500)
  expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{32,36}$/)
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.get('strict-transport-security')).toContain('max-age=31536000')
  expect(headers.get('content-security-policy')).toContain("default-src 'none'")
}

/** Before the head is understood nobody knows what its sender would like to read, so such a refusal has the plain form. */
function checkIdentity(heard: Heard, request: FuzzRequest) {
  checkEveryAnswer(heard)
  const { status, headers, body } = heard
  if (status < 400 || request.method === 'HEAD') return
  expect(headers.get('content-type')).toBe('application/json')
  const told = JSON.parse(body)
  const newer = headers.get('x-supabase-api-version') === '2024-01-01'
  if (newer) expect(told).toEqual({ code: headers.get('x-sb-error-code'), message: expect.any(String) })
  else expect(told).toEqual({ code: status, error_code: headers.get('x-sb-error-code'), msg: expect.any(String) })
  if (told.error_code !== 'bad_request') expect(newer).toBe(valuesOf(request, 'x-supabase-api-version') === '2024-01-01')
}

function checkPayments(heard: Heard, request: FuzzRequest) {
  checkEveryAnswer(heard)
  const { status, headers, body } = heard
  if (status < 400 || request.method === 'HEAD') return
  const type = 'application/json; charset=utf-8'
  if (status === 400) {
    expect(headers.get('content-type')).toBe(type)
    const told = JSON.parse(body) as unknown[]
    expect(body.endsWith(']\n')).toBe(true)
    expect(told.length).toBeGreaterThan(0)
    for (const each of told) expect(each).toEqual({ field: expect.stringMatching(/./), message: expect.stringMatching(/./) })
    return
  }
  if (status !== 431 && !admitsJson(valuesOf(request, 'accept')))
    return expect([body, headers.get('content-type')]).toEqual(['', undefined])
  expect(headers.get('content-type')).toBe(type)
  expect(body).toMatch(/^\{"code":"[a-z_]+","message":"[^\n]+"\}\n$/)
}

async function stillWell() {
  for (const { call, lines } of Object.values(services)) {
    expect((await call('GET /health')).status).toBe(200)
    expect(lines.filter(({ level }) => level !== 'info')).toEqual([])
    lines.length = 0
  }
}

async function send(count: number) {
  await fc.assert(
    fc.asyncProperty(anyRequest, async (request) => {
      const { bytes, whole } = wireOf(request)
      const [one, other] = await Promise.all([
        exchange(services.identity.origin, bytes, whole),
        exchange(services.payments.origin, bytes, whole),
      ])
      checkIdentity(one, request)
      checkPayments(other, request)
    }),
    { numRuns: count },
  )
  await stillWell()
}

function heapAfterCollection(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return process.memoryUsage().heapUsed
}

test('whatever is asked is answered in the form that was asked for, never with a 5xx, and nothing piles up', async () => {
  await send(600)
  const before = heapAfterCollection()
  await send(1200)
  expect(heapAfterCollection() - before).toBeLessThan(10_000_000)
}, 60_000)

test('bytes that are hardly HTTP are answered or hung up on, and nobody else suffers', async () => {
  const talk = (origin: string, bytes: Buffer) =>
    exchange(origin, bytes, false).catch((problem: unknown) => {
      // Whoever hangs up before there is an answer gets none.
      if (!(problem instanceof HungUp)) throw problem
    })
  await fc.assert(
    fc.asyncProperty(anyBytes, async (bytes) => {
      const [one, other] = await Promise.all([talk(services.identity.origin, bytes), talk(services.payments.origin, bytes)])
      for (const heard of [one, other]) if (heard) checkEveryAnswer(heard)
    }),
    { numRuns: 400 },
  )
  await stillWell()
}, 60_000)
