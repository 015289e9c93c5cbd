import type { Tx } from '@tollgate/kit/db'
import { tagOf } from '@tollgate/kit/id'
import type { App } from '../app.ts'
import { fail, unfit } from '../errors.ts'
import { disputeLostPostings, disputeWonPostings } from '../rules/books.ts'
import { bookDecision, type DisputeEntry, findDisputeEntry } from '../store/dispute-decisions.ts'
import { type DisputeRow, lockDispute, setDisputeDecided } from '../store/disputes.ts'
import type { Booking } from '../store/trail.ts'
import { type FoundTransaction, lockTransaction } from '../store/transactions.ts'

/** Commands count nothing. */
type Parts = Pick<App, 'now' | 'mintId'> & Partial<Pick<App, 'meters'>>

export type Decision = { merchantId: string; disputeId: string; won: boolean }

/** Ends a dispute. Ending it again the same way changes nothing. */
export function decideDispute(app: Parts & Pick<App, 'db' | 'inTurn'>, decision: Decision): Promise<DisputeRow> {
  return app.inTurn(decision.disputeId, () => app.db.begin((tx) => writeDecision(app, tx, decision)))
}

export async function writeDecision(app: Parts, tx: Tx, { merchantId, disputeId, won }: Decision): Promise<DisputeRow> {
  const dispute = await lockDispute(tx, merchantId, disputeId)
  if (!dispute) throw fail('not_found')
  if (dispute.decided) return insistSame(dispute, won)

  const found = await lockTransaction(tx, merchantId, dispute.transactionId)
  const entry = await findDisputeEntry(tx, dispute)
  if (!found || !entry) throw new Error(`dispute ${disputeId} is not in the trail of transaction ${dispute.transactionId}`)
  // The line is found by this moment, so that it is the same for both.
  const decided = app.now()
  await setDisputeDecided(tx, { merchantId, id: disputeId, won, decided })
  const lineId = app.mintId(tagOf(merchantId))
  const booking = won ? wonBooking(entry, found, lineId) : lostBooking(entry, found, lineId, dispute.amount)
  await bookDecision(tx, { dispute, won, decided, booking })
  app.meters?.dispute(won ? 'won' : 'lost', found.transaction.test)
  return { ...dispute, won, decided }
}

function insistSame(dispute: DisputeRow, won: boolean): DisputeRow {
  if (dispute.won === won) return dispute
  const moment = dispute.decided?.toISOString()
  throw unfit('won', `Must be ${!won}: this dispute was ${won ? 'lost' : 'won'} on ${moment}, and that is final`)
}

/** What was set aside comes back, and the fee with it. */
function wonBooking({ gross, fee }: DisputeEntry, { merchant }: FoundTransaction, lineId: string): Booking {
  return { lineId, fee: -fee || 0, balance: gross + fee, postings: disputeWonPostings(gross, fee, merchant.currency) }
}

/** The merchant has paid already: what was set aside leaves. */
function lostBooking(
  { gross }: DisputeEntry,
  { transaction, merchant }: FoundTransaction,
  lineId: string,
  amount: number,
): Booking {
  const sum = { amount, currency: transaction.currency, gross, funding: merchant.currency }
  return { lineId, fee: 0, balance: 0, postings: disputeLostPostings(sum) }
}
