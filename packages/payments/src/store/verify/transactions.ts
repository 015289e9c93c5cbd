import type { Tx } from '@tollgate/kit/db'
import type { PageOf } from './place.ts'

/** A line as far as the entry that caused it speaks of it. */
export type LineBeside = {
  kind: string
  won: boolean | null
  balance: string
  fee: string
  amount: string
  currency: string
  transactionId: string | null
  disputeId: string | null
}

export type DisputeBeside = { transactionId: string; amount: string; held: string; won: boolean | null }

/** An entry of a trail with what it points at. Amounts are texts, for they may be anything where something is wrong. */
export type EntryFacts = {
  id: string
  position: number
  kind: 'capture' | 'refund' | 'void' | 'dispute'
  state: 'pending' | 'done' | 'failed'
  created: string
  amount: string
  gross: string
  feeFlat: string
  feeRate: string
  balance: string
  settlement: number | null
  lineId: string | null
  line: LineBeside | null
  disputeId: string | null
  disputeWon: boolean | null
  dispute: DisputeBeside | null
}

/** What the simulator says that it did. */
export type OperationFacts = {
  reference: string
  kind: 'authorize' | 'capture' | 'refund' | 'void'
  amount: string
  currency: string
  approved: boolean
}

export type TransactionFacts = {
  merchantId: string
  id: string
  created: Date
  test: boolean
  state: 'pending' | 'approved' | 'declined'
  errorCode: number | null
  currency: string
  acquirer: string
  entries: number
  settlements: number
  amount: string
  captured: string
  refunded: string
  voided: string
  disputed: string
  capturable: string
  refundable: string
  capturedGross: string
  capturedRateFee: string
  returned: string
  returnedGross: string
  returnedRateFee: string
  merchant: { test: boolean; currency: string } | null
  sourceId: string | null
  sourceExists: boolean
  cardId: string | null
  cardExists: boolean
  trail: EntryFacts[]
  operations: OperationFacts[]
}

export async function readTransactions(tx: Tx, { after: [merchantId, id], limit }: PageOf): Promise<TransactionFacts[]> {
  return await tx<TransactionFacts>`
    select it.merchant_id as "merchantId", it.id, it.created, it.test, it.state, it.error_code as "errorCode", it.currency, it.acquirer,
      it.entries, it.settlements, it.amount::text, it.captured::text, it.refunded::text, it.voided::text, it.disputed::text, it.capturable::text,
      it.refundable::text, it.captured_gross::text as "capturedGross", it.captured_rate_fee::text as "capturedRateFee",
      it.returned::text, it.returned_gross::text as "returnedGross", it.returned_rate_fee::text as "returnedRateFee",
      (select json_build_object('test', merchants.test, 'currency', merchants.currency)
       from pay.merchants where merchants.id = it.merchant_id) as merchant,
      it.source_id as "sourceId",
      exists (select from pay.transactions source where source.merchant_id = it.merchant_id and source.id = it.source_id) as "sourceExists",
      it.card_id as "cardId",
      exists (select from pay.cards where cards.merchant_id = it.merchant_id and cards.id = it.card_id) as "cardExists",
      (select coalesce(json_agg(json_build_object(
          'id', trail.id, 'position', position, 'settlement', settlement, 'kind', trail.kind, 'state', state, 'created', trail.created, 'amount', trail.amount::text,
          'gross', gross::text, 'feeFlat', fee_flat::text, 'feeRate', fee_rate::text, 'balance', trail.balance::text,
          'lineId', line_id, 'disputeId', trail.dispute_id, 'disputeWon', dispute_won,
          'line', case when lines.id is not null then json_build_object(
            'kind', lines.kind, 'won', lines.won, 'balance', lines.balance::text, 'fee', lines.fee::text, 'amount', lines.amount::text,
            'currency', lines.currency, 'transactionId', lines.transaction_id, 'disputeId', lines.dispute_id) end,
          'dispute', case when disputes.id is not null then json_build_object(
            'transactionId', disputes.transaction_id, 'amount', disputes.amount::text, 'held', disputes.held::text,
            'won', disputes.won) end
        ) order by position), '[]')
       from pay.trail
       left join pay.lines on lines.merchant_id = trail.merchant_id and lines.id = line_id
       left join pay.disputes on disputes.merchant_id = trail.merchant_id and disputes.id = trail.dispute_id
       where trail.merchant_id = it.merchant_id and trail.transaction_id = it.id) as trail,
      (select coalesce(json_agg(json_build_object(
          'reference', reference, 'kind', kind, 'amount', amount::text, 'currency', currency, 'approved', approved)), '[]')
       from pay.simulator_operations
       where simulator_operations.merchant_id = it.merchant_id and authorization_reference = it.id) as operations
    from (
      select * from pay.transactions where (merchant_id, id) > (${merchantId}, ${id}) order by merchant_id, id limit ${limit}
    ) it
    order by it.merchant_id, it.id`
}

export type TrailFacts = { merchantId: string; transactionId: string; entries: number; transactionExists: boolean }

/** The transactions that the trail speaks of, whether they are there or not. */
export async function readTrails(tx: Tx, { after: [merchantId, transactionId], limit }: PageOf): Promise<TrailFacts[]> {
  return await tx<TrailFacts>`
    select it.merchant_id as "merchantId", it.transaction_id as "transactionId", it.entries,
      exists (select from pay.transactions where transactions.merchant_id = it.merchant_id and transactions.id = it.transaction_id)
        as "transactionExists"
    from (
      select merchant_id, transaction_id, count(*) as entries from pay.trail
      where (merchant_id, transaction_id) > (${merchantId}, ${transactionId})
      group by merchant_id, transaction_id order by merchant_id, transaction_id limit ${limit}
    ) it
    order by it.merchant_id, it.transaction_id`
}

export type OperationPlace = { merchantId: string; reference: string; authorizationReference: string; transactionExists: boolean }

/** Their place is the merchant's id and both references, divided by a space. */
export async function readOperations(tx: Tx, { after: [merchantId, references], limit }: PageOf): Promise<OperationPlace[]> {
  const [authorization = '', reference = ''] = references.split(' ')
  return await tx<OperationPlace>`
    select it.merchant_id as "merchantId", reference, authorization_reference as "authorizationReference",
      exists (
        select from pay.transactions
        where transactions.merchant_id = it.merchant_id and transactions.id = authorization_reference and acquirer = 'simulator'
      ) as "transactionExists"
    from (
      select merchant_id, reference, authorization_reference from pay.simulator_operations
      where (merchant_id, authorization_reference, reference) > (${merchantId}, ${authorization}, ${reference})
      order by merchant_id, authorization_reference, reference limit ${limit}
    ) it
    order by it.merchant_id, authorization_reference, reference`
}
