import type { Sql } from './db.ts'
import type { Rate } from './rate.ts'

/** Whether there was one to take, and when the bucket was given something last. */
type Take = { taken: boolean; refilledAt: Date }

/**
 * Takes one out of a bucket, which is first given back what time has brought: so much for every whole step. From a full one the steps are
 * counted anew. -1 in it says that the last to come was refused.
 */
export async function takeFromBucket(sql: Sql, key: Buffer, { most, amount, seconds }: Rate, now: Date): Promise<Take> {
  const [take] = await sql<Take>`
    insert into kit.rate_limits as bucket (key, left_over, refilled_at) values (${key}, ${most - 1}, ${now})
    on conflict (key) do update set (left_over, refilled_at) = (
      select greatest(held - 1, -1),
        case when held = ${most}::integer then ${now} else bucket.refilled_at + make_interval(secs => steps * ${seconds}::double precision) end
      from (select greatest(0, floor(extract(epoch from ${now}::timestamptz - bucket.refilled_at)::double precision / ${seconds}::double precision)) as steps),
        lateral (select least(${most}::integer, greatest(bucket.left_over, 0) + ${amount}::integer * steps) as held)
    )
    returning left_over >= 0 as taken, refilled_at as "refilledAt"`
  return take as Take
}

/** Puts back what was taken and turned out not to count. */
export async function putIntoBucket(sql: Sql, key: Buffer, { most }: Rate): Promise<void> {
  await sql`update kit.rate_limits set left_over = least(${most}::integer, greatest(left_over, 0) + 1) where key = ${key}`
}

/** Some of those that nobody has taken from since a moment, and none that somebody is at. Tells how many. */
export async function deleteBuckets(sql: Sql, before: Date, most: number): Promise<number> {
  const { count } = await sql`
    delete from kit.rate_limits where ctid = any(array(
      select ctid from kit.rate_limits where refilled_at < ${before} limit ${most} for update skip locked))`
  return count
}
