import type { Sql, Tx } from '@tollgate/kit/db'
import type { Posting } from '../rules/books.ts'
import type { Page } from '../rules/page.ts'
import type { Schedule } from '../rules/payout-schedule.ts'

export type Payout = {
  merchantId: string
  day: string
  id: string
  lineId: string
  created: Date
  test: boolean
  currency: string
  amount: number
  iban: string
  holder: string
}

/** Merchants who have a bank account and were not paid since the last payday of their schedule, in the order of their ids. */
export async function listUnpaid(
  sql: Sql,
  { paydays, test, after, limit }: { paydays: Record<Schedule, string>; test: boolean | null; after: string; limit: number },
): Promise<{ id: string; schedule: Schedule }[]> {
  return await sql<{ id: string; schedule: Schedule }>`
    select id, merchants.payouts as schedule from pay.merchants
    where id > ${after} and merchants.payouts <> 'never' and bank_iban is not null and (${test}::boolean is null or test = ${test})
      and not exists (
        select from pay.payouts where merchant_id = merchants.id and day >= case merchants.payouts
          when 'weekly' then ${paydays.weekly}::date when 'monthly' then ${paydays.monthly}::date else ${paydays.daily}::date end
      )
    order by id limit ${limit}`
}

export type Payee = {
  currency: string
  test: boolean
  iban: string | null
  holder: string
  schedule: Schedule | 'never'
  /** The start of the last day that is closed. */
  closed: Date
}

/**
 * Holds off everybody else who would pay the merchant, and whoever would close the day, until this transaction is over. A statement of
 * its own, because only those that begin afterwards see what the others did.
 */
export async function lockPayee(tx: Tx, merchantId: string): Promise<Payee | undefined> {
  const [payee] = await tx<Payee>`
    select currency, test, bank_iban as iban, coalesce(nullif(trim(merchants.name), ''), website) as holder,
      merchants.payouts as schedule, through as closed
    from pay.merchants cross join pay.watermarks
    where merchants.id = ${merchantId} and watermarks.name = 'payouts'
    for no key update of merchants for share of watermarks`
  return payee
}

/** Whether a merchant was paid for a day since, and how much since that day began, for whichever day. */
export async function findPaid(
  sql: Sql,
  merchantId: string,
  { day, start }: { day: string; start: Date },
): Promise<{ paid: boolean; amount: number }> {
  const [found] = await sql<{ paid: boolean; amount: number }>`
    select coalesce(bool_or(day >= ${day}::date), false) as paid,
      coalesce(sum(amount) filter (where created >= ${start}), 0)::bigint as amount
    from pay.payouts where merchant_id = ${merchantId}`
  return found as { paid: boolean; amount: number }
}

/** A payout with its line and its posting. False when the merchant has been paid for the day already, and then nothing is written. */
export async function insertPayout(tx: Tx, payout: Payout, { debit, credit }: Posting): Promise<boolean> {
  const { length } = await tx`
    with paid as (
      insert into pay.payouts (merchant_id, day, id, line_id, created, test, currency, amount, iban, holder)
      values (${payout.merchantId}, ${payout.day}, ${payout.id}, ${payout.lineId}, ${payout.created}, ${payout.test},
        ${payout.currency}, ${payout.amount}, ${payout.iban}, ${payout.holder})
      on conflict (merchant_id, day) do nothing
      returning *
    ), line as (
      insert into pay.lines (merchant_id, id, created, test, kind, balance, fee, amount, currency, iban, description)
      select merchant_id, line_id, created, test, 'payout', -amount, 0, amount, currency, iban, 'Payout ' || to_char(day, 'YYYY-MM-DD') from paid
    ), posting as (
      insert into pay.postings (merchant_id, line_id, number, debit, credit, currency, amount)
      select merchant_id, line_id, 1, ${debit}::text, ${credit}::text, currency, amount from paid
    )
    select from paid`
  return length === 1
}

type PayoutFilter = { id?: string; day?: string; amount?: number; currency?: string; lineId?: string }

type Listed = Pick<Payout, 'id' | 'created' | 'day' | 'amount' | 'currency' | 'iban' | 'lineId'>

/** A merchant has one a day at most, so all of them are few. */
export async function listPayouts(
  sql: Sql,
  merchantId: string,
  { limit, before, after, ascending }: Page,
  filter: PayoutFilter = {},
): Promise<Listed[]> {
  const { id = null, day = null, amount = null, currency = null, lineId = null } = filter
  return await sql<Listed>`
    select id, created, to_char(day, 'YYYY-MM-DD') as day, amount, currency, iban, line_id as "lineId" from pay.payouts
    where merchant_id = ${merchantId} and id < ${before} and id > ${after}
      and (${id}::text is null or id = ${id})
      and (${day}::date is null or day = ${day}::date)
      and (${amount}::bigint is null or amount = ${amount})
      and (${currency}::text is null or currency = ${currency})
      and (${lineId}::text is null or line_id = ${lineId})
    order by case when ${ascending}::boolean then id end, id desc
    limit ${limit}`
}

/** What was paid for a day in a currency, and when the last of it was. The amount may be more than a number can hold. */
type PaidSum = { currency: string; test: boolean; payouts: number; amount: string; latest: Date }

export async function sumPayouts(sql: Sql, day: string): Promise<PaidSum[]> {
  return await sql<PaidSum>`
    select currency, test, count(*) as payouts, sum(amount)::text as amount, max(created) as latest
    from pay.payouts where day = ${day}::date
    group by currency, test order by currency, test`
}

type PaidOut = Pick<Payout, 'merchantId' | 'id' | 'amount' | 'iban' | 'holder'>

/** What a bank has to know of each, and no more: there may be very many. */
export async function listPayoutsOfDay(
  sql: Sql,
  { day, currency, test, after, limit }: { day: string; currency: string; test: boolean; after: string; limit: number },
): Promise<PaidOut[]> {
  return await sql<PaidOut>`
    select merchant_id as "merchantId", id, amount, iban, holder from pay.payouts
    where day = ${day}::date and currency = ${currency} and test = ${test} and merchant_id > ${after}
    order by merchant_id limit ${limit}`
}

/** Makes sure that there is something to hold on to before the first day is closed. */
export async function beginPayouts(sql: Sql): Promise<void> {
  await sql`
    insert into pay.watermarks (name, through) values ('payouts', '1970-01-01T00:00:00Z') on conflict (name) do nothing`
}

/** The start of the last day that is closed: nobody is paid for it, or for one before it, any more. */
export async function findClosedPayouts(sql: Sql): Promise<Date | undefined> {
  const [mark] = await sql<{ through: Date }>`select through from pay.watermarks where name = 'payouts'`
  return mark?.through
}

export async function closePayouts(sql: Sql, start: Date): Promise<void> {
  await sql`
    insert into pay.watermarks (name, through) values ('payouts', ${start})
    on conflict (name) do update set through = greatest(watermarks.through, excluded.through)`
}
