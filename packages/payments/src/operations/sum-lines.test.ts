import type { Db, Sql } from '@tollgate/kit/db'
import { runJobs } from '@tollgate/kit/jobs'
import { gate, keptLog } from '@tollgate/kit/testing'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { findBalance } from '../store/line-sums.ts'
import { plantMerchant, startPayments } from '../testing.ts'
import { dropLineSums, readBalance, sumLines, sumLinesKind, sumLinesWorker } from './sum-lines.ts'

let service: Awaited<ReturnType<typeof startPayments>>
let db: Db
let merchantId: string
beforeAll(async () => {
  service = await startPayments()
  db = service.app.db
})
afterAll(() => service.stop())
beforeEach(async () => {
  merchantId = (await plantMerchant(service)).id
})

const minute = 60_000
const ago = (milliseconds: number) => new Date(service.now().getTime() - milliseconds)

/** Lines that are spread evenly over the time from one moment to just before another, the balance of each telling its number. */
async function plantLines(sql: Sql, count: number, { from, until }: { from: Date; until: Date }) {
  await sql`
    insert into pay.lines (merchant_id, id, created, test, kind, balance, fee, amount, currency)
    select ${merchantId}, lpad(to_hex(number), 8, '0') || substr(md5(random()::text), 1, 16),
      ${from}::timestamptz + (${until}::timestamptz - ${from}::timestamptz) * (number - 1) / ${count}, true, 'payout',
      number % 1000 - 400, 0, 1, 'EUR'
    from generate_series(1, ${count}::int) as number`
}

async function plainSum(at: Date): Promise<number> {
  const [found] = await db<{ sum: number }>`
    select coalesce(sum(balance), 0)::bigint as sum from pay.lines where merchant_id = ${merchantId} and created <= ${at}`
  return found?.sum ?? 0
}

async function countSums(): Promise<number> {
  return (await db`select from pay.line_sums where merchant_id = ${merchantId}`).length
}

function waitingJobs() {
  return db`select payload from pay.jobs where kind = ${sumLinesKind} and payload ->> 'merchantId' = ${merchantId}`
}

/** Until a statement waits for what another transaction holds. */
async function somebodyWaits() {
  const waiting = () => db`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  while ((await waiting()).length === 0);
}

type Plan = {
  'Node Type': string
  'Index Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Heap Fetches'?: number
  Plans?: Plan[]
}

/** Every statement is answered with the plan that it went by. */
function explaining(sql: Sql, plans: Plan[]): Sql {
  return async (template, ...values) => {
    const strings = [`explain (analyze, format json) ${template[0]}`, ...template.slice(1)]
    const told = Object.assign(strings, { raw: strings }) as unknown as TemplateStringsArray
    const [row] = await sql<{ 'QUERY PLAN': { Plan: Plan }[] }>(told, ...values)
    if (row?.['QUERY PLAN'][0]) plans.push(row['QUERY PLAN'][0].Plan)
    return sql(template, ...values)
  }
}

function scansOf(plan: Plan, index: string): Plan[] {
  return [...(plan['Index Name'] === index ? [plan] : []), ...(plan.Plans ?? []).flatMap((each) => scansOf(each, index))]
}

test('a hundred thousand lines: the balance at any moment is right, read from the index alone, and takes some milliseconds', async () => {
  const began = ago(100 * 86_400_000)
  await db.begin(async (tx) => {
    // The tests' database commits without waiting for its log, and a vacuum takes no row for visible to all until that is written.
    await tx`set local synchronous_commit = on`
    await plantLines(tx, 100_000, { from: began, until: ago(10 * minute) })
  })
  await sumLines(service.app, merchantId)
  expect(await countSums()).toBe(20)
  await db`vacuum (analyze) pay.lines`

  const moments = [ago(0), ago(10 * minute), ago(11 * minute), began, new Date(began.getTime() - 1)]
  for (let count = 0; count < 15; count++) moments.push(ago(Math.random() * 100 * 86_400_000))
  let fastest = Number.POSITIVE_INFINITY
  for (const at of moments) {
    const started = performance.now()
    const { balance } = await findBalance(db, merchantId, at)
    fastest = Math.min(fastest, performance.now() - started)
    expect(balance).toBe(await plainSum(at))
  }
  expect(fastest).toBeLessThan(20)

  const plans: Plan[] = []
  for (const at of moments.slice(0, 10)) await findBalance(explaining(db, plans), merchantId, at)
  const scans = plans.flatMap((plan) => scansOf(plan, 'lines_created_idx'))
  expect(scans).toHaveLength(10)
  for (const scan of scans) {
    expect(scan).toMatchObject({ 'Node Type': 'Index Only Scan', 'Heap Fetches': 0, 'Actual Loops': 1 })
    expect(scan['Actual Rows']).toBeLessThanOrEqual(5000)
  }
})

test('the plan that is made once for all values reads the index alone too', async () => {
  let text = ''
  await findBalance(
    async (template) => {
      text = template.reduce((before, part, index) => `${before}$${index}${part}`)
      return Object.assign([], { count: 0 })
    },
    merchantId,
    service.now(),
  )
  const client = new pg.Client(service.app.config.db.url.reveal())
  await client.connect()
  const { rows } = await client.query(`explain (generic_plan, format json) ${text}`).finally(() => client.end())
  const plan: Plan = rows[0]['QUERY PLAN'][0].Plan
  expect(scansOf(plan, 'lines_created_idx')).toMatchObject([{ 'Node Type': 'Index Only Scan' }])
  expect(scansOf(plan, 'line_sums_pkey')).toHaveLength(1)
})

test('a line that is younger than two minutes is in no sum', async () => {
  await plantLines(db, 4_999, { from: ago(4 * minute), until: ago(3 * minute) })
  await plantLines(db, 1, { from: ago(2 * minute - 1), until: ago(0) })
  await sumLines(service.app, merchantId)
  expect(await countSums()).toBe(0)
  service.now.advance(1)
  await sumLines(service.app, merchantId)
  expect(await countSums()).toBe(1)
})

test('as long as a transaction is open that may bring a line, no sum is written that the line should be in', async () => {
  // The last of them is just old enough.
  await plantLines(db, 4_999, { from: ago(4 * minute), until: ago(3 * minute) })
  await plantLines(db, 1, { from: ago(2 * minute), until: ago(0) })
  const open = gate()
  const writing = db.begin(async (tx) => {
    await tx`select pg_current_xact_id()`
    await open.enter()
  })
  await open.entered()
  await sumLines(service.app, merchantId)
  expect(await countSums()).toBe(0)
  open.leave(1)
  await writing
  await sumLines(service.app, merchantId)
  expect(await countSums()).toBe(1)
})

test('ten processes that write sums at once write what one would', async () => {
  await plantLines(db, 20_000, { from: ago(60 * minute), until: ago(10 * minute) })
  await Promise.all(Array.from({ length: 10 }, () => sumLines(service.app, merchantId)))
  const sums = await db<{ lines: number }>`
    select lines from pay.line_sums where merchant_id = ${merchantId} order by through`
  expect(sums.map(({ lines }) => lines)).toEqual([5_000, 10_000, 15_000, 20_000])
  expect((await findBalance(db, merchantId, service.now())).balance).toBe(await plainSum(service.now()))
})

test('lines that are dated back make sums be written anew, from their date on', async () => {
  await plantLines(db, 20_000, { from: ago(60 * minute), until: ago(20 * minute) })
  await sumLines(service.app, merchantId)
  await db.begin(async (tx) => {
    await plantLines(tx, 100, { from: ago(45 * minute), until: ago(35 * minute) })
    await dropLineSums(tx, merchantId, ago(45 * minute))
  })
  expect(await countSums()).toBe(1)
  await sumLines(service.app, merchantId)
  expect(await countSums()).toBe(4)
  for (const minutes of [0, 20, 30, 37, 45, 50, 70])
    expect((await findBalance(db, merchantId, ago(minutes * minute))).balance).toBe(await plainSum(ago(minutes * minute)))
})

test('lines that are dated back while sums are being written are not missed', async () => {
  await plantLines(db, 20_000, { from: ago(60 * minute), until: ago(20 * minute) })
  const inserted = gate()
  const importing = db.begin(async (tx) => {
    await dropLineSums(tx, merchantId, ago(40 * minute))
    await plantLines(tx, 100, { from: ago(40 * minute), until: ago(35 * minute) })
    await inserted.enter()
  })
  await inserted.entered()
  // The import has the merchant's sums in its hand: this waits for it to be done, and sees what it brought.
  const summing = sumLines({ db, now: () => new Date(service.now().getTime() + 10 * minute) }, merchantId)
  await Promise.race([summing, somebodyWaits()])
  inserted.leave(1)
  await Promise.all([importing, summing])
  expect((await findBalance(db, merchantId, service.now())).balance).toBe(await plainSum(service.now()))
  expect(await countSums()).toBe(4)
})

test('whoever reads a balance has sums written when that is worth it, once', async () => {
  await plantLines(db, 5_000, { from: ago(60 * minute), until: ago(20 * minute) })
  await readBalance(service.app, merchantId, service.now())
  expect(await waitingJobs()).toEqual([])
  await plantLines(db, 1, { from: ago(10 * minute), until: ago(0) })
  for (let count = 0; count < 3; count++)
    expect(await readBalance(service.app, merchantId, service.now())).toBe(await plainSum(service.now()))
  expect(await waitingJobs()).toEqual([{ payload: { merchantId } }])

  await runJobs({ ...service.app, log: keptLog().log, workers: { [sumLinesKind]: sumLinesWorker(service.app) } }).stop()
  expect(await waitingJobs()).toEqual([])
  expect(await countSums()).toBe(1)
  expect(await readBalance(service.app, merchantId, service.now())).toBe(await plainSum(service.now()))
  expect(await waitingJobs()).toEqual([])
})

test('lines of the last two minutes are no reason to ask for sums', async () => {
  await plantLines(db, 6_000, { from: ago(minute), until: ago(0) })
  await readBalance(service.app, merchantId, service.now())
  expect(await waitingJobs()).toEqual([])
})

test('work that takes longer than it may ends, and what was done is kept', async () => {
  await plantLines(db, 5_000, { from: ago(60 * minute), until: ago(20 * minute) })
  const hurried = sumLines(service.app, merchantId, AbortSignal.abort())
  await expect(hurried).rejects.toThrow('aborted')
  expect(await countSums()).toBe(0)
})

test('a merchant that is not there has no sums', async () => {
  merchantId = 'f'.repeat(24)
  await plantLines(db, 6_000, { from: ago(60 * minute), until: ago(20 * minute) })
  await sumLines(service.app, merchantId)
  expect(await countSums()).toBe(0)
})
