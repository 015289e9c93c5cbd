import type { Sql, Tx } from '@tollgate/kit/db'

export type Sending = { kind: string; recipient: Buffer }

/** Notes that something goes out to somebody. False when the last one was so recent that it may not, by whichever clock. */
export async function takeSending(
  tx: Tx,
  { kind, recipient }: Sending,
  { now, seconds }: { now: Date; seconds: number },
): Promise<boolean> {
  const { count } = await tx`
    insert into auth.sendings as s (kind, recipient, sent_at) values (${kind}, ${recipient}, ${now})
    on conflict (kind, recipient) do update set sent_at = ${now}
    -- A clock that went ahead and was put right again must not keep anybody waiting for the difference; clocks that differ a little may.
    where abs(extract(epoch from ${now}::timestamptz - s.sent_at)) >= ${seconds}::double precision`
  return count === 1
}

export async function findSending(sql: Sql, { kind, recipient }: Sending): Promise<Date | undefined> {
  const [last] = await sql<{ sentAt: Date }>`
    select sent_at as "sentAt" from auth.sendings where kind = ${kind} and recipient = ${recipient}`
  return last?.sentAt
}
