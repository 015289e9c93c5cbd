import type { Tx } from '@tollgate/kit/db'
import type { DisputeRow } from './disputes.ts'
import type { Booking } from './trail.ts'

/** What a dispute took from the merchant when it was opened. */
export type DisputeEntry = { gross: number; fee: number }

export async function findDisputeEntry(
  tx: Tx,
  { merchantId, transactionId, id }: Pick<DisputeRow, 'merchantId' | 'transactionId' | 'id'>,
): Promise<DisputeEntry | undefined> {
  const [entry] = await tx<DisputeEntry>`
    select gross, fee_flat + fee_rate as fee from pay.trail
    where merchant_id = ${merchantId} and transaction_id = ${transactionId} and kind = 'dispute' and dispute_id = ${id}`
  return entry
}

/**
 * Books how a dispute ended. One that was won gives back what it held and took, as if it had never been; one that was lost keeps it. What
 * the trail's entry says of fee and balance is what is left of them in the end.
 */
export async function bookDecision(
  tx: Tx,
  { dispute, won, decided, booking }: { dispute: DisputeRow; won: boolean; decided: Date; booking: Booking },
): Promise<void> {
  const { merchantId, transactionId, id, amount, held } = dispute
  const { lineId, balance, fee, postings } = booking
  await tx`
    with ended as (
      update pay.trail set dispute_won = ${won}, balance = balance + ${balance},
        fee_flat = case when ${won} then 0 else fee_flat end, fee_rate = case when ${won} then 0 else fee_rate end
      where merchant_id = ${merchantId} and transaction_id = ${transactionId} and kind = 'dispute' and dispute_id = ${id}
      returning gross
    ), freed as (
      update pay.transactions set disputed = disputed - ${amount}, refundable = refundable + ${held}, returned = returned - ${amount},
        returned_gross = returned_gross - ended.gross
      from ended where merchant_id = ${merchantId} and id = ${transactionId} and ${won}
    ), lined as (
      insert into pay.lines (merchant_id, id, created, test, kind, won, balance, fee, amount, currency, transaction_id, dispute_id)
      select merchant_id, ${lineId}, ${decided}, test, 'dispute', ${won}, ${balance}, ${fee}, ${amount}, currency, id, ${id}
      from pay.transactions where merchant_id = ${merchantId} and id = ${transactionId}
    )
    insert into pay.postings (merchant_id, line_id, number, debit, credit, currency, amount)
    select ${merchantId}, ${lineId}, number, posting.debit, posting.credit, posting.currency, posting.amount
    from unnest(${postings.map(({ debit }) => debit)}::text[], ${postings.map(({ credit }) => credit)}::text[],
      ${postings.map(({ currency }) => currency)}::text[], ${postings.map((posting) => posting.amount)}::bigint[])
      with ordinality as posting (debit, credit, currency, amount, number)`
}
