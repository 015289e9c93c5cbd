import type { Account } from '../../rules/books.ts'
import {
  type LineFacts,
  type PayoutFacts,
  type PostedFacts,
  type PostingFacts,
  readLineSums,
  readLines,
  readPayouts,
  readPosted,
  type SumFacts,
} from '../../store/verify/books.ts'
import { tellWon } from './entry.ts'
import { checkMade, type Findings, type Pass, passOver, sumOf, tellMoment } from './pass.ts'

type Breach = (sentence: string) => void

/** What every account holds, by currency: credits less debits. */
export type Balances = Map<string, Map<Account, bigint>>

/** Adds up, on its way, what the accounts hold. */
export function linesPass(balances: Balances): Pass {
  return passOver<LineFacts>({
    read: readLines,
    placeOf: ({ merchantId, id }) => [merchantId, id],
    check(line, findings) {
      checkLine(line, findings)
      for (const posting of line.postings) addPosting(balances, posting)
    },
  })
}

function addPosting(balances: Balances, { debit, credit, currency, amount }: PostingFacts) {
  const accounts = balances.get(currency) ?? new Map<Account, bigint>()
  balances.set(currency, accounts)
  accounts.set(debit, (accounts.get(debit) ?? 0n) - BigInt(amount))
  accounts.set(credit, (accounts.get(credit) ?? 0n) + BigInt(amount))
}

function checkLine(line: LineFacts, findings: Findings) {
  const { merchantId, id, merchant, test } = line
  const what = `line ${id} of merchant ${merchantId}`
  const breach = (sentence: string) => findings.breach(`${what}: ${sentence}`)
  checkMade(what, line, findings)
  checkCause(line, breach)
  if (!merchant) return breach('the merchant does not exist')
  if (merchant.test !== test) breach(`test is ${test}, but ${merchant.test} of the merchant`)
  const expected = line.kind === 'payout' ? merchant.currency : line.transactionCurrency
  if (expected !== null && line.currency !== expected) breach(`its amount is in ${line.currency}, not in ${expected}`)
  checkPostings(line, merchant.currency, breach)
}

/** Nothing is on a balance that nothing put there. */
function checkCause(line: LineFacts, breach: Breach) {
  const { kind, transactionId, disputeId, dispute, won } = line
  if (kind === 'payout') {
    if (line.payouts !== 1) breach(`it is a payout that ${line.payouts} payouts name`)
    return
  }
  if (won === null) {
    if (line.entries !== 1) breach(`it is a ${kind} that ${line.entries} entries of transaction ${transactionId} name`)
    return
  }
  if (!dispute) return breach(`it decides dispute ${disputeId}, which does not exist`)
  if (dispute.won !== won) breach(`it says that dispute ${disputeId} is ${tellWon(won)}, but that is ${tellWon(dispute.won)}`)
  if (dispute.transactionId !== transactionId)
    breach(`it decides dispute ${disputeId} on transaction ${transactionId}, but that is about ${dispute.transactionId}`)
}

function checkPostings({ kind, postings, balance, fee, currency }: LineFacts, funding: string, breach: Breach) {
  // A dispute about so little that nothing is left of it in the merchant's currency sets nothing aside.
  const idle = kind === 'dispute' && balance === '0' && fee === '0'
  if (postings.length === 0 && !idle) return breach('it has no postings')
  const own = postings.filter((posting) => posting.currency === funding)
  const credited = sumOf(own.map((posting) => signed(posting, 'merchant')))
  if (credited !== BigInt(balance)) breach(`its balance is ${balance}, but its postings credit the merchant with ${credited}`)
  const charged = sumOf(own.filter(isBetween('merchant', 'fees')).map((posting) => signed(posting, 'fees')))
  if (charged !== BigInt(fee)) breach(`its fee is ${fee}, but its postings charge ${charged}`)
  for (const posting of postings) {
    if (posting.currency === funding) continue
    if (posting.currency !== currency) breach(`a posting is in ${posting.currency}, which neither side uses`)
    if (!isBetween('acquirer', 'exchange')(posting))
      breach(`${posting.amount} ${posting.currency} go from ${posting.debit} to ${posting.credit}, outside of the exchange`)
  }
}

/** What a posting adds to an account. */
function signed({ debit, credit, amount }: PostingFacts, account: Account): bigint {
  if (credit === account) return BigInt(amount)
  return debit === account ? -BigInt(amount) : 0n
}

function isBetween(one: Account, other: Account) {
  return ({ debit, credit }: PostingFacts) => (debit === one && credit === other) || (debit === other && credit === one)
}

export const postings = passOver<PostedFacts>({
  read: readPosted,
  placeOf: ({ merchantId, lineId }) => [merchantId, lineId],
  countOf: (posted) => posted.postings,
  check({ merchantId, lineId, lineExists, postings }, { breach }) {
    if (!lineExists) breach(`${postings} postings belong to line ${lineId} of merchant ${merchantId}, which does not exist`)
  },
})

/** Adds up anew what was added up before, so that one wrong sum is one breach and not a breach of all that follow. */
export function lineSumsPass(): Pass {
  let lines = 0n
  let balance = 0n
  return passOver<SumFacts>({
    read: readLineSums,
    placeOf: ({ merchantId, place }) => [merchantId, place],
    check(sum, { breach }) {
      lines = (sum.first ? 0n : lines) + BigInt(sum.linesSince)
      balance = (sum.first ? 0n : balance) + BigInt(sum.balanceSince)
      const what = `the sum of lines through ${tellMoment(new Date(sum.through))} of merchant ${sum.merchantId}`
      if (!sum.merchantExists) breach(`${what} belongs to a merchant that does not exist`)
      if (BigInt(sum.lines) !== lines || BigInt(sum.balance) !== balance)
        breach(`${what} is ${sum.balance} over ${sum.lines} lines, but they are ${balance} over ${lines}`)
    },
  })
}

export const payouts = passOver<PayoutFacts>({
  read: readPayouts,
  placeOf: ({ merchantId, day }) => [merchantId, day],
  check: checkPayout,
})

function checkPayout(payout: PayoutFacts, findings: Findings) {
  const { merchantId, day, id, merchant, line, lineId, amount, iban } = payout
  const what = `payout ${id} of ${day} to merchant ${merchantId}`
  const breach = (sentence: string) => findings.breach(`${what}: ${sentence}`)
  checkMade(what, payout, findings)
  if (!merchant) breach('the merchant does not exist')
  if (merchant && merchant.test !== payout.test) breach(`test is ${payout.test}, but ${merchant.test} of the merchant`)
  if (merchant && merchant.currency !== payout.currency) breach(`it is in ${payout.currency}, not in ${merchant.currency}`)
  if (!line) return breach(`its line ${lineId} does not exist`)
  if (line.kind !== 'payout') breach(`its line ${lineId} is a ${line.kind}`)
  if (BigInt(line.balance) !== -BigInt(amount)) breach(`it is ${amount}, but its line ${lineId} has balance ${line.balance}`)
  if (line.amount !== amount) breach(`it is ${amount}, but its line ${lineId} has amount ${line.amount}`)
  if (line.fee !== '0') breach(`its line ${lineId} has a fee of ${line.fee}`)
  if (line.iban !== iban) breach(`it goes to another bank account than its line ${lineId} says`)
}
