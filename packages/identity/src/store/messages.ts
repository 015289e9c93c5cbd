import { Json, type Sql, type Tx } from '@tollgate/kit/db'

/** `none` goes to nobody: it stands in where there is no account, so that the work is the same. */
export type Channel = 'mail' | 'sms' | 'none'

export type NewMessage = { id: string; channel: Channel; sealed: Buffer; expiresAt: Date | null; now: Date }

/** A message and the job of delivering it, both or neither, together with whatever else the transaction does. */
export async function insertMessage(tx: Tx, { id, channel, sealed, expiresAt, now }: NewMessage): Promise<void> {
  await tx`
    with message as (
      insert into auth.messages (id, channel, sealed, expires_at, created_at)
      values (${id}, ${channel}, ${sealed}, ${expiresAt}, ${now})
    )
    insert into auth.jobs (kind, payload, run_at, created_at) values ('deliver', ${new Json({ message: id })}, ${now}, ${now})`
}

export type WaitingMessage = {
  id: string
  channel: Channel
  sealed: Buffer
  createdAt: Date
  expiresAt: Date | null
  handedOverAt: Date | null
}

/** A message that has not been sent or given up. */
export async function findWaitingMessage(sql: Sql, id: string): Promise<WaitingMessage | undefined> {
  const [message] = await sql<WaitingMessage>`
    select id, channel, sealed, created_at as "createdAt", expires_at as "expiresAt", handed_over_at as "handedOverAt"
    from auth.messages where id = ${id} and sent_at is null and given_up_at is null and sealed is not null`
  return message
}

export type Waiting = { channel: 'mail' | 'sms'; count: number; since: Date }

/** How many messages wait to be sent, and since when the oldest does: of those channels where any do, and of so many messages at most. */
export async function countWaiting(sql: Sql, most: number): Promise<Waiting[]> {
  return await sql<Waiting>`
    select channel, count(*)::integer as count, min(m.created_at) as since
    from (
      select (payload ->> 'message')::uuid as message from auth.jobs
      where kind = 'deliver' and given_up_at is null order by id limit ${most}
    ) j
    join auth.messages m on m.id = j.message
    where channel <> 'none' and sent_at is null and m.given_up_at is null
    group by channel`
}

/** From now on it may be under way. False when it already was, or is no longer waiting: then it must not be sent. */
export async function setHandedOver(sql: Sql, id: string, now: Date): Promise<boolean> {
  const { count } = await sql`
    update auth.messages set handed_over_at = ${now}
    where id = ${id} and handed_over_at is null and sent_at is null and given_up_at is null`
  return count === 1
}

/** It is known not to be under way after all: the mark that was set at this moment goes. */
export async function unsetHandedOver(sql: Sql, id: string, mark: Date): Promise<void> {
  await sql`
    update auth.messages set handed_over_at = null
    where id = ${id} and handed_over_at = ${mark} and sent_at is null and given_up_at is null`
}

/** What it said is forgotten with it. Somebody may have given it up meanwhile, who knew less. */
export async function setSent(sql: Sql, id: string, { outsideId, now }: { outsideId: string; now: Date }): Promise<void> {
  await sql`
    update auth.messages set sent_at = ${now}, given_up_at = null, sealed = null, outside_id = ${outsideId}, error = null
    where id = ${id}`
}

/** False when it was sent or given up already. */
export async function setGivenUp(sql: Sql, id: string, { error, now }: { error: string; now: Date }): Promise<boolean> {
  const { count } = await sql`
    update auth.messages set given_up_at = ${now}, sealed = null, error = ${error.slice(0, 1000)}
    where id = ${id} and sent_at is null and given_up_at is null`
  return count === 1
}

export async function deleteMessage(sql: Sql, id: string): Promise<void> {
  await sql`delete from auth.messages where id = ${id}`
}
