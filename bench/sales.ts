import type { Db } from '@tollgate/kit/db'

type Sales = { merchantIds: readonly string[]; start: Date; count: number }

const batch = 100_000

/** Transactions that were captured, one a minute, of merchants in turns, with all that the service would have written about them. */
export async function insertSales(sql: Db, sales: Sales): Promise<void> {
  for (let from = 1; from <= sales.count; from += batch)
    await insertBatch(sql, sales, { from, through: Math.min(sales.count, from + batch - 1) })
}

async function insertBatch(sql: Db, { merchantIds, start }: Sales, { from, through }: { from: number; through: number }) {
  await sql`
    with sale as (
      select *, lpad(to_hex(extract(epoch from created)::bigint), 8, '0') || substr(merchant_id, 9, 4) || lpad(to_hex(n), 6, '0') as start,
        round(amount * 0.025)::bigint as share
      from (
        select n, ${start}::timestamptz + n * interval '1 minute' as created, 500 + n::bigint * 7919 % 100000 as amount,
          (${merchantIds}::text[])[1 + n % ${merchantIds.length}::integer] as merchant_id
        from generate_series(${from}::integer, ${through}::integer) as n
      ) as numbered
    ), trail as (
      insert into pay.trail (merchant_id, transaction_id, id, position, kind, state, created, amount, gross, fee_flat, fee_rate, balance,
        descriptor, line_id, acquirer_reference, settled, settlement)
      select merchant_id, start || '000001', start || '000002', 1, 'capture', 'done', created, amount, amount, 25, share,
        amount - 25 - share, 'Shop', start || '000003', start || '000002', created, 1
      from sale
    ), lines as (
      insert into pay.lines (merchant_id, id, created, test, kind, balance, fee, amount, currency, transaction_id)
      select merchant_id, start || '000003', created, true, 'capture', amount - 25 - share, 25 + share, amount, 'EUR', start || '000001'
      from sale
    ), postings as (
      insert into pay.postings (merchant_id, line_id, number, debit, credit, currency, amount)
      select merchant_id, start || '000003', number, debit, credit, 'EUR', case number when 1 then amount else 25 + share end
      from sale, (values (1, 'acquirer', 'merchant'), (2, 'merchant', 'fees')) as posting (number, debit, credit)
    ), simulated as (
      insert into pay.simulator_operations (merchant_id, reference, authorization_reference, kind, amount, currency, approved, created)
      select merchant_id, start || ending, start || '000001', kind, amount, 'EUR', true, created
      from sale, (values ('000001', 'authorize'), ('000002', 'capture')) as operation (ending, kind)
    )
    insert into pay.transactions (merchant_id, id, created, test, state, currency, amount, captured, capturable, refundable,
      captured_gross, captured_rate_fee, entries, settlements, descriptor, recurring, card_bin, card_last4, card_expiry, card_scheme,
      card_code_present, acquirer, acquirer_reference)
    select merchant_id, start || '000001', created, true, 'approved', 'EUR', amount, amount, 0, amount, amount, share, 1, 1,
      'Shop', n % 3 = 0, '410000', lpad((n % 10000)::text, 4, '0'), '2066-08-31T23:59:59.999Z', 'visa', n % 3 > 0, 'simulator', start || '000001'
    from sale`
}
