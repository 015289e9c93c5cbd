import type { Db } from '@tollgate/kit/db'
import { inBulk } from './bulk.ts'
import { insertSales } from './sales.ts'

/** Whose things they are: a member of every merchant here. */
export type Owner = { id: string }

/** Merchants that sell at the same time, by their numbers from 1. Number 0 sells alone. */
export const merchantCount = 1_000

/** What is reserved and captured every time. */
export const price = { currency: 'EUR', amount: 1_000 }

// Everything else is as old as the run: what is old and was never captured would be voided meanwhile.
const born = Math.floor(Date.now() / 1000).toString(16)

// All have one tag, so that the ids of what waits can be told by a number alone.
const start = `${born}ffff`
const merchantStart = `${start}00000000`
const sourceStart = `${start}f0000000`

export function merchantId(number: number): string {
  return merchantStart + ending(number)
}

/** The transaction that a merchant's customer made when they were there, which they are charged again from. */
export function sourceId(number: number): string {
  return sourceStart + ending(number)
}

function ending(number: number): string {
  return number.toString(16).padStart(4, '0')
}

/** What the ids of authorizations begin with that wait to be captured; nine digits follow, from 1. */
export const waitingPrefix = `${start}000`

/** The same for those that are left to the bare server, all of merchant number 1. */
export const bareWaitingPrefix = `${start}001`

/** Fills the tables of a payments service that has just migrated its database: so many sales are over, and so many wait to be captured. */
export async function seedMerchants(sql: Db, owner: Owner, { past, waiting }: { past: number; waiting: number }): Promise<void> {
  await inBulk(sql, 'pay', async () => {
    // As shops that have been open for some weeks: of empty tables the database would make itself another idea.
    const merchantIds = Array.from({ length: merchantCount + 1 }, (_, number) => merchantId(number))
    await insertSales(sql, { merchantIds, start: new Date(Date.now() - past * 60_000), count: past })
    await insertMerchants(sql, owner, waiting)
  })
}

/** Merchants, the customer of each, and what waits to be captured. */
export async function insertMerchants(sql: Db, owner: Owner, waiting: number): Promise<void> {
  await sql`
    with merchant as (
      select ${merchantStart} || lpad(to_hex(n), 4, '0') as id from generate_series(0, ${merchantCount}::integer) as n
    ), merchants as (
      insert into pay.merchants (id, key, created, test, currency, email, website, descriptor, company_country)
      select id, gen_random_uuid(), now(), true, ${price.currency}, 'shop@example.com', 'https://shop.example',
        'Shop', 'DK'
      from merchant
    ), prices as (
      insert into pay.prices (merchant_id, since, rate, flat_currency, flat_amount, dispute_currency, dispute_amount)
      select id, now(), 0.025, ${price.currency}, 25, ${price.currency}, 1500 from merchant
    )
    insert into pay.members (merchant_id, identity_id, kind, created)
    select id, ${owner.id}, 'app', now() from merchant`
  await sql`
    with wanted (merchant_id, id) as (
      select ${merchantStart} || lpad(to_hex(n), 4, '0'), ${sourceStart} || lpad(to_hex(n), 4, '0')
      from generate_series(0, ${merchantCount}::integer) as n
      union all
      select ${merchantStart} || lpad(to_hex(1 + n % ${merchantCount}), 4, '0'), ${waitingPrefix} || lpad(n::text, 9, '0')
      from generate_series(1, ${waiting}::integer) as n
      union all
      select ${merchantId(1)}, ${bareWaitingPrefix} || lpad(n::text, 9, '0') from generate_series(1, ${waiting}::integer) as n
    ), simulated as (
      insert into pay.simulator_operations (merchant_id, reference, authorization_reference, kind, amount, currency, approved, created)
      select merchant_id, id, id, 'authorize', ${price.amount}::bigint, ${price.currency}, true, now() from wanted
    )
    insert into pay.transactions (merchant_id, id, created, test, state, currency, amount, capturable, descriptor, recurring, card_bin,
      card_last4, card_expiry, card_scheme, card_code_present, acquirer, acquirer_reference)
    select merchant_id, id, now(), true, 'approved', ${price.currency}, ${price.amount}::bigint, ${price.amount}::bigint, 'Shop', false,
      '410000', '0000', '2066-08-31T23:59:59.999Z', 'visa', true, 'simulator', id
    from wanted`
}
