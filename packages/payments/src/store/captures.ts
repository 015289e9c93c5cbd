import type { Sql } from '@tollgate/kit/db'
import type { CardFacts } from '../acquirers/acquirer.ts'
import type { Tellable } from '../rules/tell-transaction.ts'
import type { Claim } from './idempotency.ts'
import { isComplete } from './trail.ts'
import { type RawEntry, type TrailEntry, toEntry } from './trail-entry.ts'

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

/** Where its trail is not complete, others have done something meanwhile. */
export type Captured = { transaction: Tellable; complete: boolean }

type Row = Omit<Tellable, 'id' | 'state' | 'errorCode' | 'card' | 'trail'> &
  CardFacts &
  Pick<TrailEntry, 'position' | 'feeFlat' | 'feeRate' | 'balance'> & { settlement: number; trail: RawEntry[] | null }

/**
 * A plain capture from beginning to end in one statement: who may, how much, the fees, the entry, the line, the postings and the
 * simulator's record. Plain is what needs nobody else to think: a test merchant's own currency, no fee in another one, and a simulator
 * that was not told to misbehave. Undefined for everything else, and for what has to be refused: nothing was written then.
 */
export async function insertPlainCapture(sql: Sql, capture: PlainCapture): Promise<Captured | undefined> {
  const { transactionId, identityId, amount, descriptor = null, currency = null, created, entryId, lineId, claim } = capture
  const [row] = await sql<Row>`
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
        -- The ids were minted with the transaction's tag, which has to be the merchant's; an imported one may have another.
        and substr(transactions.id, 9, 4) = substr(merchants.id, 9, 4)
        and (${currency}::text is null or transactions.currency = ${currency})
        and exists (
          select from pay.members where members.merchant_id = transactions.merchant_id and identity_id = ${identityId}
        )
    ), taken as (
      update pay.transactions set capturable = capturable - ${amount}, captured = captured + ${amount},
        refundable = refundable + ${amount}, captured_gross = captured_gross + ${amount},
        captured_rate_fee = captured_rate_fee + rate_fee, entries = entries + 1,
        settlements = settlements + 1
      from found
      where transactions.merchant_id = found.merchant_id and transactions.id = found.id and state = 'approved'
        and capturable >= ${amount}
      -- First what the rest of the statement needs: it reads the row up to there, once for every table.
      returning transactions.merchant_id as owner, transactions.id as it, entries as position,
        settlements as settlement, flat_amount, rate_fee, ${amount} - flat_amount - rate_fee as balance, test as testing, currency as paid_in, descriptor as usual_descriptor,
        created, amount, refunded, captured, voided, disputed, card_bin, card_last4, card_expiry, card_scheme, card_code_present, tds,
        custom, recurring
    ), entered as (
      insert into pay.trail (merchant_id, transaction_id, id, position, kind, state, created, amount, gross, fee_flat, fee_rate, balance,
        descriptor, line_id, acquirer_reference, settled, settlement)
      select owner, it, ${entryId}, position, 'capture', 'done', ${created}, ${amount}, ${amount}, flat_amount, rate_fee, balance,
        coalesce(${descriptor}, usual_descriptor), ${lineId}, ${entryId}, ${created}, settlement
      from taken
    ), lined as (
      insert into pay.lines (merchant_id, id, created, test, kind, balance, fee, amount, currency, transaction_id)
      select owner, ${lineId}, ${created}, testing, 'capture', balance, flat_amount + rate_fee, ${amount}, paid_in, it from taken
    ), posted as (
      insert into pay.postings (merchant_id, line_id, number, debit, credit, currency, amount)
      select owner, ${lineId}, 1, 'acquirer', 'merchant', paid_in, ${amount}::bigint from taken
      union all
      select owner, ${lineId}, 2, 'merchant', 'fees', paid_in, flat_amount + rate_fee from taken where flat_amount + rate_fee > 0
    ), simulated as (
      insert into pay.simulator_operations (merchant_id, reference, authorization_reference, kind, amount, currency, approved, created)
      select owner, ${entryId}, it, 'capture', ${amount}, paid_in, true, ${created} from taken
    ), claimed as (
      insert into pay.idempotency (owner_id, key_hash, fingerprint, method, path, created, merchant_id, transaction_id, entry_id)
      select ${claim?.ownerId ?? null}, ${claim?.keyHash ?? null}, ${claim?.fingerprint ?? null}::bytea, ${claim?.method ?? null},
        ${claim?.path ?? null}, ${created}, owner, it, ${entryId}
      from taken where ${claim !== undefined}::boolean
    )
    select created, amount, refunded, captured, voided, disputed, card_bin as bin, card_last4 as last4, card_expiry as expiry,
      card_scheme as scheme, card_code_present as "codePresent", tds, custom, recurring, testing as test, owner as "merchantId",
      paid_in as currency, usual_descriptor as descriptor, position, settlement, flat_amount as "feeFlat", rate_fee as "feeRate", balance,
      case when position > 1 then (
        select json_agg(trail) from pay.trail where trail.merchant_id = owner and transaction_id = it
      ) end as trail
    from taken`
  if (!row) return undefined
  const {
    bin,
    last4,
    expiry,
    scheme,
    codePresent,
    position,
    settlement,
    feeFlat,
    feeRate,
    balance,
    trail: earlier,
    ...told
  } = row
  const entry: TrailEntry = {
    ...{ id: entryId, position, kind: 'capture', state: 'done', created, amount, gross: amount, feeFlat, feeRate, balance },
    ...{ descriptor: descriptor ?? told.descriptor, lineId, settled: created, settlement },
    ...{ disputeId: null, disputeWon: null, errorCode: null },
  }
  const trail = [...(earlier ?? []).map(toEntry).toSorted((one, other) => one.position - other.position), entry]
  const card = { bin, last4, expiry, scheme, codePresent }
  const transaction = { ...told, id: transactionId, state: 'approved' as const, errorCode: null, card, trail }
  return { transaction, complete: isComplete(trail, { entries: position, settlements: settlement }) }
}
