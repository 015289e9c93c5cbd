import type { Db } from '@tollgate/kit/db'
import type { Books, Row, Sums } from './checker.ts'
import type { Store } from './load.ts'

type Read = Omit<Books, 'complaint'>

/** Reads what the checker needs to know, past the service. */
export async function readBooks(sql: Db, { appId, merchantId, sources, website }: Store): Promise<Read> {
  const rows = await sql<Row>`
    select trail.id, kind, state, amount, trail.transaction_id as "transactionId", key_hash as "keyHash" from pay.trail
    left join pay.idempotency on owner_id = ${appId} and entry_id = trail.id where trail.merchant_id = ${merchantId}
    union all
    select id, 'authorize', case state when 'approved' then 'done' when 'pending' then state else 'failed' end, amount, id, key_hash
    from pay.transactions
    left join pay.idempotency on owner_id = ${appId} and idempotency.transaction_id = transactions.id and entry_id is null
    where transactions.merchant_id = ${merchantId} and not transactions.id = any(${sources})`
  const totals = await sql<{ id: string; amount: number } & Sums>`
    select id, amount, captured, refunded, voided from pay.transactions where merchant_id = ${merchantId}`
  const acquirer = await sql<{ id: string } & Sums>`
    select authorization_reference as id,
      coalesce(sum(amount) filter (where kind = 'capture'), 0)::bigint as captured,
      coalesce(sum(amount) filter (where kind = 'refund'), 0)::bigint as refunded,
      coalesce(sum(amount) filter (where kind = 'void'), 0)::bigint as voided
    from pay.simulator_operations where merchant_id = ${merchantId} and approved group by authorization_reference`
  const payments = await sql<Books['payments'][number]>`
    select id, amount, case state when 'approved' then 'done' when 'pending' then state else 'failed' end as state
    from pay.transactions where merchant_id = ${website.id} and not recurring`
  const [codes] = await sql<{ count: number }>`select count(*)::bigint as count from pay.security_codes`
  return { rows, totals, acquirer, payments, securityCodes: codes?.count ?? 0 }
}

/** What the acquirer has not answered for yet. */
export async function countOpen(sql: Db): Promise<number> {
  const [open] = await sql<{ count: number }>`
    select (select count(*) from pay.transactions where state = 'pending') + (select count(*) from pay.trail where state = 'pending') as count`
  return open?.count ?? 0
}
