import type { Sql } from '@tollgate/kit/db'
import type { Posting } from '../rules/books.ts'
import type { Rate } from '../rules/exchange.ts'
import type { ProcessingCode } from '../rules/processing-errors.ts'
import type { Claim } from './idempotency.ts'
import type { TrailEntry } from './trail-entry.ts'
import type { Transaction } from './transactions.ts'

/** By how much a movement changes what a transaction holds. What it does not name stays. */
export type Change = Partial<
  Pick<
    Transaction,
    | 'capturable'
    | 'refundable'
    | 'captured'
    | 'refunded'
    | 'voided'
    | 'disputed'
    | 'capturedGross'
    | 'capturedRateFee'
    | 'returned'
    | 'returnedGross'
    | 'returnedRateFee'
  >
>

/** The merchant's view of a movement and the postings that explain it. */
export type Booking = {
  lineId: string
  fee: number
  balance: number
  won?: boolean
  description?: string
  postings: readonly Posting[]
}

export type Movement = {
  change: Change
  entry: Pick<
    TrailEntry,
    'id' | 'kind' | 'created' | 'amount' | 'gross' | 'feeFlat' | 'feeRate' | 'balance' | 'descriptor' | 'disputeId'
  > & {
    rate: Rate | undefined
    acquirerReference: string | null
  }
  /** `pending`: the acquirer has yet to be asked, and nothing is booked. */
  state: 'pending' | 'done'
  booking: Booking | undefined
  /** Whether the simulator's own record of it is written at once. */
  simulated: boolean
  claim: Claim | undefined
}

/**
 * Takes a movement's amount out of its pot and writes its entry, with line, postings and all where it is done at once. Undefined when the
 * pot does not hold as much. A key that was used before is a unique violation, and nothing is written.
 *
 * What comes back is the transaction as it was known before and as it is now. Its trail lacks what others did meanwhile: `complete` is
 * false then, and it has to be read again.
 */
export async function insertMovement(
  sql: Sql,
  before: Transaction,
  movement: Movement,
): Promise<{ transaction: Transaction; complete: boolean } | undefined> {
  const { change, entry, state, booking, simulated, claim } = movement
  const { merchantId, id: transactionId } = before
  const { capturable = 0, refundable = 0, captured = 0, refunded = 0, voided = 0, disputed = 0 } = change
  const { capturedGross = 0, capturedRateFee = 0, returned = 0, returnedGross = 0, returnedRateFee = 0 } = change
  const postings = booking?.postings ?? []
  const settled = state === 'done' ? entry.created : null
  const [pots] = await sql<Pots>`
    with taken as (
      update pay.transactions set
        capturable = capturable + ${capturable}, refundable = refundable + ${refundable}, captured = captured + ${captured},
        refunded = refunded + ${refunded}, voided = voided + ${voided}, disputed = disputed + ${disputed},
        captured_gross = captured_gross + ${capturedGross}, captured_rate_fee = captured_rate_fee + ${capturedRateFee},
        returned = returned + ${returned}, returned_gross = returned_gross + ${returnedGross},
        returned_rate_fee = returned_rate_fee + ${returnedRateFee}, entries = entries + 1,
        settlements = settlements + ${state === 'done' ? 1 : 0}
      where merchant_id = ${merchantId} and id = ${transactionId} and state = 'approved'
        and capturable + ${capturable} >= 0 and refundable + ${refundable} >= 0
      returning merchant_id, id, entries, settlements, test, currency, captured, refunded, voided, disputed, capturable, refundable,
        captured_gross, captured_rate_fee, returned, returned_gross, returned_rate_fee
    ), entered as (
      insert into pay.trail (merchant_id, transaction_id, id, position, kind, state, created, amount, gross, fee_flat, fee_rate, balance,
        descriptor, line_id, dispute_id, exchange_rate, exchange_source, exchange_day, acquirer_reference, settled,
        settlement)
      select merchant_id, id, ${entry.id}, entries, ${entry.kind}, ${state}, ${entry.created}, ${entry.amount}, ${entry.gross},
        ${entry.feeFlat}, ${entry.feeRate}, ${entry.balance}, ${entry.descriptor}, ${booking?.lineId ?? null}, ${entry.disputeId},
        ${entry.rate?.rate ?? null}::numeric, ${entry.rate?.source ?? null}, ${entry.rate?.day ?? null}::date,
        ${entry.acquirerReference}, ${settled}, case when ${state} = 'done' then settlements end
      from taken
    ), lined as (
      insert into pay.lines (merchant_id, id, created, test, kind, balance, fee, amount, currency, transaction_id, dispute_id, description)
      select merchant_id, ${booking?.lineId ?? null}, ${entry.created}, test, ${entry.kind}, ${booking?.balance ?? 0}, ${booking?.fee ?? 0},
        ${entry.amount}, currency, id, ${entry.disputeId}, ${booking?.description ?? null}
      from taken where ${booking !== undefined}::boolean
    ), posted as (
      insert into pay.postings (merchant_id, line_id, number, debit, credit, currency, amount)
      select taken.merchant_id, ${booking?.lineId ?? null}, number, posting.debit, posting.credit, posting.currency, posting.amount
      from taken, unnest(${postings.map(({ debit }) => debit)}::text[], ${postings.map(({ credit }) => credit)}::text[],
        ${postings.map(({ currency }) => currency)}::text[], ${postings.map(({ amount }) => amount)}::bigint[])
        with ordinality as posting (debit, credit, currency, amount, number)
    ), simulated as (
      insert into pay.simulator_operations (merchant_id, reference, authorization_reference, kind, amount, currency, approved, created)
      select merchant_id, ${entry.id}, id, ${entry.kind}, ${entry.amount}, currency, true, ${entry.created}
      from taken where ${simulated}::boolean
    ), claimed as (
      insert into pay.idempotency (owner_id, key_hash, fingerprint, method, path, created, merchant_id, transaction_id, entry_id)
      select ${claim?.ownerId ?? null}, ${claim?.keyHash ?? null}, ${claim?.fingerprint ?? null}::bytea, ${claim?.method ?? null},
        ${claim?.path ?? null}, ${entry.created}, merchant_id, id, ${entry.id}
      from taken where ${claim !== undefined}::boolean
    )
    select entries, settlements, captured, refunded, voided, disputed, capturable, refundable, captured_gross as "capturedGross",
      captured_rate_fee as "capturedRateFee", returned, returned_gross as "returnedGross", returned_rate_fee as "returnedRateFee"
    from taken`
  if (!pots) return undefined
  const { entries, settlements, ...now } = pots
  const { rate: _, acquirerReference: __, ...facts } = entry
  const added = {
    ...facts,
    position: entries,
    state,
    lineId: booking?.lineId ?? null,
    disputeWon: null,
    errorCode: null,
    settled,
    settlement: state === 'done' ? settlements : null,
  }
  const trail = [...before.trail, added]
  return { transaction: { ...before, ...now, trail }, complete: isComplete(trail, pots) }
}

/** What a movement changes about a transaction. */
type Pots = Required<Change> & Counts

type Counts = { entries: number; settlements: number }

/** Whether nobody else has added to a trail or settled something in it since it was read. */
export function isComplete(trail: readonly TrailEntry[], { entries, settlements }: Counts): boolean {
  return trail.length === entries && trail.filter(({ state }) => state !== 'pending').length === settlements
}

export type Settlement = {
  merchantId: string
  transactionId: string
  entryId: string
  state: 'done' | 'failed'
  change: Change
  errorCode: ProcessingCode | null
  acquirerReference: string | null
  booking: Booking | undefined
  settled: Date
}

/** Puts what a pending entry took where it belongs, or back. False when somebody else has done so. */
export async function settleEntry(sql: Sql, settlement: Settlement): Promise<boolean> {
  const { merchantId, transactionId, entryId, state, change, errorCode, acquirerReference, booking, settled } = settlement
  const { capturable = 0, refundable = 0, captured = 0, refunded = 0, voided = 0 } = change
  const { capturedGross = 0, capturedRateFee = 0, returned = 0, returnedGross = 0, returnedRateFee = 0 } = change
  const postings = booking?.postings ?? []
  const rows = await sql`
    with locked as (
      select merchant_id, transaction_id, id from pay.trail
      where merchant_id = ${merchantId} and transaction_id = ${transactionId} and id = ${entryId} and state = 'pending'
      for update
    ), moved as (
      update pay.transactions set
        capturable = capturable + ${capturable}, refundable = refundable + ${refundable}, captured = captured + ${captured},
        refunded = refunded + ${refunded}, voided = voided + ${voided},
        captured_gross = captured_gross + ${capturedGross}, captured_rate_fee = captured_rate_fee + ${capturedRateFee},
        returned = returned + ${returned}, returned_gross = returned_gross + ${returnedGross},
        returned_rate_fee = returned_rate_fee + ${returnedRateFee}, settlements = settlements + 1
      from locked where transactions.merchant_id = locked.merchant_id and transactions.id = locked.transaction_id
      returning transactions.*
    ), ended as (
      update pay.trail set state = ${state}, settled = ${settled}, settlement = moved.settlements, line_id = ${booking?.lineId ?? null},
        error_code = ${errorCode}, acquirer_reference = ${acquirerReference}
      from moved
      where trail.merchant_id = moved.merchant_id and trail.transaction_id = moved.id and trail.id = ${entryId}
      returning trail.*
    ), lined as (
      insert into pay.lines (merchant_id, id, created, test, kind, balance, fee, amount, currency, transaction_id, description)
      select moved.merchant_id, ${booking?.lineId ?? null}, ${settled}, test, ended.kind, ${booking?.balance ?? 0}, ${booking?.fee ?? 0},
        ended.amount, currency, moved.id, ${booking?.description ?? null}
      from moved, ended where ${booking !== undefined}::boolean
    ), posted as (
      insert into pay.postings (merchant_id, line_id, number, debit, credit, currency, amount)
      select ended.merchant_id, ${booking?.lineId ?? null}, number, posting.debit, posting.credit, posting.currency, posting.amount
      from ended, unnest(${postings.map(({ debit }) => debit)}::text[], ${postings.map(({ credit }) => credit)}::text[],
        ${postings.map(({ currency }) => currency)}::text[], ${postings.map(({ amount }) => amount)}::bigint[])
        with ordinality as posting (debit, credit, currency, amount, number)
    )
    select from moved`
  return rows.length === 1
}
