import type { Sql, Tx } from '@tollgate/kit/db'

/**
 * What the lines of a merchant add up to at a moment: the last sum before it and the lines since. `unsummed` tells how many of the
 * latter could have a sum of their own by now. What is beyond 2^53-1 is told as that.
 */
export async function findBalance(sql: Sql, merchantId: string, at: Date): Promise<{ balance: number; unsummed: number }> {
  const [found] = await sql<{ balance: number; unsummed: number }>`
    select greatest(least(coalesce(base.balance, 0) + since.balance, 9007199254740991), -9007199254740991)::bigint as balance, unsummed
    from (values (0)) as one
    left join lateral (
      select through, balance from pay.line_sums
      where merchant_id = ${merchantId} and through <= ${at}::timestamptz
      order by through desc limit 1
    ) as base on true
    cross join lateral (
      select coalesce(sum(balance), 0) as balance,
        count(*) filter (where created <= ${at}::timestamptz - interval '2 minutes') as unsummed
      from pay.lines
      where merchant_id = ${merchantId} and created > coalesce(base.through, '-infinity') and created <= ${at}::timestamptz
    ) as since`
  return found as { balance: number; unsummed: number }
}

/** For how many milliseconds the oldest transaction that changes something has been open. */
export async function findOldestWrite(sql: Sql): Promise<number> {
  const [found] = await sql<{ age: number }>`
    select coalesce(max(extract(epoch from clock_timestamp() - xact_start)) * 1000, 0)::float8 as age
    from pg_stat_activity
    where datname = current_database() and backend_type = 'client backend' and backend_xid is not null and pid <> pg_backend_pid()`
  return found?.age ?? 0
}

/**
 * Holds off everybody else who would write or drop sums of a merchant. A statement of its own, because only one that begins afterwards
 * sees what the others did. False where there is no such merchant.
 */
export async function holdLineSums(tx: Tx, merchantId: string): Promise<boolean> {
  const { count } = await tx`select from pay.merchants where id = ${merchantId} for no key update`
  return count === 1
}

/**
 * Writes a sum for about every `step` lines, over `most` lines that have none yet or a few more: lines of one moment are never torn apart.
 * Tells how many sums it wrote.
 */
export async function insertLineSums(
  tx: Tx,
  merchantId: string,
  { settled, step, most }: { settled: Date; step: number; most: number },
): Promise<number> {
  const { count } = await tx`
    with base as (
      select coalesce(through, '-infinity') as through, coalesce(lines, 0) as lines, coalesce(balance, 0) as balance
      from (values (0)) as one
      left join lateral (
        select through, lines, balance from pay.line_sums where merchant_id = ${merchantId} order by through desc limit 1
      ) as last on true
    ), horizon as (
      select coalesce((
        select created from pay.lines
        where merchant_id = ${merchantId} and created > (select through from base) and created <= ${settled}
        order by created offset ${most - 1} limit 1
      ), ${settled}) as through
    ), moments as (
      select created, count(*) as lines, sum(balance) as balance from pay.lines
      where merchant_id = ${merchantId} and created > (select through from base) and created <= (select through from horizon)
      group by created
    ), running as (
      select created, (sum(lines) over (order by created))::bigint as lines, sum(balance) over (order by created) as balance
      from moments
    ), steps as (
      select created, lines, balance, coalesce(lag(lines) over (order by created), 0) as "linesBefore" from running
    )
    insert into pay.line_sums (merchant_id, through, lines, balance)
    select ${merchantId}, created, base.lines + steps.lines, base.balance + steps.balance from base, steps
    where steps.lines / ${step}::bigint > "linesBefore" / ${step}::bigint`
  return count
}

/** Drops the sums that lines of this moment or later ones are in. */
export async function deleteLineSums(tx: Tx, merchantId: string, from: Date): Promise<void> {
  await tx`delete from pay.line_sums where merchant_id = ${merchantId} and through >= ${from}`
}

/** Whether a job is waiting or under way that will see to the sums of a merchant. */
export async function isSumAwaited(sql: Sql, kind: string, merchantId: string): Promise<boolean> {
  const { length } = await sql`
    select from pay.jobs
    where kind = ${kind} and payload ->> 'merchantId' = ${merchantId} and given_up_at is null limit 1`
  return length === 1
}
