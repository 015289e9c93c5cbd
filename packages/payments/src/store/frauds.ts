import type { Sql } from '@tollgate/kit/db'
import type { Page } from '../rules/page.ts'

export type FraudRow = {
  merchantId: string
  id: string
  transactionId: string
  created: Date
  reported: Date | null
  /** From 0 to 8: see the endpoint for what they mean. */
  reason: number | null
}

/** False when the acquirer has told of it before. */
export async function insertFraud(sql: Sql, fraud: FraudRow & { acquirerReference: string }): Promise<boolean> {
  const { merchantId, id, transactionId, created, reported, reason, acquirerReference } = fraud
  const { count } = await sql`
    insert into pay.frauds (merchant_id, id, transaction_id, created, reported, reason, acquirer_reference)
    values (${merchantId}, ${id}, ${transactionId}, ${created}, ${reported}, ${reason}, ${acquirerReference})
    on conflict (merchant_id, acquirer_reference) do nothing
    returning id`
  return count === 1
}

export async function listFrauds(
  sql: Sql,
  { merchantId, transactionId = null }: { merchantId: string; transactionId?: string | null },
  { limit, before, after, ascending }: Page,
): Promise<FraudRow[]> {
  return await sql<FraudRow>`
    select id, merchant_id as "merchantId", transaction_id as "transactionId", created, reported, reason
    from (
      (select * from pay.frauds
        where merchant_id = ${merchantId} and id < ${before} and id > ${after} and not ${ascending}::boolean
          and ${transactionId}::text is null
        order by id desc limit ${limit})
      union all
      (select * from pay.frauds
        where merchant_id = ${merchantId} and id < ${before} and id > ${after} and ${ascending}::boolean
          and ${transactionId}::text is null
        order by id limit ${limit})
      union all
      (select * from pay.frauds
        where merchant_id = ${merchantId} and id < ${before} and id > ${after}
          and ${transactionId}::text is not null and transaction_id = ${transactionId}
        order by case when ${ascending}::boolean then id end, id desc limit ${limit})
    ) as page
    order by case when ${ascending}::boolean then id end, id desc`
}

/** A fraud alert, if this identity is a member of its merchant. */
export async function findOwnFraud(sql: Sql, identityId: string, id: string): Promise<FraudRow | undefined> {
  const [fraud] = await sql<FraudRow>`
    select id, merchant_id as "merchantId", transaction_id as "transactionId", created, reported, reason
    from pay.frauds
    where id = ${id} and exists (
      select from pay.members where members.merchant_id = frauds.merchant_id and identity_id = ${identityId}
    )`
  return fraud
}

/** A fraud alert by what the acquirer calls it. */
export async function findFraudByReference(
  sql: Sql,
  merchantId: string,
  acquirerReference: string,
): Promise<FraudRow | undefined> {
  const [fraud] = await sql<FraudRow>`
    select merchant_id as "merchantId", id, transaction_id as "transactionId", created, reported, reason
    from pay.frauds where merchant_id = ${merchantId} and acquirer_reference = ${acquirerReference}`
  return fraud
}
