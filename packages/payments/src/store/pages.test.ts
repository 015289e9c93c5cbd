import { type Db, openDb, type Sql } from '@tollgate/kit/db'
import { type ScratchDatabase, scratchDatabase } from '@tollgate/kit/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Page, readPage } from '../rules/page.ts'
import { listDisputes } from './disputes.ts'
import { listFrauds } from './frauds.ts'
import { listLines } from './lines.ts'
import { listMerchantsOf } from './merchants.ts'
import { listPlans } from './plans.ts'
import { listTransactions } from './transactions.ts'

// Hundreds have one thing each, and then somebody comes who has thousands: whoever plans for the usual one is wrong about this one.
const [others, many] = [500, 3_000]
const one = { merchantId: idOf('a', 0), appId: idOf('e', 0) }

let database: ScratchDatabase
let db: Db
beforeAll(async () => {
  database = await scratchDatabase('template_payments')
  db = openDb({ url: database.directUrl, schema: { written: 'pay', actual: 'pay' }, name: 'pages', lanes: 1, poolSize: 1 })
  // Nobody refers to anything here.
  await db`set session_replication_role = replica`
  await plant({ from: 1, through: others }, { merchantId: null, appId: null })
  await db`analyze`
  await plant({ from: others + 1, through: others + many }, one)
})
afterAll(async () => {
  await db?.close()
  await database?.drop()
})

function idOf(kind: string, number: number): string {
  return kind + number.toString(16).padStart(23, '0')
}

/** One of everything for every number: of the merchant and of the app that are told, or else of some of its own. */
async function plant(numbers: { from: number; through: number }, { merchantId, appId }: Record<keyof typeof one, string | null>) {
  await db`
    create temporary table thing as
    select 'b' || ending as id, ending, coalesce(${merchantId}, 'a' || ending) as merchant_id, coalesce(${appId}, 'e' || ending) as app_id
    from generate_series(${numbers.from}::integer, ${numbers.through}::integer) as n, lpad(to_hex(n), 23, '0') as ending`
  await db`
    insert into pay.transactions (merchant_id, id, created, test, state, currency, amount, captured, capturable, entries, descriptor,
      recurring, card_bin, card_last4, card_expiry, card_scheme, card_code_present, acquirer)
    select merchant_id, id, now(), true, 'approved', 'EUR', 100, 100, 0, 1, 'Shop', false, '410000', '0000', now(), 'visa', true, 'simulator'
    from thing`
  await db`
    insert into pay.trail (merchant_id, transaction_id, id, position, kind, state, created, amount)
    select merchant_id, id, 'c' || ending, 1, 'capture', 'done', now(), 100 from thing`
  await db`
    insert into pay.lines (merchant_id, id, created, test, kind, balance, fee, amount, currency, transaction_id)
    select merchant_id, id, now(), true, 'capture', 100, 0, 100, 'EUR', id from thing`
  await db`
    insert into pay.disputes (merchant_id, id, transaction_id, created, amount, reason_code, reason_title, due, held, acquirer_reference)
    select merchant_id, id, id, now(), 100, 1, 'Fraud', now(), 0, ending from thing`
  await db`
    insert into pay.frauds (merchant_id, id, transaction_id, created, acquirer_reference)
    select merchant_id, id, id, now(), ending from thing`
  await db`
    insert into pay.plans (merchant_id, transaction_id, created, parts, state, component, occurrence, due, try_at)
    select merchant_id, id, now(), '[]', 'active', 0, 0, now(), now() from thing`
  await db`
    insert into pay.merchants (id, key, created, test, currency, email, website, descriptor, company_country)
    select id, ending, now(), true, 'EUR', 'shop@example.com', 'https://shop.example', 'Shop', 'DK' from thing`
  await db`
    insert into pay.prices (merchant_id, since, rate, flat_currency, flat_amount, dispute_currency, dispute_amount)
    select id, now(), 0, 'EUR', 0, 'EUR', 0 from thing`
  await db`insert into pay.members (merchant_id, identity_id, kind, created) select id, app_id, 'app', now() from thing`
  await db`drop table thing`
}

type List = { rowsEach: number; idsOf(sql: Sql, page: Page): Promise<string[]> }

const { merchantId, appId } = one
const lists: Record<string, List> = {
  // A transaction and its trail.
  transactions: { rowsEach: 2, idsOf: async (sql, page) => (await listTransactions(sql, merchantId, page)).map(({ id }) => id) },
  lines: {
    rowsEach: 1,
    idsOf: async (sql, page) => (await listLines(sql, merchantId, { kinds: ['capture'] }, page)).map(({ id }) => id),
  },
  disputes: { rowsEach: 1, idsOf: async (sql, page) => (await listDisputes(sql, { merchantId }, page)).map(({ id }) => id) },
  'fraud alerts': { rowsEach: 1, idsOf: async (sql, page) => (await listFrauds(sql, { merchantId }, page)).map(({ id }) => id) },
  plans: {
    rowsEach: 1,
    idsOf: async (sql, page) => (await listPlans(sql, merchantId, page)).map(({ transactionId }) => transactionId),
  },
  // That it belongs to the app, the merchant when it is chosen and when it is told, and its price.
  merchants: {
    rowsEach: 4,
    idsOf: async (sql, page) => (await listMerchantsOf(sql, appId, { page, filter: {} })).map(({ id }) => id),
  },
}

const [oldest, middle, newest] = [others + 1, others + many / 2, others + many]
const limit = 20
const ids = (from: number, step: 1 | -1) => Array.from({ length: limit }, (_, place) => idOf('b', from + place * step))
const pages: [string, Parameters<typeof readPage>[0], string[]][] = [
  ['the newest', { limit }, ids(newest, -1)],
  ['those before one in the middle', { limit, before: idOf('b', middle) }, ids(middle - 1, -1)],
  ['those before the last but twenty', { limit, before: idOf('b', oldest + limit) }, ids(oldest + limit - 1, -1)],
  ['the oldest', { limit, after: idOf('b', 0) }, ids(oldest, 1)],
  ['those after one in the middle', { limit, after: idOf('b', middle) }, ids(middle + 1, 1)],
]

async function countRead(sql: Sql): Promise<number> {
  const [counted] = await sql<{ rows: number }>`
    select coalesce(sum(seq_tup_read + idx_tup_fetch), 0)::bigint as rows from pg_stat_xact_user_tables where schemaname = 'pay'`
  return counted?.rows ?? 0
}

describe.each(['before', 'after'])('%s anybody has looked how much there is', (moment) => {
  if (moment === 'after') beforeAll(() => db`analyze`)

  describe.each(['force_generic_plan', 'force_custom_plan'])('with %s', (mode) => {
    test.each(Object.entries(lists))('a page of %s reads what it tells', async (_, { rowsEach, idsOf }) => {
      for (const [name, page, expected] of pages)
        await db.begin(async (tx) => {
          await tx`select set_config('plan_cache_mode', ${mode}, true)`
          const before = await countRead(tx)
          expect(await idsOf(tx, readPage(page)), name).toEqual(expected)
          // Planning may look at the ends of an index.
          expect((await countRead(tx)) - before, name).toBeLessThanOrEqual(rowsEach * limit + 4)
        })
    })
  })
})
