import type { Sql } from '@tollgate/kit/db'

/** What waits for the answer of an acquirer: an authorization, whose id is the transaction's, or a movement, whose id is its entry's. */
export type Pending = {
  merchantId: string
  transactionId: string
  id: string
  kind: 'authorization' | 'capture' | 'refund' | 'void'
  created: Date
}

export async function findPending(sql: Sql, id: string): Promise<Pending | undefined> {
  const [pending] = await sql<Pending>`
    select merchant_id as "merchantId", id as "transactionId", id, 'authorization' as kind, created from pay.transactions
    where id = ${id} and state = 'pending'
    union all
    select merchant_id, transaction_id, id, kind, created from pay.trail where id = ${id} and state = 'pending'`
  return pending
}

/** What has waited since before a moment, oldest first. */
export async function listPending(sql: Sql, before: Date, limit: number): Promise<Pending[]> {
  return await sql<Pending>`
    select * from (
      select merchant_id as "merchantId", id as "transactionId", id, 'authorization' as kind, created from pay.transactions
      where state = 'pending' and created < ${before}
      union all
      select merchant_id, transaction_id, id, kind, created from pay.trail where state = 'pending' and created < ${before}
    ) pending
    order by created, id limit ${limit}`
}

/** When the oldest transaction was made of which something is under way. */
export async function findOldestUnsettled(sql: Sql): Promise<Date | undefined> {
  const [row] = await sql<{ oldest: Date | null }>`
    select least(
      (select min(created) from pay.transactions where state = 'pending'),
      (select min(transactions.created) from pay.trail
       join pay.transactions on transactions.merchant_id = trail.merchant_id and transactions.id = transaction_id
       where trail.state = 'pending')
    ) as oldest`
  return row?.oldest ?? undefined
}
