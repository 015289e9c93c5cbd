import type { Sql, Tx } from '@tollgate/kit/db'

export type Sending = { kind: string; recipient: Buffer }

/** Notes that something goes out to somebody. False when the last one was so recent that it may not. */
export async function takeSending(
  tx: Tx,
  { kind, recipient }: Sending,
  { now, sentBefore }: { now: Date; sentBefore: Date },
): Promise<boolean> {
  const { count } = await tx`
    insert into auth.sendings as s (kind, recipient, sent_at) values (${kind}, ${recipient}, ${now})
    on conflict (kind, recipient) do update set sent_at = ${now} where s.sent_at <= ${sentBefore}`
  return count === 1
}

export async function findSending(sql: Sql, { kind, recipient }: Sending): Promise<Date | undefined> {
  const [last] = await sql<{ sentAt: Date }>`
    select sent_at as "sentAt" from auth.sendings where kind = ${kind} and recipient = ${recipient}`
  return last?.sentAt
}
