import { exponentOf } from '../../rules/currencies.ts'
import { isProcessingCode } from '../../rules/processing-errors.ts'
import {
  type EntryFacts,
  type OperationPlace,
  readOperations,
  readTrails,
  readTransactions,
  type TrailFacts,
  type TransactionFacts,
} from '../../store/verify/transactions.ts'
import { checkAcquirer } from './acquirer.ts'
import { checkEntry } from './entry.ts'
import { checkMade, type Findings, passOver, sumOf } from './pass.ts'

/** How long the acquirer may leave a question open before somebody should look. */
const patience = 60 * 60_000

export const transactions = passOver<TransactionFacts>({
  read: readTransactions,
  placeOf: ({ merchantId, id }) => [merchantId, id],
  check: checkTransaction,
})

function checkTransaction(transaction: TransactionFacts, findings: Findings) {
  const { merchantId, id, merchant, trail } = transaction
  const what = `transaction ${id} of merchant ${merchantId}`
  const breach = (sentence: string) => findings.breach(`${what}: ${sentence}`)
  checkMade(what, transaction, findings)
  if (!merchant) breach('the merchant does not exist')
  checkFacts(transaction, breach)
  checkSums(transaction, breach)
  checkPots(transaction, breach)
  checkAcquirer(transaction, breach)
  for (const entry of trail) {
    checkMade(`entry ${entry.id} of ${what}`, entry, findings)
    checkEntry(transaction, entry, (sentence) => breach(`its ${entry.kind} ${entry.id} ${sentence}`))
    if (entry.state === 'pending' && isLate(entry.created, findings))
      findings.warn(`${what}: its ${entry.kind} ${entry.id} of ${entry.amount} has been pending since ${entry.created}`)
  }
  if (transaction.state === 'pending' && isLate(transaction.created, findings))
    findings.warn(`${what} has been pending since ${new Date(transaction.created).toISOString()}`)
}

function isLate(created: Date | string, { now }: Findings): boolean {
  return new Date(created).getTime() < now.getTime() - patience
}

type Breach = (sentence: string) => void

function checkFacts(transaction: TransactionFacts, breach: Breach) {
  const { merchant, test, currency, errorCode, sourceId, cardId, state, trail, entries, settlements } = transaction
  if (merchant && merchant.test !== test) breach(`test is ${test}, but ${merchant.test} of the merchant`)
  if (exponentOf(currency) === undefined) breach(`${currency} is no currency`)
  if (errorCode !== null && !isProcessingCode(errorCode)) breach(`${errorCode} is no processing error`)
  if (sourceId !== null && !transaction.sourceExists) breach(`it was made from transaction ${sourceId}, which does not exist`)
  if (cardId !== null && !transaction.cardExists) breach(`it was made from card ${cardId}, which does not exist`)
  if (trail.length !== entries) breach(`it counts ${entries} entries, but its trail has ${trail.length}`)
  if (trail.some(({ position }, index) => position !== index + 1))
    breach(`the positions in its trail are ${trail.map(({ position }) => position).join(', ')}`)
  const settled = trail.filter((entry) => !underWay(entry)).map(({ settlement }) => settlement ?? 0)
  if (settled.length !== settlements)
    breach(`it counts ${settlements} settlements, but ${settled.length} entries of its trail are settled`)
  if (settled.toSorted((one, other) => one - other).some((settlement, index) => settlement !== index + 1))
    breach(`the settlements in its trail are ${settled.join(', ')}`)
  if (state !== 'approved' && trail.length > 0) breach(`it is ${state}, but its trail has ${trail.length} entries`)
}

const done = ({ state }: EntryFacts) => state === 'done'
const underWay = ({ state }: EntryFacts) => state === 'pending'
const is = (kind: EntryFacts['kind']) => (entry: EntryFacts) => entry.kind === kind
/** A dispute holds money until it is won. */
const holds = (entry: EntryFacts) => entry.kind === 'dispute' && entry.state === 'done' && entry.disputeWon !== true
/** What goes back is counted from the moment in which it is taken: what comes next depends on it. */
const goesBack = (entry: EntryFacts) => (entry.kind === 'refund' && entry.state !== 'failed') || holds(entry)

function amountsOf(entries: readonly EntryFacts[], ...conditions: ((entry: EntryFacts) => boolean)[]): bigint {
  return total(entries, 'amount', ...conditions)
}

function total(
  entries: readonly EntryFacts[],
  figure: 'amount' | 'gross' | 'feeRate',
  ...conditions: ((entry: EntryFacts) => boolean)[]
): bigint {
  return sumOf(entries.filter((entry) => conditions.every((holds) => holds(entry))).map((entry) => entry[figure]))
}

/** What a transaction says has become of its amount is what its trail tells. */
function checkSums(transaction: TransactionFacts, breach: Breach) {
  const { trail } = transaction
  const told: [what: string, said: string, found: bigint][] = [
    ['captured', transaction.captured, amountsOf(trail, is('capture'), done)],
    ['refunded', transaction.refunded, amountsOf(trail, is('refund'), done)],
    ['voided', transaction.voided, amountsOf(trail, is('void'), done)],
    ['disputed', transaction.disputed, amountsOf(trail, holds)],
    ['returned', transaction.returned, amountsOf(trail, goesBack)],
    ['captured gross', transaction.capturedGross, total(trail, 'gross', is('capture'), done)],
    ['captured rate fee', transaction.capturedRateFee, total(trail, 'feeRate', is('capture'), done)],
    ['returned gross', transaction.returnedGross, total(trail, 'gross', goesBack)],
    // Disputes keep their percentage.
    ['returned rate fee', transaction.returnedRateFee, -total(trail, 'feeRate', is('refund'), goesBack)],
  ]
  for (const [what, said, found] of told)
    if (BigInt(said) !== found) breach(`${what} is ${said}, but its trail comes to ${found}`)
}

/** Nothing is captured that was not authorized, nothing refunded that was not captured, and the pots hold exactly what is left. */
function checkPots(transaction: TransactionFacts, breach: Breach) {
  const { state, amount, captured, refunded, voided, capturable, refundable, trail } = transaction
  if (state !== 'approved') {
    const money = sumOf([captured, refunded, voided, capturable, refundable, transaction.disputed])
    if (money !== 0n) breach(`it is ${state}, but money is on it: captured ${captured}, capturable ${capturable}`)
    return
  }
  if (BigInt(captured) > BigInt(amount)) breach(`${captured} is captured of ${amount} that was authorized`)
  if (BigInt(refunded) > BigInt(captured)) breach(`${refunded} is refunded of ${captured} that was captured`)

  const moving = amountsOf(trail, underWay, (entry) => entry.kind === 'capture' || entry.kind === 'void')
  const capturableLeft = BigInt(amount) - sumOf([captured, voided, moving])
  if (BigInt(capturable) !== capturableLeft)
    breach(
      `capturable is ${capturable}, but ${capturableLeft} is left of ${amount}: captured ${captured}, voided ${voided}, under way ${moving}`,
    )

  const returning = amountsOf(trail, underWay, is('refund'))
  const held = sumOf(trail.filter(holds).map(({ dispute }) => dispute?.held ?? 0n))
  const refundableLeft = BigInt(captured) - sumOf([refunded, returning, held])
  if (BigInt(refundable) !== refundableLeft)
    breach(
      `refundable is ${refundable}, but ${refundableLeft} is left of ${captured}: refunded ${refunded}, under way ${returning}, held by disputes ${held}`,
    )
}

export const trails = passOver<TrailFacts>({
  read: readTrails,
  placeOf: ({ merchantId, transactionId }) => [merchantId, transactionId],
  countOf: ({ entries }) => entries,
  check({ merchantId, transactionId, entries, transactionExists }, { breach }) {
    if (!transactionExists)
      breach(
        `the trail of transaction ${transactionId} of merchant ${merchantId} has ${entries} entries, but there is no such transaction`,
      )
  },
})

export const operations = passOver<OperationPlace>({
  read: readOperations,
  placeOf: ({ merchantId, authorizationReference, reference }) => [merchantId, `${authorizationReference} ${reference}`],
  check({ merchantId, reference, authorizationReference, transactionExists }, { breach }) {
    if (!transactionExists)
      breach(
        `the simulator did ${reference} for merchant ${merchantId} on authorization ${authorizationReference}, which is no transaction of its own`,
      )
  },
})
