import type { Db } from '@tollgate/kit/db'
import { randomTag } from '@tollgate/kit/id'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startPayments } from '../testing.ts'
import { deleteLineSums, findBalance, insertLineSums } from './line-sums.ts'

let service: Awaited<ReturnType<typeof startPayments>>
let db: Db
beforeAll(async () => {
  service = await startPayments()
  db = service.app.db
})
afterAll(() => service.stop())

type Line = { second: number; balance: number }

const start = Date.parse('2029-01-01T00:00:00Z')
const moment = (second: number) => new Date(start + second * 1000)

/** Ids grow with the place in the list and not with the date: lines may be dated back. */
async function plantLines(merchantId: string, lines: readonly Line[]) {
  await db`
    insert into pay.lines (merchant_id, id, created, test, kind, balance, fee, amount, currency)
    select ${merchantId}, substr(md5(random()::text), 1, 24), ${moment(0)}::timestamptz + second * interval '1 second', true, 'payout',
      balance, 0, 1, 'EUR'
    from unnest(${lines.map(({ second }) => second)}::int[], ${lines.map(({ balance }) => balance)}::bigint[]) as line (second, balance)`
}

/** As the operation does it, with few lines instead of thousands. */
async function writeSums(merchantId: string, limits: { settled: Date; step: number; most: number }) {
  while ((await db.begin((tx) => insertLineSums(tx, merchantId, limits))) > 0);
}

function sumsOf(merchantId: string) {
  return db<{ through: Date; lines: number; balance: number }>`
    select through, lines, balance from pay.line_sums where merchant_id = ${merchantId} order by through`
}

function plainSum(lines: readonly Line[], second: number): number {
  return lines.filter((line) => line.second <= second).reduce((sum, { balance }) => sum + balance, 0)
}

// Few moments for many lines, so that moments are shared; amounts beyond 32 bits, so that sums are.
const line = fc.record({ second: fc.integer({ min: 0, max: 30 }), balance: fc.integer({ min: -(2 ** 40), max: 2 ** 40 }) })

test('whatever the lines, a balance at any moment is their plain sum, with and without sums, and with some of them dropped', async () => {
  const cases = fc.record({
    lines: fc.array(line, { maxLength: 60 }),
    settled: fc.integer({ min: -1, max: 31 }),
    step: fc.integer({ min: 1, max: 9 }),
    most: fc.integer({ min: 1, max: 40 }),
    late: fc.array(line, { maxLength: 5 }),
  })
  await fc.assert(
    fc.asyncProperty(cases, async ({ lines, settled, step, most, late }) => {
      const merchantId = service.app.mintId(randomTag())
      const limits = { settled: moment(settled), step, most: Math.max(step, most) }
      const holds = async (all: readonly Line[]) => {
        const moments = Array.from({ length: 34 }, (_, place) => place - 1)
        const found = await Promise.all(moments.map((second) => findBalance(db, merchantId, moment(second))))
        expect(found.map(({ balance }) => balance)).toEqual(moments.map((second) => plainSum(all, second)))
      }
      await plantLines(merchantId, lines)
      await holds(lines)
      await writeSums(merchantId, limits)
      await holds(lines)

      const sums = await sumsOf(merchantId)
      for (const { through, lines: count } of sums) {
        expect(through.getTime()).toBeLessThanOrEqual(limits.settled.getTime())
        expect(count).toBe(lines.filter(({ second }) => moment(second) <= through).length)
      }
      const old = lines.filter(({ second }) => second <= settled).length
      expect(old - (sums.at(-1)?.lines ?? 0)).toBeLessThan(step)

      if (late.length === 0) return
      const oldest = moment(Math.min(...late.map(({ second }) => second)))
      await plantLines(merchantId, late)
      await db.begin((tx) => deleteLineSums(tx, merchantId, oldest))
      await holds([...lines, ...late])
      await writeSums(merchantId, limits)
      await holds([...lines, ...late])
    }),
    { numRuns: 60 },
  )
})

test('lines of one moment are in one sum, however many they are', async () => {
  const merchantId = service.app.mintId(randomTag())
  const together = Array.from({ length: 50 }, () => ({ second: 5, balance: 3 }))
  await plantLines(merchantId, [{ second: 1, balance: 1 }, ...together, { second: 9, balance: 1 }])
  await writeSums(merchantId, { settled: moment(20), step: 10, most: 10 })
  expect(await sumsOf(merchantId)).toEqual([{ through: moment(5), lines: 51, balance: 151 }])
})

test('writing sums again writes nothing', async () => {
  const merchantId = service.app.mintId(randomTag())
  await plantLines(
    merchantId,
    Array.from({ length: 30 }, (_, second) => ({ second, balance: second })),
  )
  const limits = { settled: moment(40), step: 10, most: 20 }
  await writeSums(merchantId, limits)
  const sums = await sumsOf(merchantId)
  expect(sums.map(({ lines }) => lines)).toEqual([10, 20, 30])
  await writeSums(merchantId, limits)
  expect(await sumsOf(merchantId)).toEqual(sums)
})

test('how many lines could have a sum is told of those that are two minutes old', async () => {
  const merchantId = service.app.mintId(randomTag())
  await plantLines(
    merchantId,
    [0, 10, 20].map((second) => ({ second, balance: 1 })),
  )
  expect(await findBalance(db, merchantId, moment(129.999))).toEqual({ balance: 3, unsummed: 1 })
  expect(await findBalance(db, merchantId, moment(130))).toEqual({ balance: 3, unsummed: 2 })
  await writeSums(merchantId, { settled: moment(10), step: 2, most: 2 })
  expect(await findBalance(db, merchantId, moment(1000))).toEqual({ balance: 3, unsummed: 1 })
})
