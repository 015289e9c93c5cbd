import { Json, type Sql } from '@tollgate/kit/db'

/** That payments may follow one that the payer made, and the card that they are charged to. */
export type Agreement = {
  merchantId: string
  transactionId: string
  created: Date
  plan: readonly object[] | null
  unplannedMerchant: boolean
  unplannedCustomer: boolean
  card: Buffer
}

export async function insertAgreement(tx: Sql, agreement: Agreement): Promise<void> {
  const { merchantId, transactionId, created, plan, unplannedMerchant, unplannedCustomer, card } = agreement
  await tx`
    insert into pay.agreements (merchant_id, transaction_id, created, plan, unplanned_merchant, unplanned_customer, card)
    values (${merchantId}, ${transactionId}, ${created}, ${plan ? new Json(plan) : null}, ${unplannedMerchant}, ${unplannedCustomer}, ${card})`
}

/** The sealed card of the payment that a series began with: of the transaction itself, or of the one that it was made from. */
export async function findAgreedCard(
  sql: Sql,
  { merchantId, transactionId }: { merchantId: string; transactionId: string },
): Promise<{ transactionId: string; card: Buffer } | undefined> {
  const [found] = await sql<{ transactionId: string; card: Buffer }>`
    select transaction_id as "transactionId", card from pay.agreements
    where merchant_id = ${merchantId} and card is not null and transaction_id in (
      ${transactionId}, (select source_id from pay.transactions where merchant_id = ${merchantId} and id = ${transactionId})
    )
    order by transaction_id desc limit 1`
  return found
}
