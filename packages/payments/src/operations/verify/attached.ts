import {
  type CardFacts,
  type DisputeFacts,
  type FraudFacts,
  readCards,
  readDisputes,
  readFrauds,
} from '../../store/verify/attached.ts'
import { tellWon } from './entry.ts'
import { checkMade, type Findings, passOver, sumOf } from './pass.ts'

type Attached = { merchantId: string; id: string; created: Date; transactionId: string; transactionExists: boolean }

/** What is attached to a transaction of the same merchant; tells how to say what else is wrong with it. */
function checkAttached(kind: string, attached: Attached, findings: Findings): (sentence: string) => void {
  const { merchantId, id, transactionId, transactionExists } = attached
  const what = `${kind} ${id} of merchant ${merchantId}`
  checkMade(what, attached, findings)
  if (!transactionExists) findings.breach(`${what}: transaction ${transactionId} does not exist`)
  return (sentence) => findings.breach(`${what}: ${sentence}`)
}

export const cards = passOver<CardFacts>({
  read: readCards,
  placeOf: ({ merchantId, id }) => [merchantId, id],
  check(card, findings) {
    const breach = checkAttached('card', card, findings)
    if (card.transactionExists && !card.sameCard) breach(`transaction ${card.transactionId} was made with another card`)
  },
})

export const frauds = passOver<FraudFacts>({
  read: readFrauds,
  placeOf: ({ merchantId, id }) => [merchantId, id],
  check: (fraud, findings) => void checkAttached('fraud', fraud, findings),
})

export const disputes = passOver<DisputeFacts>({
  read: readDisputes,
  placeOf: ({ merchantId, id }) => [merchantId, id],
  check: checkDispute,
})

function checkDispute(dispute: DisputeFacts, findings: Findings) {
  const { entries, decisions, won, transactionId } = dispute
  const breach = checkAttached('dispute', dispute, findings)
  const [entry] = entries
  if (entries.length !== 1) breach(`the trail of transaction ${transactionId} has ${entries.length} entries about it`)
  const expected = won === null ? 0 : 1
  if (decisions.length !== expected) breach(`it is ${tellWon(won)}, but ${decisions.length} lines of that moment say so`)
  const [decision] = decisions
  if (!decision || !entry?.line) return
  // What was taken when it was opened comes back when it is won; nothing more is taken when it is lost.
  const back = won ? -BigInt(entry.line.balance) : 0n
  const feeBack = won ? -BigInt(entry.line.fee) : 0n
  if (BigInt(decision.balance) !== back)
    breach(`it is ${tellWon(won)}, and line ${decision.id} has balance ${decision.balance}, not ${back}`)
  if (BigInt(decision.fee) !== feeBack)
    breach(`it is ${tellWon(won)}, and line ${decision.id} has fee ${decision.fee}, not ${feeBack}`)
  const left = BigInt(entry.line.balance) + BigInt(decision.balance)
  if (BigInt(entry.balance) !== left) breach(`its entry has balance ${entry.balance}, but its lines come to ${left}`)
  const feeLeft = BigInt(entry.line.fee) + BigInt(decision.fee)
  if (sumOf([entry.feeFlat, entry.feeRate]) !== feeLeft)
    breach(`its entry has fees ${entry.feeFlat} and ${entry.feeRate}, but its lines come to ${feeLeft}`)
}
