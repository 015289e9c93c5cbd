import type { OperationFacts, TransactionFacts } from '../../store/verify/transactions.ts'
import { sumOf } from './pass.ts'

type Breach = (sentence: string) => void

/** What the simulator says that it did is what we say that it did. Of what it has not been asked about to the end, neither can speak. */
export function checkAcquirer(transaction: TransactionFacts, breach: Breach) {
  const { acquirer, state, currency, trail } = transaction
  if (acquirer !== 'simulator' || state === 'pending') return
  const open = new Set(trail.filter((entry) => entry.state === 'pending').map(({ id }) => id))
  const settled = transaction.operations.filter(({ reference, approved }) => approved && !open.has(reference))
  const ours: [kind: OperationFacts['kind'], amount: string][] = [
    ['authorize', state === 'approved' ? transaction.amount : '0'],
    ['capture', transaction.captured],
    ['refund', transaction.refunded],
    ['void', transaction.voided],
  ]
  for (const [kind, amount] of ours) {
    const theirs = sumOf(settled.filter((operation) => operation.kind === kind).map((operation) => operation.amount))
    if (theirs !== BigInt(amount)) breach(`the simulator has ${kind} of ${theirs}, we have ${amount}`)
  }
  const foreign = settled.find((operation) => operation.currency !== currency)
  if (foreign) breach(`the simulator did ${foreign.reference} in ${foreign.currency}, not in ${currency}`)
}
