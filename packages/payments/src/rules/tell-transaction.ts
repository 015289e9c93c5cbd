import type { TrailEntry } from '../store/trail-entry.ts'
import type { Transaction } from '../store/transactions.ts'
import { processingError } from './processing-errors.ts'

/** What of a transaction is told. */
export type Tellable = Pick<
  Transaction,
  | 'id'
  | 'test'
  | 'merchantId'
  | 'created'
  | 'amount'
  | 'refunded'
  | 'captured'
  | 'voided'
  | 'disputed'
  | 'card'
  | 'tds'
  | 'currency'
  | 'custom'
  | 'recurring'
  | 'state'
  | 'errorCode'
  | 'descriptor'
  | 'trail'
>

/** A transaction as callers are told of it. What the acquirer has not answered yet is not told. */
export function tellTransaction(transaction: Tellable) {
  const { id, test, merchantId, created, amount, refunded, captured, voided, disputed, card } = transaction
  const { tds, currency, custom, recurring, state, errorCode, descriptor, trail } = transaction
  return {
    id,
    test,
    merchantId,
    created,
    amount,
    refundedAmount: refunded,
    capturedAmount: captured,
    voidedAmount: voided,
    pendingAmount: state === 'approved' ? amount - captured - voided : 0,
    disputedAmount: disputed,
    card: {
      bin: card.bin,
      last4: card.last4,
      expiry: card.expiry,
      code: { present: card.codePresent },
      scheme: card.scheme,
    },
    tds,
    currency,
    custom: custom as Record<string, unknown> | null,
    recurring,
    successful: state === 'approved',
    // An authorization that nobody has answered yet is not successful for want of an answer.
    error: state === 'approved' ? (false as const) : processingError(errorCode ?? 12),
    descriptor,
    trail: trail.filter((entry) => entry.state === 'done').map(tellEntry),
  }
}

function tellEntry({ feeFlat, feeRate, amount, balance, created, kind, descriptor, lineId, disputeId, disputeWon }: TrailEntry) {
  const told = { fee: { flat: feeFlat, rate: feeRate }, amount, balance, created }
  if (kind === 'capture') return { ...told, capture: true as const, descriptor, lineId }
  if (kind === 'refund') return { ...told, refund: true as const, descriptor, lineId }
  if (kind === 'void') return { ...told, void: true as const }
  return { ...told, dispute: tellDispute(disputeId ?? '', disputeWon), lineId }
}

function tellDispute(id: string, won: boolean | null) {
  if (won === null) return { id }
  return won ? { id, won: true as const } : { id, lost: true as const }
}

/** The transaction as it was when one of its entries was done: what came later is left out. */
export function asOfEntry(transaction: Transaction, entryId: string): Transaction {
  const last = transaction.trail.find(({ id }) => id === entryId)
  if (!last?.settlement) return transaction
  const { settlement: moment } = last
  const trail = transaction.trail.filter(
    ({ state, settlement }) => state === 'done' && settlement !== null && settlement <= moment,
  )
  const sum = (kind: TrailEntry['kind']) =>
    trail.filter((entry) => entry.kind === kind && entry.disputeWon !== true).reduce((total, { amount }) => total + amount, 0)
  return {
    ...transaction,
    trail,
    captured: sum('capture'),
    refunded: sum('refund'),
    voided: sum('void'),
    disputed: sum('dispute'),
  }
}
