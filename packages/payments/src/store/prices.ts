import type { Tx } from '@tollgate/kit/db'
import type { Price } from '../rules/fees.ts'

/**
 * A new price from a moment on; what is not named stays as it is. The list only grows and stays in order, whatever the clock does, and a
 * price that says nothing new is not written.
 */
export async function insertPrice(tx: Tx, merchantId: string, since: Date, price: Partial<Price>): Promise<void> {
  const { rate = null, flat, dispute } = price
  await tx`
    insert into pay.prices (merchant_id, since, rate, flat_currency, flat_amount, dispute_currency, dispute_amount)
    select merchant_id, greatest(${since}::timestamptz, since + interval '1 millisecond'), next.*
    from (select * from pay.prices where merchant_id = ${merchantId} order by since desc limit 1) latest
    cross join lateral (
      select coalesce(${rate}::numeric, rate) as rate,
        coalesce(${flat?.currency ?? null}, flat_currency) as flat_currency, coalesce(${flat?.amount ?? null}, flat_amount) as flat_amount,
        coalesce(${dispute?.currency ?? null}, dispute_currency) as dispute_currency,
        coalesce(${dispute?.amount ?? null}, dispute_amount) as dispute_amount
    ) next
    where (next.rate, next.flat_currency, next.flat_amount, next.dispute_currency, next.dispute_amount)
      is distinct from (latest.rate, latest.flat_currency, latest.flat_amount, latest.dispute_currency, latest.dispute_amount)`
}
