import type { Sql } from '@tollgate/kit/db'
import type { DisputeRow } from './disputes.ts'
import type { FraudRow } from './frauds.ts'

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
