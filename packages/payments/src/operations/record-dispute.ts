import type { Tx } from '@tollgate/kit/db'
import { tagOf } from '@tollgate/kit/id'
import type { App } from '../app.ts'
import { unfit } from '../errors.ts'
import { disputePostings } from '../rules/books.ts'
import type { DisputeReason } from '../rules/dispute-reasons.ts'
import { returnFees } from '../rules/fees.ts'
import { majorText } from '../rules/money.ts'
import { type DisputeRow, findDisputeByReference, insertDispute, type NewDispute } from '../store/disputes.ts'
import { insertMovement } from '../store/trail.ts'
import { type FoundTransaction, lockTransaction, type Transaction } from '../store/transactions.ts'
import { exchange } from './exchange.ts'

/** Commands count nothing. */
type Parts = Pick<App, 'config' | 'now' | 'mintId' | 'rates'> & Partial<Pick<App, 'meters'>>

/** What an acquirer tells of a dispute. */
export type DisputeNotice = {
  merchantId: string
  transactionId: string
  /** In the currency of the transaction. Not told, it is everything that can be disputed. */
  amount?: number | undefined
  reason: DisputeReason
  due: Date
  acquirerReference: string
  /** When it was raised, where that is not now. Money moves when we hear of it, whenever that was. */
  created?: Date | undefined
}

/** Takes from a merchant what is disputed. The same notification any number of times is one dispute. */
export function recordDispute(app: Parts & Pick<App, 'db' | 'inTurn'>, notice: DisputeNotice): Promise<DisputeRow> {
  return app.inTurn(notice.transactionId, () => app.db.begin((tx) => writeDispute(app, tx, notice)))
}

export async function writeDispute(app: Parts, tx: Tx, notice: DisputeNotice): Promise<DisputeRow> {
  const { merchantId, transactionId, acquirerReference } = notice
  const found = await lockTransaction(tx, merchantId, transactionId)
  if (!found) throw unfit('transactionId', 'There is no transaction with this id')
  const known = await findDisputeByReference(tx, merchantId, acquirerReference)
  if (known) return insistSame(known, notice)

  const now = app.now()
  const created = notice.created ?? now
  if (created > now) throw unfit('created', 'Must not be in the future')
  const amount = insistDisputable(found.transaction, notice.amount)
  const dispute: NewDispute = {
    merchantId,
    id: app.mintId(tagOf(merchantId)),
    transactionId,
    created,
    amount,
    reasonCode: notice.reason.code,
    reasonTitle: notice.reason.title,
    due: notice.due,
    // What was refunded before cannot be held any more, and is disputed all the same.
    held: Math.min(found.transaction.refundable, amount),
    acquirerReference,
  }
  // Nobody else can tell of this transaction's disputes while it is locked.
  if (!(await insertDispute(tx, dispute))) throw aboutAnother()
  await moveOut(app, tx, found, dispute, now)
  app.meters?.dispute('opened', found.transaction.test)
  return { ...dispute, won: null, decided: null }
}

function insistSame(known: DisputeRow, { transactionId, amount = known.amount }: DisputeNotice): DisputeRow {
  if (known.transactionId !== transactionId) throw aboutAnother()
  if (known.amount !== amount) throw unfit('amount', `This dispute was about ${known.amount} when it was told of first`)
  return known
}

function aboutAnother() {
  return unfit('acquirerReference', 'A dispute of another transaction has this reference')
}

function insistDisputable({ captured, disputed, currency }: Transaction, asked: number | undefined): number {
  const most = captured - disputed
  const amount = asked ?? most
  if (amount > most || most === 0) throw unfit('amount', `Can dispute at most ${currency} ${majorText(most, currency)}`)
  return amount
}

/** The amount is set aside and the fee is charged. Of the percentage nothing is given back. */
async function moveOut(
  app: Parts,
  tx: Tx,
  { transaction, merchant }: FoundTransaction,
  dispute: NewDispute,
  now: Date,
): Promise<void> {
  const { merchantId, amount, held, id } = dispute
  const { price, currency: funding } = merchant
  const { gross } = returnFees(transaction, amount, price.rate)
  // What was refunded and is disputed as well counts twice, and no number holds more.
  if (Math.max(transaction.returned + amount, transaction.returnedGross + gross) > Number.MAX_SAFE_INTEGER)
    throw unfit('amount', 'Too large, together with what was refunded before')
  // A dispute happens whether we know today's rate or not.
  const { gross: usual } = exchange(app, price.dispute.amount, price.dispute.currency, funding, 'any age')
  // Both together are one line, which holds no more than 2^53-1.
  const fee = Math.min(usual, Number.MAX_SAFE_INTEGER - gross)
  const balance = -gross - fee || 0
  const moved = await insertMovement(tx, transaction, {
    change: { refundable: -held || 0, disputed: amount, returned: amount, returnedGross: gross },
    entry: {
      id: app.mintId(tagOf(merchantId)),
      kind: 'dispute',
      created: now,
      amount,
      gross,
      feeFlat: fee,
      feeRate: 0,
      balance,
      descriptor: null,
      disputeId: id,
      rate: undefined,
      acquirerReference: dispute.acquirerReference,
    },
    state: 'done',
    booking: { lineId: app.mintId(tagOf(merchantId)), fee, balance, postings: disputePostings(gross, fee, funding) },
    simulated: false,
    claim: undefined,
  })
  if (!moved) throw new Error(`the pots of transaction ${transaction.id} changed while it was locked`)
}
