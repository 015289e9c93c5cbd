import type { Sql } from '@tollgate/kit/db'

export type Pending = { merchantId: string; transactionId: string; kind: 'authorization' | 'capture' | 'refund' | 'void' }

/** What waits for an answer under an id: an authorization, or a movement. */
export async function findPending(sql: Sql, id: string): Promise<Pending | undefined> {
  const [pending] = await sql<Pending>`
    select merchant_id as "merchantId", id as "transactionId", 'authorization' as kind from pay.transactions
    where id = ${id} and state = 'pending'
    union all
    select merchant_id, transaction_id, kind from pay.trail where id = ${id} and state = 'pending'`
  return pending
}
