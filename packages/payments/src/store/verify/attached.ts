import type { Tx } from '@tollgate/kit/db'
import type { PageOf } from './place.ts'

export type CardFacts = {
  merchantId: string
  id: string
  created: Date
  transactionId: string
  transactionExists: boolean
  sameCard: boolean
}

export async function readCards(tx: Tx, { after: [merchantId, id], limit }: PageOf): Promise<CardFacts[]> {
  return await tx<CardFacts>`
    select it.merchant_id as "merchantId", it.id, it.created, it.transaction_id as "transactionId",
      exists (select from pay.transactions where transactions.merchant_id = it.merchant_id and transactions.id = it.transaction_id)
        as "transactionExists",
      exists (
        select from pay.transactions
        where transactions.merchant_id = it.merchant_id and transactions.id = it.transaction_id
          and (card_bin, card_last4, card_expiry, card_scheme) = (it.bin, it.last4, it.expiry, it.scheme)
      ) as "sameCard"
    from (
      select * from pay.cards where (merchant_id, id) > (${merchantId}, ${id}) order by merchant_id, id limit ${limit}
    ) it
    order by it.merchant_id, it.id`
}

export type DecisionFacts = { id: string; won: boolean; balance: string; fee: string }

export type DisputeFacts = {
  merchantId: string
  id: string
  created: Date
  transactionId: string
  transactionExists: boolean
  amount: string
  held: string
  won: boolean | null
  /** What its entries in the trail say; there should be one. */
  entries: {
    balance: string
    feeFlat: string
    feeRate: string
    /** The line that it was opened with. */
    line: { balance: string; fee: string } | null
  }[]
  /** Lines of the moment in which it was decided. */
  decisions: DecisionFacts[]
}

export async function readDisputes(tx: Tx, { after: [merchantId, id], limit }: PageOf): Promise<DisputeFacts[]> {
  return await tx<DisputeFacts>`
    select it.merchant_id as "merchantId", it.id, it.created, it.transaction_id as "transactionId",
      exists (select from pay.transactions where transactions.merchant_id = it.merchant_id and transactions.id = it.transaction_id)
        as "transactionExists", it.amount::text, it.held::text, it.won,
      (select coalesce(json_agg(json_build_object(
          'balance', trail.balance::text, 'feeFlat', fee_flat::text, 'feeRate', fee_rate::text,
          'line', case when lines.id is not null then
            json_build_object('balance', lines.balance::text, 'fee', lines.fee::text) end)), '[]')
       from pay.trail left join pay.lines on lines.merchant_id = trail.merchant_id and lines.id = line_id
       where trail.merchant_id = it.merchant_id and trail.transaction_id = it.transaction_id and trail.dispute_id = it.id) as entries,
      (select coalesce(json_agg(json_build_object('id', lines.id, 'won', lines.won, 'balance', balance::text, 'fee', fee::text)), '[]')
       from pay.lines
       where lines.merchant_id = it.merchant_id and lines.created = it.decided and lines.dispute_id = it.id and lines.won is not null
      ) as decisions
    from (
      select * from pay.disputes where (merchant_id, id) > (${merchantId}, ${id}) order by merchant_id, id limit ${limit}
    ) it
    order by it.merchant_id, it.id`
}

export type FraudFacts = { merchantId: string; id: string; created: Date; transactionId: string; transactionExists: boolean }

export async function readFrauds(tx: Tx, { after: [merchantId, id], limit }: PageOf): Promise<FraudFacts[]> {
  return await tx<FraudFacts>`
    select it.merchant_id as "merchantId", it.id, it.created, it.transaction_id as "transactionId",
      exists (select from pay.transactions where transactions.merchant_id = it.merchant_id and transactions.id = it.transaction_id)
        as "transactionExists"
    from (
      select * from pay.frauds where (merchant_id, id) > (${merchantId}, ${id}) order by merchant_id, id limit ${limit}
    ) it
    order by it.merchant_id, it.id`
}
