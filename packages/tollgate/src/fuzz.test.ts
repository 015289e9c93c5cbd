import { randomInt } from 'node:crypto'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { identity } from '@tollgate/identity/main'
import { bodied, requiredSettings, startWithInbox } from '@tollgate/identity/testing'
import { oneProcess, type TestedService, testService } from '@tollgate/kit/testing'
import { startPayments } from '@tollgate/payments/testing'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { exchange, HungUp, wrongWithAny, wrongWithIdentity, wrongWithPayments } from './fuzz-bytes.ts'
import { reachOf, statusesOf } from './fuzz-findings.ts'
import { fuzzIdentity, identityFuzzSettings, startFuzzProvider } from './fuzz-identity-run.ts'
import { nodeOf } from './fuzz-node.ts'
import { anyBytes, anyRequest, wireOf } from './fuzz-requests.ts'

let services: { identity: TestedService<unknown>; payments: TestedService<unknown> }
beforeAll(async () => {
  // A body that nobody wants is cut off, which a balancer may hear of before the answer.
  services = await oneProcess('each byte is between a process and its caller', async () => ({
    identity: await testService({ ...identity, endpoints: [...identity.endpoints, bodied] }, requiredSettings),
    payments: await startPayments(),
  }))
})
afterAll(async () => {
  await services.identity.stop()
  await services.payments.stop()
})

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
      expect([wrongWithIdentity(one, request), wrongWithPayments(other, request)]).toEqual([undefined, undefined])
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
      if (!(problem instanceof HungUp)) throw problem
    })
  await fc.assert(
    fc.asyncProperty(anyBytes, async (bytes) => {
      const [one, other] = await Promise.all([talk(services.identity.origin, bytes), talk(services.payments.origin, bytes)])
      for (const heard of [one, other]) if (heard) expect(wrongWithAny(heard)).toBeUndefined()
    }),
    { numRuns: 400 },
  )
  await stillWell()
}, 60_000)

/**
 * How many requests are made from what the endpoints say they take; with those above, and with what `fuzz-payments.test.ts` sends, it is
 * more than twenty thousand. `npm run fuzz` sends more; `FUZZ_SEED=…`, as a failure tells it, sends the same ones again.
 */
const callCount = 16_000
const seed = Number(process.env.FUZZ_SEED ?? randomInt(2 ** 31))
const batch = 500

test(`${callCount} requests that endpoints ask for, or nearly, are answered without a 5xx`, async () => {
  const provider = await startFuzzProvider()
  const inbox = await startWithInbox(identityFuzzSettings(provider))
  const fuzzing = await fuzzIdentity({ ...nodeOf(inbox), mails: inbox.mails, gateway: inbox.gateway, provider }, seed)
  for (let number = 0; number < callCount / batch; number++) await fuzzing.send(number, batch)
  fuzzing.close()
  await inbox.stop()
  await provider.close()
  expect([...fuzzing.findings.bugs.values()], `FUZZ_SEED=${seed}`).toEqual([])
  // Had everything been refused at the door, this would be a test of the door.
  expect(statusesOf(fuzzing.findings)['200']).toBeGreaterThan(callCount / 10)
  const names = identity.endpoints.map(({ method, path }) => `${method} ${path}`)
  expect(reachOf(fuzzing.findings, names).filter(({ done }) => done === 0)).toEqual([])
}, 600_000)
