import type { EntryFacts, TransactionFacts } from '../../store/verify/transactions.ts'
import { sumOf } from './pass.ts'

type Breach = (sentence: string) => void

/** An entry of a trail, the line that it made and the dispute that it is about say the same. */
export function checkEntry(transaction: TransactionFacts, entry: EntryFacts, breach: Breach) {
  if (entry.kind === 'dispute') checkDispute(transaction, entry, breach)
  if (entry.state !== 'done') return
  checkFigures(transaction, entry, breach)
  if (entry.kind !== 'void') checkLine(transaction, entry, breach)
}

function checkFigures({ currency, merchant }: TransactionFacts, entry: EntryFacts, breach: Breach) {
  const { kind, amount, gross, feeFlat, feeRate, balance } = entry
  if (kind === 'void') {
    if ([gross, feeFlat, feeRate, balance].some((figure) => figure !== '0'))
      breach(`moves no money, but has gross ${gross}, fees ${feeFlat} and ${feeRate}, balance ${balance}`)
    return
  }
  const sign = kind === 'capture' ? 1n : -1n
  // What was won has come back: nothing is left of it but what it was about.
  const moved = isWon(entry) ? 0n : sign * BigInt(gross)
  const expected = moved - sumOf([feeFlat, feeRate])
  if (BigInt(balance) !== expected)
    breach(`has balance ${balance}, but gross ${gross} and fees ${feeFlat} and ${feeRate} come to ${expected}`)
  if (currency === merchant?.currency && amount !== gross) breach(`has gross ${gross} for ${amount} of the same currency`)
}

function checkLine({ id, currency }: TransactionFacts, entry: EntryFacts, breach: Breach) {
  const { line, lineId } = entry
  if (!line) return breach(lineId === null ? 'has no line' : `names line ${lineId}, which does not exist`)
  // The line tells what a dispute took when it was opened, the entry what it took in the end.
  const taken = isWon(entry)
    ? { balance: String(-BigInt(entry.gross) - BigInt(line.fee)), fee: line.fee }
    : { balance: entry.balance, fee: String(sumOf([entry.feeFlat, entry.feeRate])) }
  const agreed: [what: string, said: unknown, found: unknown][] = [
    ['kind', entry.kind, line.kind],
    ['balance', taken.balance, line.balance],
    ['fee', taken.fee, line.fee],
    ['amount', entry.amount, line.amount],
    ['currency', currency, line.currency],
    ['transaction', id, line.transactionId],
    ['dispute', entry.disputeId, line.disputeId],
  ]
  for (const [what, said, found] of agreed) if (said !== found) breach(`has ${what} ${said}, but its line ${lineId} has ${found}`)
  // A dispute is opened by this line; the decision is one of its own.
  if (line.won !== null) breach(`names line ${lineId}, which tells how a dispute ended`)
}

function isWon({ kind, disputeWon }: EntryFacts): boolean {
  return kind === 'dispute' && disputeWon === true
}

function checkDispute({ id }: TransactionFacts, entry: EntryFacts, breach: Breach) {
  const { disputeId, dispute, amount, disputeWon } = entry
  if (!dispute) return breach(`is about dispute ${disputeId}, which does not exist`)
  if (dispute.transactionId !== id) breach(`is about dispute ${disputeId} of transaction ${dispute.transactionId}`)
  if (dispute.amount !== amount) breach(`is about ${amount}, but dispute ${disputeId} about ${dispute.amount}`)
  if (dispute.won !== disputeWon) breach(`is ${tellWon(disputeWon)}, but dispute ${disputeId} is ${tellWon(dispute.won)}`)
}

export function tellWon(won: boolean | null): string {
  if (won === null) return 'open'
  return won ? 'won' : 'lost'
}
