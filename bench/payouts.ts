import type { Db } from '@tollgate/kit/db'
import { inBulk } from './bulk.ts'

const day = '2030-01-31'

/** Payouts of one day to so many test merchants, of whom nothing else is known. Tells the day. */
export async function seedPayouts(sql: Db, count: number): Promise<string> {
  await inBulk(sql, 'pay', async () => {
    await sql`
      insert into pay.payouts (merchant_id, day, id, line_id, created, test, currency, amount, iban, holder)
      select '5f000000000a' || lpad(to_hex(n), 12, '0'), ${day}::date, '5f000000000b' || lpad(to_hex(n), 12, '0'),
        '5f000000000c' || lpad(to_hex(n), 12, '0'), ${`${day}T06:00:00Z`}::timestamptz, true, 'EUR', 1000 + n, 'DK5000400440116243', 'Shop ' || n
      from generate_series(1, ${count}::integer) as n`
  })
  return day
}
