import { randomInt } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { payments } from '@tollgate/payments/main'
import { verify } from '@tollgate/payments/operations/verify'
import { startPayments } from '@tollgate/payments/testing'
import { expect, onTestFinished, test } from 'vitest'
import { reachOf, statusesOf } from './fuzz-findings.ts'
import { nodeOf } from './fuzz-node.ts'
import { fuzzPayments, hasFuzzRates, paymentsFuzzSettings } from './fuzz-payments-run.ts'

/**
 * How many requests are made from what the endpoints say they take. `npm run fuzz` sends more; `FUZZ_SEED=…`, as a failure tells it,
 * sends the same ones again.
 */
const callCount = 8_000
const seed = Number(process.env.FUZZ_SEED ?? randomInt(2 ** 31))
const batch = 500

test(`${callCount} requests that payments asks for, or nearly, are answered as promised, and the books are right in the end`, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-fuzz-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const service = await startPayments(paymentsFuzzSettings(join(folder, 'rates.xml')))
  await expect.poll(() => hasFuzzRates(service.app)).toBe(true)
  const fuzzing = await fuzzPayments(nodeOf(service), seed)
  let heap: number | undefined
  for (let sent = 0; sent < callCount; sent += batch) {
    await fuzzing.send(sent / batch, batch)
    // By then everything has been loaded, and every cache has begun.
    if (sent >= callCount / 2) heap ??= heapAfterCollection()
  }
  await fuzzing.finish()
  const grown = heapAfterCollection() - (heap ?? 0)
  const { counts } = await verify(service.app.db, service.now())
  fuzzing.close()
  await service.stop()
  const { findings } = fuzzing
  expect([...findings.bugs.values()].slice(0, 20), `FUZZ_SEED=${seed}`).toEqual([])
  expect(grown).toBeLessThan(25_000_000)
  // Had everything been refused at the door, this would be a test of the door.
  const likable = payments.endpoints.filter(({ reply }) => Object.keys(reply).length > 0)
  const names = likable.map(({ method, path }) => `${method} ${path}`)
  expect(reachOf(findings, names).filter(({ done }) => done === 0)).toEqual([])
  expect(counts.agreements).toBeGreaterThan(0)
  expect(counts.plans).toBeGreaterThan(0)
  expect(statusesOf(findings)['201']).toBeGreaterThan(callCount / 10)
}, 600_000)

function heapAfterCollection(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return process.memoryUsage().heapUsed
}
