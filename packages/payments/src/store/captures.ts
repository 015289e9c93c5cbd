import type { Sql } from '@tollgate/kit/db'
import type { Claim } from './idempotency.ts'
import type { TrailEntry } from './trail-entry.ts'
import { type RawTransaction, type Transaction, toTransaction } from './transactions.ts'

export type PlainCapture = {
  transactionId: string
  identityId: string
  amount: number
  /** Instead of the transaction's own. */
  descriptor: string | undefined
  /** Where the caller names one, it has to be the transaction's. */
  currency: string | undefined
  created: Date
  entryId: string
  lineId: string
  claim: Claim | undefined
}

/** Of a trail that is not complete, others have added to it meanwhile. */
export type Captured = { transaction: Transaction; complete: boolean }

/**
 * A plain capture from beginning to end in one statement: who may, how much, the fees, the entry, the line, the postings and the
 * simulator's record. Plain is what needs nobody else to think: a test merchant's own currency, no fee in another one, and a simulator
 * that was not told to misbehave. Undefined for everything else, and for what has to be refused: nothing was written then.
 */
export async function insertPlainCapture(sql: Sql, capture: PlainCapture): Promise<Captured | undefined> {
  const { transactionId, identityId, amount, descriptor = null, currency = null, created, entryId, lineId, claim } = capture
  const [row] = await sql<RawTransaction & { flat_amount: number; rate_fee: number; balance: number }>`
    with found as (
      select transactions.merchant_id, transactions.id, rate, flat_amount, round(${amount}::bigint * rate)::bigint as rate_fee
      from pay.transactions
      join pay.merchants on merchants.id = transactions.merchant_id
      cross join lateral (
        select rate, flat_currency, flat_amount from pay.prices
        where prices.merchant_id = transactions.merchant_id order by since desc limit 1
      ) price
      where transactions.id = ${transactionId} and acquirer = 'simulator' and simulation is null and can_capture
        and merchants.currency = transactions.currency and flat_currency = transactions.currency
        and (${currency}::text is null or transactions.currency = ${currency})
        and exists (
          select from pay.members where members.merchant_id = transactions.merchant_id and identity_id = ${identityId}
        )
    ), taken as (
      update pay.transactions set capturable = capturable - ${amount}, captured = captured + ${amount},
        refundable = refundable + ${amount}, captured_gross = captured_gross + ${amount},
        captured_rate_fee = captured_rate_fee + rate_fee, entries = entries + 1
      from found
      where transactions.merchant_id = found.merchant_id and transactions.id = found.id and state = 'approved'
        and capturable >= ${amount}
      returning transactions.*, flat_amount, rate_fee, ${amount} - flat_amount - rate_fee as balance
    ), entered as (
      insert into pay.trail (merchant_id, transaction_id, id, position, kind, state, created, amount, gross, fee_flat, fee_rate, balance,
        descriptor, line_id, acquirer_reference, settled)
      select merchant_id, id, ${entryId}, entries, 'capture', 'done', ${created}, ${amount}, ${amount}, flat_amount, rate_fee, balance,
        coalesce(${descriptor}, descriptor), ${lineId}, ${entryId}, ${created}
      from taken
    ), lined as (
      insert into pay.lines (merchant_id, id, created, test, kind, balance, fee, amount, currency, transaction_id)
      select merchant_id, ${lineId}, ${created}, test, 'capture', balance, flat_amount + rate_fee, ${amount}, currency, id from taken
    ), posted as (
      insert into pay.postings (merchant_id, line_id, number, debit, credit, currency, amount)
      select merchant_id, ${lineId}, 1, 'acquirer', 'merchant', currency, ${amount}::bigint from taken
      union all
      select merchant_id, ${lineId}, 2, 'merchant', 'fees', currency, flat_amount + rate_fee from taken where flat_amount + rate_fee > 0
    ), simulated as (
      insert into pay.simulator_operations (merchant_id, reference, authorization_reference, kind, amount, currency, approved, created)
      select merchant_id, ${entryId}, id, 'capture', ${amount}, currency, true, ${created} from taken
    ), claimed as (
      insert into pay.idempotency (owner_id, key, fingerprint, method, path, created, merchant_id, transaction_id, entry_id)
      select ${claim?.ownerId ?? null}, ${claim?.key ?? null}, ${claim?.fingerprint ?? null}::bytea, ${claim?.method ?? null},
        ${claim?.path ?? null}, ${created}, merchant_id, id, ${entryId}
      from taken where ${claim !== undefined}::boolean
    )
    select taken.*, case when entries > 1 then (
      select json_agg(trail) from pay.trail
      where trail.merchant_id = taken.merchant_id and transaction_id = taken.id
    ) end as trail
    from taken`
  if (!row) return undefined
  const transaction = toTransaction(row)
  const entry: TrailEntry = {
    ...{ id: entryId, position: row.entries, kind: 'capture', state: 'done', created, amount, gross: amount },
    ...{
      feeFlat: row.flat_amount,
      feeRate: row.rate_fee,
      balance: row.balance,
      descriptor: descriptor ?? transaction.descriptor,
    },
    ...{ lineId, disputeId: null, disputeWon: null, errorCode: null, settled: created },
  }
  const trail = [...transaction.trail, entry]
  return { transaction: { ...transaction, trail }, complete: trail.length === row.entries }
}
