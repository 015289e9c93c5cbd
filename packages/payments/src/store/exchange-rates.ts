import type { Sql } from '@tollgate/kit/db'
import type { RateSet } from '../rules/exchange.ts'

/** Adds what is not there yet and corrects what is published differently by now: all of it or nothing. Tells how many rates that were. */
export async function putRates(sql: Sql, sets: readonly RateSet[], now: Date): Promise<number> {
  const rows = sets.flatMap(({ source, day, perEuro }) =>
    [...perEuro].map(([currency, rate]) => ({ source, day, currency, rate })),
  )
  // In one order, so that two who load the same do not wait for each other in a circle.
  const { count } = await sql`
    insert into pay.exchange_rates as known (source, day, currency, rate, loaded)
    select source, day, currency, rate, ${now}::timestamptz
    from unnest(${rows.map((row) => row.source)}::text[], ${rows.map((row) => row.day)}::date[],
      ${rows.map((row) => row.currency)}::text[], ${rows.map((row) => row.rate)}::numeric[]) as given (source, day, currency, rate)
    order by day, source, currency
    on conflict (day, source, currency) do update set rate = excluded.rate, loaded = excluded.loaded
    where known.rate <> excluded.rate`
  return count
}

/** The newest set of a source. */
export async function findNewestRates(sql: Sql, source: string): Promise<RateSet | undefined> {
  const rows = await sql<{ day: string; currency: string; rate: string }>`
    select day::text as day, currency, rate::text as rate from pay.exchange_rates
    where source = ${source}
      and day = (select day from pay.exchange_rates where source = ${source} order by day desc limit 1)`
  const [first] = rows
  return first && { source, day: first.day, perEuro: new Map(rows.map(({ currency, rate }) => [currency, rate])) }
}
