import type { Sql, Tx } from '@tollgate/kit/db'
import type { Page } from '../rules/page.ts'

export type DisputeRow = {
  merchantId: string
  id: string
  transactionId: string
  created: Date
  amount: number
  reasonCode: number
  reasonTitle: string
  due: Date
  /** Null while it is open. */
  won: boolean | null
  decided: Date | null
  /** How much of the refundable amount it holds. */
  held: number
  acquirerReference: string
}

export type NewDispute = Omit<DisputeRow, 'won' | 'decided'>

/** False when the acquirer has told of it before. */
export async function insertDispute(tx: Tx, dispute: NewDispute): Promise<boolean> {
  const { merchantId, id, transactionId, created, amount, reasonCode, reasonTitle, due, held, acquirerReference } = dispute
  const { count } = await tx`
    insert into pay.disputes
      (merchant_id, id, transaction_id, created, amount, reason_code, reason_title, due, held, acquirer_reference)
    values (${merchantId}, ${id}, ${transactionId}, ${created}, ${amount}, ${reasonCode}, ${reasonTitle}, ${due}, ${held},
      ${acquirerReference})
    on conflict (merchant_id, acquirer_reference) do nothing
    returning id`
  return count === 1
}

export async function lockDispute(tx: Tx, merchantId: string, id: string): Promise<DisputeRow | undefined> {
  const [dispute] = await tx<DisputeRow>`
    select merchant_id as "merchantId", id, transaction_id as "transactionId", created, amount, reason_code as "reasonCode",
      reason_title as "reasonTitle", due, won, decided, held, acquirer_reference as "acquirerReference"
    from pay.disputes where merchant_id = ${merchantId} and id = ${id} for update`
  return dispute
}

/** False when it was decided before, or is not there. */
export async function setDisputeDecided(
  tx: Tx,
  { merchantId, id, won, decided }: { merchantId: string; id: string; won: boolean; decided: Date },
): Promise<boolean> {
  const { count } = await tx`
    update pay.disputes set won = ${won}, decided = ${decided} where merchant_id = ${merchantId} and id = ${id} and won is null`
  return count === 1
}

/** A dispute as far as callers see it: what became of it stands in the trail of its transaction. */
export type ListedDispute = Omit<DisputeRow, 'won' | 'decided' | 'held' | 'acquirerReference'>

export async function listDisputes(
  sql: Sql,
  { merchantId, transactionId = null }: { merchantId: string; transactionId?: string | null },
  { limit, before, after, ascending }: Page,
): Promise<ListedDispute[]> {
  return await sql<ListedDispute>`
    select id, merchant_id as "merchantId", transaction_id as "transactionId", created, amount, reason_code as "reasonCode",
      reason_title as "reasonTitle", due
    from (
      (select * from pay.disputes
        where merchant_id = ${merchantId} and id < ${before} and id > ${after} and not ${ascending}::boolean
          and ${transactionId}::text is null
        order by id desc limit ${limit})
      union all
      (select * from pay.disputes
        where merchant_id = ${merchantId} and id < ${before} and id > ${after} and ${ascending}::boolean
          and ${transactionId}::text is null
        order by id limit ${limit})
      union all
      (select * from pay.disputes
        where merchant_id = ${merchantId} and id < ${before} and id > ${after}
          and ${transactionId}::text is not null and transaction_id = ${transactionId}
        order by case when ${ascending}::boolean then id end, id desc limit ${limit})
    ) as page
    order by case when ${ascending}::boolean then id end, id desc`
}

/** A dispute, if this identity is a member of its merchant. */
export async function findOwnDispute(sql: Sql, identityId: string, id: string): Promise<ListedDispute | undefined> {
  const [dispute] = await sql<ListedDispute>`
    select id, merchant_id as "merchantId", transaction_id as "transactionId", created, amount, reason_code as "reasonCode",
      reason_title as "reasonTitle", due
    from pay.disputes
    where id = ${id} and exists (
      select from pay.members where members.merchant_id = disputes.merchant_id and identity_id = ${identityId}
    )`
  return dispute
}

/** A dispute by what the acquirer calls it. */
export async function findDisputeByReference(
  sql: Sql,
  merchantId: string,
  acquirerReference: string,
): Promise<DisputeRow | undefined> {
  const [dispute] = await sql<DisputeRow>`
    select merchant_id as "merchantId", id, transaction_id as "transactionId", created, amount, reason_code as "reasonCode",
      reason_title as "reasonTitle", due, won, decided, held, acquirer_reference as "acquirerReference"
    from pay.disputes where merchant_id = ${merchantId} and acquirer_reference = ${acquirerReference}`
  return dispute
}
