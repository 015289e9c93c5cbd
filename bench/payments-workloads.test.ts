import { tmpdir } from 'node:os'
import { type Db, openDb } from '@tollgate/kit/db'
import { oneProcess } from '@tollgate/kit/testing'
import { createApp, startPayments } from '@tollgate/payments/testing'
import { afterEach, expect, test } from 'vitest'
import { createCleanup } from './cleanup.ts'
import { seedHistory } from './history.ts'
import { load } from './load.ts'
import { merchantId, seedMerchants } from './merchants.ts'
import { paymentsSizes, paymentsWorkloads } from './payments-workloads.ts'
import { basic } from './requests.ts'
import { type Server, type Site, startTextbook } from './servers.ts'
import type { Stage } from './stage.ts'
import { makeTextbook } from './textbook-tables.ts'
import type { Ready } from './workload.ts'

let cleanup = createCleanup()
afterEach(async () => {
  await cleanup.now()
  cleanup = createCleanup()
})

/** One connection, as filling tables changes what is set for it. */
function open(url: string): Db {
  const sql = openDb({ url, schema: { written: 'public', actual: 'public' }, name: 'bench', lanes: 1, poolSize: 1 })
  cleanup.later(() => sql.close())
  return sql
}

async function startShop() {
  const service = await oneProcess('tables are filled in a session', () => startPayments())
  cleanup.later(() => service.stop())
  const app = await createApp(service.call)
  const server = { port: Number(new URL(service.origin).port) } as Server
  const url = service.app.config.db.url.reveal()
  return { server, headers: basic(app.key), owner: { id: app.id }, sql: open(url), url }
}

function prepare(name: string, stage: Partial<Stage>): Promise<Ready> {
  const workload = [...paymentsWorkloads, ...paymentsSizes].find((each) => each.name === name)
  if (!workload) throw new Error(`there is no workload ${name}`)
  return workload.prepare(stage as Stage)
}

/** Two connections at a modest rate, so that every load asks for the same, however busy the machine is. */
async function ask({ server, requests }: Ready) {
  return load({ ports: [server.port], requests, connections: 2, seconds: 0.5, rate: 40, patience: 10 })
}

test('pairs, captures and repetitions are answered by a service whose tables were filled', async () => {
  const { server, headers, owner, sql } = await startShop()
  await seedMerchants(sql, owner, { past: 1_000, waiting: 100 })
  const count = async () => (await sql`select from pay.trail where kind = 'capture' and state = 'done'`).length
  const stage = { shops: async () => ({ server, headers }) }
  const made: Record<string, number> = {}
  for (const name of ['pairs', 'pairs-one', 'capture', 'replay']) {
    const ready = await prepare(name, stage)
    const before = await count()
    expect(await ask(ready)).toMatchObject({ errors: {}, answered: 20 })
    made[name] = (await count()) - before
  }
  expect(made).toEqual({ pairs: 20, 'pairs-one': 20, capture: 20, replay: 0 })
  const hot = await sql`select from pay.transactions where merchant_id = ${merchantId(0)} and recurring and source_id is not null`
  expect(hot.length).toBe(20)
})

test('pages of a long history are as long as they must be, and its balances are the sums of its lines', async () => {
  const { server, headers, owner, sql } = await startShop()
  const facts = await seedHistory(sql, owner, 10_000)
  expect(facts.balance).toBeGreaterThan(facts.past.balance)
  const [deep] = await sql<{ newer: number }>`
    select count(*) as newer from pay.transactions where merchant_id = ${facts.merchantId} and id > ${facts.deep[0] ?? ''}`
  expect(deep?.newer).toBe(9_000)
  const stage = { history: async () => ({ server, headers, facts }) }
  for (const name of ['list-first-100k', 'list-deep-100k', 'balance-100k', 'balance-past'])
    expect(await ask(await prepare(name, stage)), name).toMatchObject({ errors: {}, answered: 20 })
})

test.each(['first', 'late'] as const)(
  'the textbook that locks %s writes the same rows, and its books are right',
  async (lock) => {
    const { headers, owner, sql, url } = await startShop()
    await makeTextbook(sql, owner, 100)
    const site = { database: { url: async () => url, folder: tmpdir() }, workers: 1, cleanup } as unknown as Site
    const server = await startTextbook(site, lock)
    const ready = await prepare('textbook', { textbook: async () => ({ server, headers }) })
    expect(await ask(ready)).toMatchObject({ errors: {}, answered: 20 })
    const [books] = await sql`
    select (select balance from balances) as balance, (select reserved from balances) as reserved, sum(lines.balance)::bigint as lines, count(*) as captured,
      (select sum(case 'merchant' when credit then amount else -amount end)::bigint from pay.postings
       where postings.merchant_id = ${merchantId(0)}) as postings
    from pay.lines join pay.transactions on transactions.merchant_id = lines.merchant_id and transactions.id = transaction_id
    where lines.merchant_id = ${merchantId(0)} and source_id is not null`
    expect(books).toEqual({ reserved: 0, balance: 19_000, lines: 19_000, postings: 19_000, captured: 20 })
  },
)
