import type { Db, Tx } from '@tollgate/kit/db'
import { Unavailable } from '@tollgate/kit/failure'
import { tagOf } from '@tollgate/kit/id'
import { gate, type TestedService } from '@tollgate/kit/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { App } from '../app.ts'
import { dayOf } from '../rules/payout-schedule.ts'
import { closePayouts, findClosedPayouts } from '../store/payouts.ts'
import { plantMerchant, plantTransaction, startPayments } from '../testing.ts'
import { runPayouts, startPayoutLoop } from './run-payouts.ts'
import { verify } from './verify.ts'

let service: TestedService<App>
beforeEach(async () => {
  // It is Wednesday, the 2nd of January 2030, shortly after three.
  service = await startPayments()
})
afterEach(() => service.stop())

const hour = 3600
const day = 24 * hour

async function plant(given: Parameters<typeof plantMerchant>[1] & { payouts?: string; name?: string } = {}): Promise<string> {
  const { id } = await plantMerchant(service, given)
  const { payouts = 'daily', name = null } = given
  await service.app.db`update pay.merchants set payouts = ${payouts}, name = ${name} where id = ${id}`
  return id
}

/** What a capture, or a refund where the balance shrinks, leaves behind, at the time of the clock. */
async function book(merchantId: string, balance: number): Promise<void> {
  const { app, now } = service
  const [lineId, transactionId] = [app.mintId(tagOf(merchantId)), app.mintId(tagOf(merchantId))]
  const [kind, debit, credit] = balance > 0 ? ['capture', 'acquirer', 'merchant'] : ['refund', 'merchant', 'acquirer']
  await app.db.begin(async (tx) => {
    await tx`
      insert into pay.lines (merchant_id, id, created, test, kind, balance, fee, amount, currency, transaction_id)
      select id, ${lineId}, ${now()}, test, ${kind}, ${balance}, 0, ${Math.abs(balance)}, currency, ${transactionId}
      from pay.merchants where id = ${merchantId}`
    await tx`
      insert into pay.postings (merchant_id, line_id, number, debit, credit, currency, amount)
      select id, ${lineId}, 1, ${debit as string}, ${credit as string}, currency, ${Math.abs(balance)}
      from pay.merchants where id = ${merchantId}`
  })
}

function runToday() {
  return runPayouts(service.app, { day: dayOf(service.now()) })
}

async function paidTo(merchantId: string): Promise<[string, number][]> {
  const rows = await service.app.db<{ day: string; amount: number }>`
    select to_char(day, 'YYYY-MM-DD') as day, amount from pay.payouts where merchant_id = ${merchantId} order by day`
  return rows.map(({ day, amount }) => [day, amount])
}

async function balanceOf(merchantId: string): Promise<number> {
  const [row] = await service.app.db<{ balance: number }>`
    select coalesce(sum(balance), 0)::bigint as balance from pay.lines where merchant_id = ${merchantId}`
  return row?.balance as number
}

/** Every payout has one line and that line one posting, all of one amount; every line says what its postings say. */
async function expectSoundBooks(): Promise<void> {
  expect(
    await service.app.db`
      select payouts.id from pay.payouts
      full join (select * from pay.lines where kind = 'payout') as line on line.merchant_id = payouts.merchant_id and line.id = line_id
      where payouts.id is null or line.id is null or line.balance <> -payouts.amount or line.amount <> payouts.amount
        or line.created <> payouts.created or line.iban <> payouts.iban or line.currency <> payouts.currency
        or line.fee <> 0 or line.test <> payouts.test`,
  ).toEqual([])
  expect(
    await service.app.db`
      select lines.id from pay.lines left join pay.postings on line_id = lines.id and postings.merchant_id = lines.merchant_id
      group by lines.merchant_id, lines.id, lines.balance
      having lines.balance <> coalesce(sum(case when credit = 'merchant' then postings.amount when debit = 'merchant' then -postings.amount end), 0)`,
  ).toEqual([])
}

test('a merchant is paid what it had when the day began, as a payout, a line and a posting', async () => {
  const merchant = await plant({ currency: 'DKK', test: false, name: 'Bageri' })
  await book(merchant, 900)
  await book(merchant, 100)
  service.now.advance(day)
  await book(merchant, 50)
  expect(await runToday()).toEqual({ due: 1, paid: 1, failed: 0, failures: [], closed: true })
  const { db } = service.app
  const [payout] = await db`select * from pay.payouts`
  expect(payout).toMatchObject({
    merchant_id: merchant,
    test: false,
    currency: 'DKK',
    amount: 1000,
    iban: 'DK5000400440116243',
    holder: 'Bageri',
    created: service.now(),
  })
  expect(await db`select * from pay.lines where kind = 'payout'`).toMatchObject([
    {
      ...{ id: payout?.line_id, created: service.now(), balance: -1000, fee: 0, amount: 1000, currency: 'DKK' },
      ...{ iban: 'DK5000400440116243', description: 'Payout 2030-01-03', transaction_id: null },
    },
  ])
  expect(await db`select * from pay.postings where line_id = ${payout?.line_id as string}`).toMatchObject([
    { number: 1, debit: 'merchant', credit: 'payouts', currency: 'DKK', amount: 1000 },
  ])
  expect(await balanceOf(merchant)).toBe(50)
  await expectSoundBooks()
})

test('what came in today is paid tomorrow, to the millisecond', async () => {
  const merchant = await plant()
  service.now.advance(Date.parse('2030-01-02T23:59:59.999Z') / 1000 - service.now().getTime() / 1000)
  await book(merchant, 300)
  service.now.advance(0.001)
  await book(merchant, 70)
  await runToday()
  service.now.advance(day)
  await runToday()
  expect(await paidTo(merchant)).toEqual([
    ['2030-01-03', 300],
    ['2030-01-04', 70],
  ])
})

test('a refund of this morning is not paid out, and a debt is made up for before anything is paid again', async () => {
  const [some, all] = [await plant(), await plant()]
  await book(some, 1000)
  await book(all, 1000)
  service.now.advance(day)
  await book(some, -300)
  await book(all, -1100)
  await runToday()
  service.now.advance(day)
  await book(all, 500)
  await runToday()
  service.now.advance(day)
  await runToday()
  expect(await paidTo(some)).toEqual([['2030-01-03', 700]])
  expect(await paidTo(all)).toEqual([['2030-01-05', 400]])
  await expectSoundBooks()
})

test('who is never paid, has no bank account, nothing or a debt gets nothing', async () => {
  const others = [await plant({ payouts: 'never' }), await plant({ iban: null }), await plant()]
  const debtor = await plant()
  for (const merchant of others.slice(0, 2)) await book(merchant, 500)
  await book(debtor, -500)
  service.now.advance(day)
  expect(await runToday()).toMatchObject({ due: 2, paid: 0, failed: 0 })
  expect(await service.app.db`select from pay.payouts`).toHaveLength(0)
})

test('a second run of a day pays nobody, for the day is closed', async () => {
  const [merchant, late] = [await plant(), await plant({ iban: null })]
  for (const each of [merchant, late]) await book(each, 500)
  service.now.advance(day)
  expect(await runToday()).toMatchObject({ due: 1, paid: 1 })
  await service.app.db`update pay.merchants set bank_iban = 'DK5000400440116243' where id = ${late}`
  expect(await runToday()).toEqual({ due: 0, paid: 0, failed: 0, failures: [], closed: true })
  service.now.advance(day)
  await runToday()
  expect(await paidTo(merchant)).toEqual([['2030-01-03', 500]])
  expect(await paidTo(late)).toEqual([['2030-01-04', 500]])
})

test('weekly merchants are paid on Mondays and monthly ones on the first, what they had when that day began', async () => {
  const [weekly, monthly] = [await plant({ payouts: 'weekly' }), await plant({ payouts: 'monthly' })]
  for (let passed = 0; passed < 34; passed++) {
    for (const merchant of [weekly, monthly]) await book(merchant, 10)
    await runToday()
    service.now.advance(day)
  }
  expect(await paidTo(weekly)).toEqual([
    ['2030-01-07', 50],
    ['2030-01-14', 70],
    ['2030-01-21', 70],
    ['2030-01-28', 70],
    ['2030-02-04', 70],
  ])
  expect(await paidTo(monthly)).toEqual([['2030-02-01', 300]])
})

test('a payday that nobody ran is made up for by the next run, once, with what was owed on it', async () => {
  const [daily, weekly, monthly] = [await plant(), await plant({ payouts: 'weekly' }), await plant({ payouts: 'monthly' })]
  for (const merchant of [daily, weekly, monthly]) await book(merchant, 100)
  // Monday passes, and Tuesday's captures are for the Monday after.
  service.now.advance(6 * day)
  for (const merchant of [daily, weekly, monthly]) await book(merchant, 7)
  for (let passed = 0; passed < 3; passed++) {
    service.now.advance(day)
    await runToday()
  }
  expect(await paidTo(daily)).toEqual([['2030-01-09', 107]])
  expect(await paidTo(weekly)).toEqual([['2030-01-09', 100]])
  expect(await paidTo(monthly)).toEqual([])
  service.now.advance(30 * day)
  await runToday()
  expect(await paidTo(monthly)).toEqual([['2030-02-10', 107]])
})

test('a day that has not come is refused, and one before a closed day is closed', async () => {
  const merchant = await plant()
  await book(merchant, 100)
  service.now.advance(3 * day)
  await expect(runPayouts(service.app, { day: '2030-01-06' })).rejects.toThrow('2030-01-06 has not come yet')
  await runToday()
  expect(await runPayouts(service.app, { day: '2030-01-04' })).toMatchObject({ due: 0, closed: true })
  expect(await paidTo(merchant)).toEqual([['2030-01-05', 100]])
})

test('test merchants are paid like others, or alone, and then the day stays open', async () => {
  const [live, trial] = [await plant({ test: false }), await plant({ test: true })]
  for (const merchant of [live, trial]) await book(merchant, 100)
  service.now.advance(day)
  expect(await runPayouts(service.app, { day: '2030-01-03', test: true })).toMatchObject({ due: 1, paid: 1, closed: false })
  expect(await paidTo(live)).toEqual([])
  expect(await runToday()).toMatchObject({ due: 1, paid: 1, closed: true })
  expect([await paidTo(live), await paidTo(trial)]).toEqual([[['2030-01-03', 100]], [['2030-01-03', 100]]])
})

test('a merchant that cannot be paid keeps nobody else from it, and is paid with the next run', async () => {
  const [broken, ...others] = [await plant(), await plant(), await plant()] as const
  for (const merchant of [broken, ...others]) await book(merchant, 100)
  await service.app.db`update pay.merchants set bank_iban = 'DK5100400440116243' where id = ${broken}`
  service.now.advance(day)
  const run = await runToday()
  expect(run).toMatchObject({ due: 3, paid: 2, failed: 1, closed: true })
  expect(run.failures).toMatchObject([{ merchantId: broken, problem: { message: 'its IBAN is not one that a bank would take' } }])
  await service.app.db`update pay.merchants set bank_iban = 'dk50 0040 0440 1162 43' where id = ${broken}`
  service.now.advance(day)
  await runToday()
  expect(await paidTo(broken)).toEqual([['2030-01-04', 100]])
  expect(await service.app.db`select iban from pay.lines where merchant_id = ${broken} and kind = 'payout'`).toEqual([
    { iban: 'DK5000400440116243' },
  ])
})

test('the largest amount there is can be paid', async () => {
  const merchant = await plant()
  await book(merchant, Number.MAX_SAFE_INTEGER)
  service.now.advance(day)
  await runToday()
  expect(await paidTo(merchant)).toEqual([['2030-01-03', Number.MAX_SAFE_INTEGER]])
})

test('more merchants than a page holds are all paid', async () => {
  const { app, now } = service
  const model = await plant()
  await app.db`
    insert into pay.merchants (id, key, created, test, currency, email, website, descriptor, company_country, bank_iban)
    select lpad(to_hex(number), 24, '0'), number::text, created, test, currency, email, website, descriptor, company_country, bank_iban
    from pay.merchants, generate_series(1, 1200) as number where id = ${model}`
  await app.db`
    insert into pay.lines (merchant_id, id, created, test, kind, balance, fee, amount, currency, transaction_id)
    select id, id, ${now()}, test, 'capture', 5, 0, 5, currency, id from pay.merchants where id <> ${model}`
  now.advance(day)
  expect(await runToday()).toMatchObject({ due: 1201, paid: 1200, failed: 0 })
})

test('twenty runs at once pay every merchant exactly once', async () => {
  const merchants = await Promise.all(Array.from({ length: 12 }, () => plant()))
  for (const merchant of merchants) await book(merchant, 1000)
  service.now.advance(day)
  const runs = await Promise.all(Array.from({ length: 20 }, runToday))
  expect(runs.reduce((sum, { paid }) => sum + paid, 0)).toBe(merchants.length)
  expect(runs.map(({ failed }) => failed)).toEqual(Array(20).fill(0))
  for (const merchant of merchants) expect(await paidTo(merchant)).toEqual([['2030-01-03', 1000]])
  await expectSoundBooks()
})

test('runs for several days at once do not pay the same money twice, nor what came in today', async () => {
  const merchants = await Promise.all(Array.from({ length: 8 }, () => plant()))
  for (const merchant of merchants) await book(merchant, 1000)
  service.now.advance(2 * day)
  for (const merchant of merchants) await book(merchant, 400)
  const days = ['2030-01-03', '2030-01-04', '2030-01-03', '2030-01-04']
  await Promise.all(days.map((each) => runPayouts(service.app, { day: each })))
  for (const merchant of merchants) {
    expect((await paidTo(merchant)).map(([, amount]) => amount)).toEqual([1000])
    expect(await balanceOf(merchant)).toBe(400)
  }
  await expectSoundBooks()
})

/** A database that does as it is told, and hears of every statement of a transaction once it has run. */
function overheard(db: Db, hear: (statement: string) => Promise<void> | void): Db {
  const listening = (sql: Db | Tx) =>
    (async (template: TemplateStringsArray, ...values: never[]) => {
      const rows = await sql(template, ...values)
      await hear(template.join('?'))
      return rows
    }) as unknown as Tx
  return Object.assign(listening(db) as unknown as Db, {
    begin: <T>(story: (tx: Tx) => Promise<T>) => db.begin((tx) => story(listening(tx))),
    close: () => db.close(),
  })
}

async function waitForLockQueue(length: number): Promise<void> {
  await expect
    .poll(async () => {
      const [row] = await service.app.db<{ waiting: number }>`
        select count(*) as waiting from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
      return row?.waiting
    })
    .toBe(length)
}

test('whoever pays for another day waits for the one who is at it, and sees what was paid', async () => {
  const merchant = await plant()
  await book(merchant, 1000)
  service.now.advance(2 * day)
  await book(merchant, 400)
  const paying = gate()
  const db = overheard(service.app.db, (statement) =>
    statement.includes('insert into pay.payouts') ? paying.enter() : undefined,
  )
  const first = runPayouts({ ...service.app, db }, { day: '2030-01-03' })
  await paying.entered()
  const second = runPayouts(service.app, { day: '2030-01-04' })
  await waitForLockQueue(1)
  paying.leave(1)
  expect([await first, await second]).toMatchObject([{ paid: 1 }, { paid: 0 }])
  expect(await paidTo(merchant)).toEqual([['2030-01-03', 1000]])
})

test('a weekly merchant that is just being paid for Monday is not paid again for Tuesday', async () => {
  const merchant = await plant({ payouts: 'weekly' })
  await book(merchant, 1000)
  service.now.advance(6 * day)
  await book(merchant, -900)
  const paying = gate()
  const db = overheard(service.app.db, (statement) =>
    statement.includes('insert into pay.payouts') ? paying.enter() : undefined,
  )
  const first = runPayouts({ ...service.app, db }, { day: '2030-01-07' })
  await paying.entered()
  await book(merchant, 500)
  const second = runPayouts(service.app, { day: '2030-01-08' })
  await waitForLockQueue(1)
  paying.leave(1)
  await Promise.all([first, second])
  expect(await paidTo(merchant)).toEqual([['2030-01-07', 100]])
})

test('a day is not closed while somebody is being paid for it', async () => {
  const merchant = await plant()
  await book(merchant, 1000)
  service.now.advance(day)
  const paying = gate()
  const db = overheard(service.app.db, (statement) =>
    statement.includes('for share of watermarks') ? paying.enter() : undefined,
  )
  const first = runPayouts({ ...service.app, db }, { day: '2030-01-03' })
  await paying.entered()
  let closed = false
  const closing = closePayouts(service.app.db, new Date('2030-01-03T00:00:00Z')).then(() => {
    closed = true
  })
  await waitForLockQueue(1)
  expect(closed).toBe(false)
  paying.leave(1)
  await first
  await closing
  expect(await paidTo(merchant)).toEqual([['2030-01-03', 1000]])
})

test('a day that is closed between a look and the payment is paid no more', async () => {
  const merchant = await plant()
  await book(merchant, 1000)
  service.now.advance(day)
  const looking = gate()
  const db = overheard(service.app.db, (statement) => (statement.includes('as unsummed') ? looking.enter() : undefined))
  const run = runPayouts({ ...service.app, db }, { day: '2030-01-03' })
  await looking.entered()
  await closePayouts(service.app.db, new Date('2030-01-03T00:00:00Z'))
  looking.leave(1)
  expect(await run).toMatchObject({ paid: 0, closed: true })
  expect(await paidTo(merchant)).toEqual([])
})

test('a refund that commits while its merchant is paid leaves sound books, and is made up for by what comes in', async () => {
  const merchant = await plant()
  await book(merchant, 1000)
  service.now.advance(day)
  await book(merchant, 200)
  const paying = gate()
  const db = overheard(service.app.db, (statement) =>
    statement.includes('insert into pay.payouts') ? paying.enter() : undefined,
  )
  const run = runPayouts({ ...service.app, db }, { day: '2030-01-03' })
  await paying.entered()
  await book(merchant, -900)
  paying.leave(1)
  await run
  expect([await paidTo(merchant), await balanceOf(merchant)]).toEqual([[['2030-01-03', 1000]], -700])
  service.now.advance(day)
  await book(merchant, 800)
  await runToday()
  service.now.advance(day)
  await runToday()
  expect(await paidTo(merchant)).toEqual([
    ['2030-01-03', 1000],
    ['2030-01-05', 100],
  ])
  expect(await balanceOf(merchant)).toBe(0)
  await expectSoundBooks()
})

test('captures and refunds through the API while runs are under way leave every cent where it belongs', async () => {
  const { call } = service
  const { id, authorization } = await plantMerchant(service, { rate: '0', flat: 0 })
  const headers = { authorization }
  const transactions = await Promise.all(Array.from({ length: 10 }, () => plantTransaction(service, { merchantId: id })))
  const move = async (transaction: string, what: string, amount: number) =>
    expect(await call(`POST /transactions/${transaction}/${what}`, { headers, json: { amount } })).toMatchObject({ status: 201 })
  for (const transaction of transactions) await move(transaction, 'captures', 600)
  service.now.advance(day)
  await Promise.all([
    ...transactions.map((transaction) => move(transaction, 'refunds', 100)),
    ...Array.from({ length: 5 }, runToday),
    ...transactions.map((transaction) => move(transaction, 'captures', 50)),
  ])
  const payouts = await paidTo(id)
  expect(payouts).toHaveLength(1)
  expect(payouts[0]?.[1]).toBeGreaterThanOrEqual(5000)
  expect(payouts[0]?.[1]).toBeLessThanOrEqual(6000)
  expect(await balanceOf(id)).toBe(10 * (600 - 100 + 50) - (payouts[0]?.[1] as number))
  await expectSoundBooks()
  expect((await verify(service.app.db, service.now())).breaches).toEqual([])
})

test('a run that dies after any of its statements is finished by the next one, and nothing is paid twice', async () => {
  const merchants = [await plant(), await plant(), await plant()]
  for (const merchant of merchants) await book(merchant, 1000)
  let deaths = 0
  for (let survived = 0, died = true; died; survived++) {
    service.now.advance(day)
    let statements = 0
    const db = overheard(service.app.db, () => {
      if (++statements > survived) throw new Unavailable('the process was killed')
    })
    died = await runPayouts({ ...service.app, db }, { day: dayOf(service.now()) }).then(
      () => false,
      (problem) => problem instanceof Unavailable,
    )
    if (died) deaths++
    await runToday()
    for (const merchant of merchants) expect([dayOf(service.now()), await balanceOf(merchant)]).toEqual([dayOf(service.now()), 0])
    for (const merchant of merchants) await book(merchant, 1000)
  }
  // Beginning, looking, three merchants of five statements or so, closing.
  expect(deaths).toBeGreaterThan(15)
  for (const merchant of merchants) expect((await paidTo(merchant)).every(([, amount]) => amount === 1000)).toBe(true)
  await expectSoundBooks()
})

test('whoever is told to stop stops after the merchant at hand, and leaves the day open', async () => {
  for (let count = 0; count < 10; count++) await book(await plant(), 100)
  service.now.advance(day)
  const leaving = new AbortController()
  const db = overheard(service.app.db, (statement) => {
    if (statement.includes('insert into pay.payouts')) leaving.abort()
  })
  const run = await runPayouts({ ...service.app, db }, { day: '2030-01-03', signal: leaving.signal })
  expect(run.closed).toBe(false)
  expect(run.paid).toBeLessThan(10)
  expect(await runToday()).toMatchObject({ paid: 10 - run.paid, closed: true })
})

/** As if an operator had turned the loop on. */
function withPayouts(): App {
  const { config } = service.app
  return { ...service.app, config: { ...config, payouts: { ...config.payouts, enabled: true } } }
}

test('the loop pays from its hour on, once a day', async () => {
  const merchant = await plant()
  await book(merchant, 100)
  service.now.advance(day)
  const look = async () => {
    const told = service.lines.length
    const loop = startPayoutLoop(withPayouts())
    if (service.now().getUTCHours() >= 4) await expect.poll(() => service.lines.slice(told).some(({ day }) => day)).toBe(true)
    await loop.stop()
  }
  // It is 03:04.
  await look()
  expect(await findClosedPayouts(service.app.db)).toBeUndefined()
  service.now.advance(hour)
  await look()
  expect(await paidTo(merchant)).toEqual([['2030-01-03', 100]])
  expect(service.lines.at(-1)).toMatchObject({
    level: 'info',
    message: 'payouts made',
    day: '2030-01-03',
    due: 1,
    paid: 1,
    failed: 0,
  })
  const told = service.lines.length
  const loop = startPayoutLoop(withPayouts())
  await loop.stop()
  expect(service.lines).toHaveLength(told)
})

test('the loop is off unless an operator turns it on, and tells of what went wrong', async () => {
  const merchant = await plant()
  await book(merchant, 100)
  service.now.advance(day + hour)
  expect(service.app.config.payouts.enabled).toBe(false)
  await startPayoutLoop(service.app).stop()
  expect(await paidTo(merchant)).toEqual([])
  await service.app.db`update pay.merchants set bank_iban = 'nonsense' where id = ${merchant}`
  const loop = startPayoutLoop(withPayouts())
  await expect
    .poll(() => service.lines.filter(({ level }) => level === 'error'))
    .toMatchObject([{ message: 'a payout failed, and is tried again with the next run', merchant }])
  await loop.stop()
})
