import type { Booking, Change } from '../store/trail.ts'
import type { TrailEntry } from '../store/trail-entry.ts'
import type { MovingMerchant, Transaction } from '../store/transactions.ts'
import { capturePostings, refundPostings } from './books.ts'
import { captureFees, rateShare, returnFees } from './fees.ts'

export type MovementKind = 'capture' | 'refund' | 'void'

/** What a movement amounts to on the merchant's side. */
export type Plan = Pick<TrailEntry, 'amount' | 'gross' | 'feeFlat' | 'feeRate' | 'balance'> & { kind: MovementKind }

/** `gross` and `flat` are in the funding currency already. */
export function planCapture(amount: number, sum: { gross: number; flat: number }, rate: string): Plan {
  const fees = captureFees(sum.gross, { rate, flat: sum.flat })
  return { kind: 'capture', amount, gross: sum.gross, feeFlat: fees.flat, feeRate: fees.rate, balance: fees.balance }
}

/** Of the fees the percentage is given back, the flat part is not. */
export function planRefund(amount: number, transaction: Transaction, rate: string): Plan {
  const { gross, rate: share } = returnFees(transaction, amount, rate)
  return { kind: 'refund', amount, gross, feeFlat: 0, feeRate: share === 0 ? 0 : -share, balance: share - gross }
}

export function planVoid(amount: number): Plan {
  return { kind: 'void', amount, gross: 0, feeFlat: 0, feeRate: 0, balance: 0 }
}

/** Which pot a kind of movement takes from. */
export function potOf(kind: MovementKind): 'capturable' | 'refundable' {
  return kind === 'refund' ? 'refundable' : 'capturable'
}

/** What is taken out of its pot before the acquirer is asked. */
export function takingChange({ kind, amount, gross, feeRate }: Plan): Change {
  if (kind !== 'refund') return { capturable: -amount }
  return { refundable: -amount, returned: amount, returnedGross: gross, returnedRateFee: -feeRate || 0 }
}

/** Where it is put when the acquirer has approved. */
export function puttingChange({ kind, amount, gross, feeRate }: Plan): Change {
  if (kind === 'void') return { voided: amount }
  if (kind === 'refund') return { refunded: amount }
  return { captured: amount, refundable: amount, capturedGross: gross, capturedRateFee: feeRate }
}

/** What is taken is put back when the acquirer has declined. */
export function returningChange(plan: Plan): Change {
  return Object.fromEntries(Object.entries(takingChange(plan)).map(([pot, change]) => [pot, -change || 0]))
}

/** The line and postings of a movement that is done; a void moves no money. */
export function bookingOf(plan: Plan, transaction: Transaction, merchant: MovingMerchant, lineId: string): Booking | undefined {
  const { kind, amount, gross, feeFlat, feeRate, balance } = plan
  if (kind === 'void') return undefined
  const sum = { amount, currency: transaction.currency, gross, funding: merchant.currency }
  const fees = { flat: feeFlat, rate: feeRate }
  const postings =
    kind === 'capture' ? capturePostings(sum, fees) : refundPostings(sum, remaindersOf(plan, transaction, merchant))
  return { lineId, fee: feeFlat + feeRate, balance, postings }
}

/** By how much a refund differs from what its amount alone would give, so that all refunds together come to what was captured. */
function remaindersOf({ amount, gross, feeRate }: Plan, transaction: Transaction, merchant: MovingMerchant) {
  const plain = returnFees({ ...transaction, returned: 0, returnedGross: 0 }, amount, merchant.price.rate).gross
  const rate = -feeRate || 0
  return { rate, rounding: { gross: gross - plain, rate: rate - rateShare(gross, merchant.price.rate) } }
}
