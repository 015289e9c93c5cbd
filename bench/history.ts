import type { Db } from '@tollgate/kit/db'
import { inBulk } from './bulk.ts'
import { insertMerchants, type Owner } from './merchants.ts'
import { insertSales } from './sales.ts'

/** A merchant who has sold something every minute: so many transactions, each captured, and as many lines. */
export type History = {
  merchantId: string
  /** Ids of transactions far back, each some further than the one before; nine of ten are newer than the first. */
  deep: readonly string[]
  /** A moment in the middle, and what the balance was then. */
  past: { at: Date; balance: number }
  /** What the balance is now. */
  balance: number
}

const merchantId = '5f0000000001000000000000'

/** The service writes a sum every 5,000 lines. So many lines are younger than the last sum, in a history of any size. */
const unsummed = 1_000

/** Fills the tables of a payments service that has just migrated its database, which has no merchant yet. */
export async function seedHistory(sql: Db, owner: Owner, wanted: number): Promise<History> {
  const size = wanted > unsummed ? wanted + unsummed : wanted
  // An hour ago it was over: what is younger than some minutes is not summed up.
  const start = new Date(Date.now() - 3_600_000 - size * 60_000)
  await inBulk(sql, 'pay', async () => {
    await insertMerchant(sql, owner)
    await insertSales(sql, { merchantIds: [merchantId], start, count: size })
    // Others who sell meanwhile, so that what is looked at stays as it is.
    await insertMerchants(sql, owner, 0)
  })
  const at = new Date(start.getTime() + (Math.floor(wanted / 2) + size - wanted) * 60_000)
  const [skipped, looked] = [Math.floor(wanted * 0.9), Math.floor(Math.min(1_000, wanted * 0.05))]
  const deep = await sql<{ id: string }>`
    select id from pay.transactions where merchant_id = ${merchantId} order by id desc offset ${skipped} limit ${looked}`
  const [sums] = await sql<{ past: number; now: number }>`
    select sum(balance) filter (where created <= ${at})::bigint as past, sum(balance)::bigint as now from pay.lines
    where merchant_id = ${merchantId}`
  return {
    merchantId,
    deep: deep.filter((_, index) => index % Math.ceil(deep.length / 20) === 0).map(({ id }) => id),
    past: { at, balance: sums?.past ?? 0 },
    balance: sums?.now ?? 0,
  }
}

async function insertMerchant(sql: Db, owner: Owner): Promise<void> {
  await sql`
    with merchant as (
      insert into pay.merchants (id, key, created, test, currency, email, website, descriptor, company_country)
      values (${merchantId}, gen_random_uuid(), '2020-07-04', true, 'EUR', 'shop@example.com', 'https://shop.example', 'Shop', 'DK')
    ), price as (
      insert into pay.prices (merchant_id, since, rate, flat_currency, flat_amount, dispute_currency, dispute_amount)
      values (${merchantId}, '2020-07-04', 0.025, 'EUR', 25, 'EUR', 1500)
    )
    insert into pay.members (merchant_id, identity_id, kind, created) values (${merchantId}, ${owner.id}, 'app', '2020-07-04')`
}
