import type { Sql } from '@tollgate/kit/db'

export type Limits = {
  now: Date
  codesBefore: Date
  flowsBefore: Date
  sendingsBefore: Date
  bucketsBefore: Date
  messagesBefore: Date
  revokedBefore: Date
  sessionsEndedBefore: Date
  begunBefore: Date | null
  refreshedBefore: Date | null
}

const most = 1000

/** Deletes rows that are past their time, some of each table, and skips those that somebody is at. Tells how many, and whether there are more. */
export async function deleteExpired(sql: Sql, limits: Limits): Promise<{ rows: number; more: boolean }> {
  const deletions = await Promise.all([
    sql`delete from auth.one_time_tokens where ctid = any(array(
      select ctid from auth.one_time_tokens where created_at < ${limits.codesBefore}::timestamptz at time zone 'UTC'
      limit ${most} for update skip locked))`,
    sql`delete from auth.flow_state where ctid = any(array(
      select ctid from auth.flow_state where created_at < ${limits.flowsBefore} limit ${most} for update skip locked))`,
    sql`delete from auth.sendings where ctid = any(array(
      select ctid from auth.sendings where sent_at < ${limits.sendingsBefore} limit ${most} for update skip locked))`,
    sql`delete from auth.rate_limits where ctid = any(array(
      select ctid from auth.rate_limits where refilled_at < ${limits.bucketsBefore} limit ${most} for update skip locked))`,
    sql`delete from auth.messages where ctid = any(array(
      select ctid from auth.messages where created_at < ${limits.messagesBefore} limit ${most} for update skip locked))`,
    sql`delete from auth.refresh_tokens where ctid = any(array(
      select ctid from auth.refresh_tokens
      where created_at < ${limits.revokedBefore} and updated_at < ${limits.revokedBefore} and revoked
      limit ${most} for update skip locked))`,
    sql`delete from auth.sessions where ctid = any(array(
      select ctid from auth.sessions
      where not_after < ${limits.sessionsEndedBefore} or created_at < ${limits.begunBefore}::timestamptz
        or coalesce(refreshed_at at time zone 'UTC', created_at) < ${limits.refreshedBefore}::timestamptz
      limit ${most} for update skip locked))`,
    deleteGivenUpDeliveries(sql, limits.now),
  ])
  return { rows: deletions.reduce((sum, { count }) => sum + count, 0), more: deletions.some(({ count }) => count === most) }
}

/** Nobody will send the message of a job that was given up, unless there is another one: what it says goes, and why is kept with it. */
function deleteGivenUpDeliveries(sql: Sql, now: Date) {
  return sql`
    with deliveries as (
      delete from auth.jobs where ctid = any(array(
        select ctid from auth.jobs where kind = 'deliver' and given_up_at is not null limit ${most} for update skip locked))
      returning payload ->> 'message' as message, error
    ), forgotten as (
      update auth.messages m set given_up_at = ${now}, sealed = null, error = d.error
      from deliveries d
      where m.id = d.message::uuid and m.sent_at is null and m.given_up_at is null and not exists (
        select from auth.jobs j where j.kind = 'deliver' and j.given_up_at is null and j.payload ->> 'message' = d.message)
    )
    select from deliveries`
}
