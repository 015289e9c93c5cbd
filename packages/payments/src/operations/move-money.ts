import type { Sql } from '@tollgate/kit/db'
import { tagOf } from '@tollgate/kit/id'
import { insist } from '@tollgate/kit/insist'
import type { Decided, MoveAsk, Outcome } from '../acquirers/acquirer.ts'
import type { App } from '../app.ts'
import { fail, unfit } from '../errors.ts'
import type { Rate } from '../rules/exchange.ts'
import { majorText } from '../rules/money.ts'
import {
  bookingOf,
  type MovementKind,
  type Plan,
  planCapture,
  planRefund,
  planVoid,
  potOf,
  puttingChange,
  returningChange,
  takingChange,
} from '../rules/movements.ts'
import { asOfEntry } from '../rules/tell-transaction.ts'
import type { Claim } from '../store/idempotency.ts'
import { findBalance } from '../store/line-sums.ts'
import type { Pending } from '../store/pending.ts'
import { insertMovement, settleEntry } from '../store/trail.ts'
import type { TrailEntry } from '../store/trail-entry.ts'
import { type FoundTransaction, findTransaction, lockTransaction, type Transaction } from '../store/transactions.ts'
import { exchange } from './exchange.ts'
import { findAcquirer } from './find-acquirer.ts'
import { declined, unanswered } from './refuse-payment.ts'

type Parts = Pick<App, 'config' | 'db' | 'log' | 'now' | 'mintId' | 'rates' | 'acquirers' | 'inTurn' | 'meters'>

/** What writing down an outcome takes. */
type Settling = Pick<App, 'db' | 'now' | 'mintId'> & Partial<Pick<App, 'meters'>>

export type Move = {
  kind: MovementKind
  found: FoundTransaction
  amount: number
  descriptor: string | undefined
  claim: Claim | undefined
}

/**
 * Captures, refunds or voids an amount, in three strokes: take it out of its pot, ask the acquirer, put it where it belongs or back. Where
 * the acquirer decides at once, taking and putting is one statement.
 */
export async function moveMoney(app: Parts, move: Move): Promise<Transaction> {
  const { transaction } = move.found
  insistPossible(move)
  const acquirer = findAcquirer(app, transaction)
  const id = app.mintId(tagOf(transaction.merchantId))
  const ask = askAbout(move.found, { id, kind: move.kind, amount: move.amount, descriptor: descriptorOf(move) }, false)
  const decided = acquirer.atOnce?.(ask)
  if (decided?.kind === 'declined') throw declined(decided.code)

  const taken = await take(app, move, { id, decided })
  if (decided) {
    app.meters.movement(move.kind, decided, transaction.test)
    return taken
  }
  return put(app, { found: { ...move.found, transaction: taken }, entryId: id, outcome: await acquirer.move(ask) })
}

/** Asks about an entry that was left without an answer, and puts what it took where it belongs. */
export async function finishMovement(app: Parts, merchantId: string, transactionId: string, entryId: string): Promise<void> {
  const found = await findTransaction(app.db, merchantId, transactionId)
  const entry = found?.transaction.trail.find(({ id }) => id === entryId)
  if (!found || entry?.state !== 'pending' || entry.kind === 'dispute') return
  const ask = askAbout(found, { ...entry, kind: entry.kind }, true)
  const outcome = await findAcquirer(app, found.transaction).move(ask)
  if (outcome.kind !== 'unknown') await settle(app, found, entry, outcome)
}

/** Settles an entry as somebody says who looked it up at the acquirer. False when there is nothing to settle. */
export async function settleMovement(
  app: Settling,
  { merchantId, transactionId, id }: Pick<Pending, 'merchantId' | 'transactionId' | 'id'>,
  decided: Decided,
): Promise<boolean> {
  const found = await findTransaction(app.db, merchantId, transactionId)
  const entry = found?.transaction.trail.find((each) => each.id === id)
  return found !== undefined && entry?.state === 'pending' && (await settle(app, found, entry, decided))
}

function insistPossible({ kind, found: { transaction, merchant }, amount }: Move) {
  const allowed = { capture: merchant.canCapture, refund: merchant.canRefund, void: merchant.canVoid }[kind]
  if (!allowed) throw unfit('merchant', `The merchant is not allowed to ${kind}`)
  const most = transaction[potOf(kind)]
  if (amount > most) throw unfit('amount', tooMuch(kind, most, transaction.currency))
}

function tooMuch(kind: MovementKind, most: number, currency: string): string {
  return `Can ${kind} at most ${currency} ${majorText(most, currency)}`
}

function descriptorOf({ kind, found, descriptor }: Move): string | undefined {
  return kind === 'void' ? undefined : (descriptor ?? found.transaction.descriptor)
}

type Taken = { id: string; decided: Decided | undefined }

/** The first stroke; where the acquirer has decided at once, all of them. */
async function take(app: Parts, move: Move, taken: Taken): Promise<Transaction> {
  if (move.kind !== 'refund') return takeFrom(app, app.db, move, taken)
  const { merchantId, id } = move.found.transaction
  // How much a refund takes along depends on what went back before it, so that refunds of one transaction come one after the other. They
  // queue here first, so that a crowd of them does not wait with all our connections.
  return app.inTurn(id, () =>
    app.db.begin(async (tx) => {
      const locked = await lockTransaction(tx, merchantId, id)
      if (!locked) throw fail('not_found')
      const { trail } = move.found.transaction
      const found = { ...locked, transaction: { ...locked.transaction, trail } }
      insistPossible({ ...move, found })
      return takeFrom(app, tx, { ...move, found }, taken)
    }),
  )
}

async function takeFrom(app: Parts, sql: Sql, move: Move, taken: Taken): Promise<Transaction> {
  const { kind, found, amount } = move
  const { transaction, merchant } = found
  const { plan, rate } = planOf(app, move)
  if (plan.kind === 'capture' && plan.gross >= gigantic) await insistRoom(sql, app.now(), transaction, plan.gross)
  const { decided } = taken
  const lineId = app.mintId(tagOf(transaction.merchantId))
  const moved = await insertMovement(sql, transaction, {
    change: decided ? { ...takingChange(plan), ...puttingChange(plan) } : takingChange(plan),
    entry: {
      ...plan,
      id: taken.id,
      created: app.now(),
      descriptor: descriptorOf(move) ?? null,
      disputeId: null,
      rate,
      acquirerReference: decided?.kind === 'approved' ? (decided.acquirerReference ?? null) : null,
    },
    state: decided ? 'done' : 'pending',
    booking: decided && bookingOf(plan, transaction, merchant, lineId),
    simulated: decided !== undefined,
    claim: move.claim,
  })
  if (moved?.complete) return moved.transaction
  const { transaction: now } = await findAgain(sql, transaction)
  // As a key would be told: what came later is somebody else's.
  if (moved) return decided ? asOfEntry(now, taken.id) : now
  // Somebody else was faster.
  const most = now[potOf(kind)]
  if (amount > most) throw unfit('amount', tooMuch(kind, most, now.currency))
  throw fail('conflict')
}

/** From here on a capture is held against the balance: nobody's is near, and all others are spared the look. */
export const gigantic = 2 ** 43

/** What a merchant has can be told up to 2^53-1. Of those who capture as much at the very same moment, one may still be too many. */
async function insistRoom(sql: Sql, now: Date, { merchantId, capturedGross }: Transaction, gross: number): Promise<void> {
  const { balance } = await findBalance(sql, merchantId, now)
  if (Math.max(balance, capturedGross) + gross > Number.MAX_SAFE_INTEGER)
    throw unfit('amount', 'Too large: the balance of the merchant would be more than can be told')
}

function planOf(app: Parts, { kind, found, amount }: Move): { plan: Plan; rate: Rate | undefined } {
  const { transaction, merchant } = found
  const { price, currency: funding } = merchant
  if (kind === 'void') return { plan: planVoid(amount), rate: undefined }
  if (kind === 'refund') return { plan: planRefund(amount, transaction, price.rate), rate: undefined }
  const { gross, rate } = exchange(app, amount, transaction.currency, funding)
  // A fee is not worth refusing a capture for: yesterday's rate will do.
  const { gross: flat } = exchange(app, price.flat.amount, price.flat.currency, funding, 'any age')
  return { plan: planCapture(amount, { gross, flat }, price.rate), rate }
}

type Answered = { found: FoundTransaction; entryId: string; outcome: Outcome }

/** The last stroke. */
async function put(app: Parts, { found, entryId, outcome }: Answered): Promise<Transaction> {
  const { transaction } = found
  const entry = transaction.trail.find(({ id }) => id === entryId) as TrailEntry
  if (outcome.kind === 'unknown') {
    const line = { transaction: transaction.id, entry: entryId, reason: outcome.reason }
    app.log.warn(line, `the acquirer has not told what became of a ${entry.kind}`)
    app.meters.movement(entry.kind as MovementKind, outcome, transaction.test)
    throw unanswered(transaction.id)
  }
  // The acquirer may not tell it a second time.
  await insist(() => settle(app, found, entry, outcome))
  const { transaction: now } = await findAgain(app.db, transaction)
  // Whoever else asked about it meanwhile has heard the same.
  const ended = now.trail.find(({ id }) => id === entryId)
  if (ended?.state === 'failed') throw declined(ended.errorCode ?? 12)
  // As a key would be told: others may have settled theirs between our two statements.
  return asOfEntry(now, entryId)
}

/** False when somebody else has settled it. */
async function settle(app: Settling, found: FoundTransaction, entry: TrailEntry, outcome: Decided): Promise<boolean> {
  const { transaction, merchant } = found
  const plan: Plan = { ...entry, kind: entry.kind as MovementKind }
  const approved = outcome.kind === 'approved'
  const lineId = app.mintId(tagOf(transaction.merchantId))
  const isSettled = await settleEntry(app.db, {
    merchantId: transaction.merchantId,
    transactionId: transaction.id,
    entryId: entry.id,
    state: approved ? 'done' : 'failed',
    change: approved ? puttingChange(plan) : returningChange(plan),
    errorCode: approved ? null : outcome.code,
    acquirerReference: approved ? (outcome.acquirerReference ?? null) : null,
    booking: approved ? bookingOf(plan, transaction, merchant, lineId) : undefined,
    settled: app.now(),
  })
  if (isSettled) app.meters?.movement(plan.kind, outcome, transaction.test)
  return isSettled
}

async function findAgain(sql: Sql, { merchantId, id }: Transaction) {
  const found = await findTransaction(sql, merchantId, id)
  if (!found) throw new Error(`transaction ${id} is gone`)
  return found
}

type Asked = { id: string; kind: MovementKind; amount: number; descriptor: string | null | undefined }

function askAbout({ transaction }: FoundTransaction, { id, kind, amount, descriptor }: Asked, again: boolean): MoveAsk {
  const { capturable, captured, trail } = transaction
  // Asked again, its own amount has left the pot already.
  const left = again ? capturable : capturable - amount
  const underWay = trail.some((entry) => entry.state === 'pending' && entry.id !== id)
  return {
    kind,
    reference: id,
    again,
    merchantId: transaction.merchantId,
    currency: transaction.currency,
    amount,
    descriptor: descriptor ?? undefined,
    authorization: {
      reference: transaction.id,
      acquirerReference: transaction.acquirerReference ?? undefined,
      amount: transaction.amount,
    },
    endsAuthorization: kind === 'void' && captured === 0 && left === 0 && !underWay,
    simulation: transaction.simulation ?? undefined,
  }
}
