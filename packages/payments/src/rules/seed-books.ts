import { tagOf } from '@tollgate/kit/id'
import type { TrailEntry } from '../store/trail-entry.ts'
import type { Transaction } from '../store/transactions.ts'
import { bookingOf, type MovementKind, planVoid, puttingChange, takingChange } from './movements.ts'
import { isProcessingCode, type ProcessingCode } from './processing-errors.ts'
import { addDispute } from './seed-disputes.ts'
import { Contradiction, figuresOf } from './seed-figures.ts'
import type { SeedEntry, SeedLine, SeedTransaction } from './seed-file.ts'
import {
  type Besides,
  type Booked,
  type BookedMerchant,
  change,
  decisionOf,
  insistSame,
  lineKindOf,
  type Moved,
  priceAt,
  pushEntry,
  pushLine,
  type Story,
} from './seed-story.ts'

/** The books of a transaction from its authorization to the end of its trail; throws a Contradiction where they cannot be true. */
export function bookTransaction(given: SeedTransaction, merchant: BookedMerchant, besides: Besides): Booked {
  insistSame('its test', given.test, merchant.test)
  const booked: Booked = { transaction: authorized(given, merchant), trail: [], lines: [], disputes: [] }
  const { transaction } = booked
  const trail = given.trail ?? []
  if (transaction.state === 'declined' && trail.length > 0) throw new Contradiction('it was not successful, but has a trail')
  let last = given.created
  for (const [index, entry] of trail.entries()) {
    try {
      if (entry.created < last) throw new Contradiction('it is older than what comes before it')
      last = entry.created
      addEntry({ booked, merchant, besides }, entry)
    } catch (problem) {
      throw problem instanceof Contradiction ? new Contradiction(`trail.${index}: ${problem.message}`) : problem
    }
  }
  insistSame('its capturedAmount', given.capturedAmount, transaction.captured)
  insistSame('its refundedAmount', given.refundedAmount, transaction.refunded)
  insistSame('its voidedAmount', given.voidedAmount, transaction.voided)
  insistSame('its disputedAmount', given.disputedAmount, transaction.disputed)
  const left = transaction.state === 'approved' ? transaction.amount - transaction.captured - transaction.voided : 0
  insistSame('its pendingAmount', given.pendingAmount, left)
  return booked
}

function authorized(given: SeedTransaction, merchant: BookedMerchant): Transaction {
  const errorCode = errorOf(given)
  const { id, created, currency, amount, card } = given
  return {
    merchantId: merchant.id,
    id,
    created,
    test: merchant.test,
    state: errorCode === null ? 'approved' : 'declined',
    errorCode,
    currency,
    amount,
    captured: 0,
    refunded: 0,
    voided: 0,
    disputed: 0,
    capturable: errorCode === null ? amount : 0,
    refundable: 0,
    capturedGross: 0,
    capturedRateFee: 0,
    returned: 0,
    returnedGross: 0,
    returnedRateFee: 0,
    descriptor: given.descriptor ?? merchant.descriptor,
    custom: given.custom ?? null,
    recurring: given.recurring ?? false,
    tds: given.tds ?? 'none',
    card: {
      bin: card.bin,
      last4: card.last4,
      expiry: card.expiry,
      scheme: card.scheme,
      codePresent: card.code?.present ?? !given.recurring,
    },
    sourceId: null,
    // Whoever authorized a live one somewhere else cannot be asked about it here.
    acquirer: merchant.test ? 'simulator' : 'seed',
    acquirerReference: merchant.test && errorCode === null ? id : null,
    simulation: null,
    trail: [],
  }
}

function errorOf({ successful, error }: SeedTransaction): ProcessingCode | null {
  const code = error ? error.code : null
  if (code !== null && !isProcessingCode(code)) throw new Contradiction(`${code} is not the code of a processing error`)
  if (successful === true && code !== null) throw new Contradiction(`it is successful, but has error ${code}`)
  if (successful === false && code === null) throw new Contradiction('it is not successful, but has no error')
  return code
}

function addEntry(story: Story, entry: SeedEntry) {
  const kind = kindOf(entry)
  insistPossible(story.booked.transaction, kind, entry.amount)
  if (kind === 'void') return addVoid(story, entry)
  const line = entry.lineId === undefined ? undefined : story.besides.takeLine(entry.lineId)
  if (line) insistLine(story, { entry, kind, line })
  const undone = isUndone(entry)
  const figures = figuresOf(
    {
      kind,
      amount: entry.amount,
      currency: story.booked.transaction.currency,
      balance: undone ? line?.balance : (entry.balance ?? line?.balance),
      fee: undone ? line?.fee : (entry.fee ?? line?.fee),
    },
    {
      funding: story.merchant.currency,
      price: priceAt(story.merchant, entry.created),
      standing: story.booked.transaction,
      day: entry.created.toISOString().slice(0, 10),
    },
  )
  if (!undone) insistSame('its balance', entry.balance, figures.balance)
  if (line) insistSame(`the balance of line ${line.id}`, line.balance, figures.balance)
  if (line) insistSame(`the fee of line ${line.id}`, line.fee, figures.feeFlat + figures.feeRate)
  if (kind === 'dispute') addDispute(story, { entry, line, figures })
  else addMovement(story, { entry, kind, line, figures })
}

/** What a dispute that was won took at first stands on its lines; its entry tells what is left of that in the end. */
function isUndone(entry: SeedEntry): boolean {
  if (!entry.dispute || decisionOf(entry) !== true) return false
  if (entry.balance || entry.fee?.flat || entry.fee?.rate)
    throw new Contradiction('a dispute that was won costs nothing in the end, but it has a balance or a fee')
  return true
}

function kindOf(entry: SeedEntry): TrailEntry['kind'] {
  const kinds = (['capture', 'refund', 'void', 'dispute'] as const).filter((kind) => entry[kind])
  const [kind] = kinds
  if (!kind || kinds.length > 1) throw new Contradiction('it must be one of capture, refund, void and dispute')
  return kind
}

function insistPossible({ capturable, refundable, captured, disputed }: Transaction, kind: TrailEntry['kind'], amount: number) {
  if ((kind === 'capture' || kind === 'void') && amount > capturable)
    throw new Contradiction(`a ${kind} of ${amount}, but only ${capturable} is left of what was authorized`)
  if (kind === 'refund' && amount > refundable)
    throw new Contradiction(`a refund of ${amount}, but only ${refundable} is left of what was captured`)
  if (kind === 'dispute' && amount > captured - disputed)
    throw new Contradiction(`a dispute about ${amount}, but only ${captured - disputed} is left of what was captured to dispute`)
}

function insistLine({ booked, merchant }: Story, { entry, kind, line }: { entry: SeedEntry; kind: string; line: SeedLine }) {
  const { transaction } = booked
  const of = `of line ${line.id}`
  insistSame(`the merchantId ${of}`, line.merchantId, merchant.id)
  insistSame(`the transactionId ${of}`, line.transactionId, transaction.id)
  insistSame(`the test ${of}`, line.test, merchant.test)
  insistSame(`the amount ${of}`, line.amount?.amount, entry.amount)
  insistSame(`the currency ${of}`, line.amount?.currency, transaction.currency)
  insistSame(`the kind ${of}`, lineKindOf(line), kind)
  if (line.won || line.lost) throw new Contradiction(`line ${line.id} opens a dispute: how that ended is a line of its own`)
}

function addMovement(story: Story, { entry, kind, line, figures }: Moved & { kind: Exclude<MovementKind, 'void'> }) {
  const { booked, merchant, besides } = story
  const { transaction } = booked
  const plan = { kind, amount: entry.amount, ...figures }
  const lineId = entry.lineId ?? besides.mint(entry.created, tagOf(merchant.id))
  const may = { canCapture: true, canRefund: true, canVoid: true }
  const moving = { currency: merchant.currency, price: priceAt(merchant, entry.created), ...may }
  const postings = bookingOf(plan, transaction, moving, lineId)?.postings ?? []
  change(transaction, takingChange(plan))
  change(transaction, puttingChange(plan))
  pushEntry(story, entry, { kind, lineId, figures, descriptor: entry.descriptor ?? transaction.descriptor })
  pushLine(story, { id: lineId, created: line?.created ?? entry.created, kind, amount: entry.amount, figures, postings, line })
}

function addVoid(story: Story, entry: SeedEntry) {
  const { balance, fee, lineId } = entry
  if (lineId !== undefined) throw new Contradiction('a void has no line')
  if (balance || fee?.flat || fee?.rate) throw new Contradiction('a void moves no money, but it has a balance or a fee')
  const plan = planVoid(entry.amount)
  change(story.booked.transaction, takingChange(plan))
  change(story.booked.transaction, puttingChange(plan))
  pushEntry(story, entry, { kind: 'void', lineId: null, figures: { ...plan, rate: undefined }, descriptor: null })
}
