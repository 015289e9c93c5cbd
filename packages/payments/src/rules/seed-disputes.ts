import { tagOf } from '@tollgate/kit/id'
import { disputeLostPostings, disputePostings, disputeWonPostings } from './books.ts'
import { Contradiction, type Figures } from './seed-figures.ts'
import type { SeedDispute, SeedEntry } from './seed-file.ts'
import { change, decisionOf, insistSame, type Moved, pushEntry, pushLine, type Story } from './seed-story.ts'

/** A dispute with its line, and the line with which it ended. */
export function addDispute(story: Story, { entry, line, figures }: Moved) {
  const { booked, merchant, besides } = story
  const { transaction } = booked
  const dispute = findDispute(story, entry)
  const won = decisionOf(entry)
  const held = Math.min(entry.amount, transaction.refundable)
  const lineId = entry.lineId ?? besides.mint(entry.created, tagOf(merchant.id))
  const { gross, feeFlat, feeRate } = figures
  // What was won is as if it had not been.
  if (won !== true)
    change(transaction, {
      disputed: entry.amount,
      refundable: -held,
      returned: entry.amount,
      returnedGross: gross,
    })
  // The entry tells what the dispute took in the end, its lines how it came to that.
  const left = won ? { ...figures, feeFlat: 0, feeRate: 0, balance: 0 } : figures
  pushEntry(story, entry, { kind: 'dispute', lineId, figures: left, descriptor: null })
  const postings = disputePostings(gross, feeFlat + feeRate, merchant.currency)
  const opened = { amount: entry.amount, disputeId: dispute.id }
  pushLine(story, { ...opened, id: lineId, created: line?.created ?? entry.created, kind: 'dispute', figures, postings, line })
  const decided = won === null ? undefined : decide(story, { entry, dispute, won, figures })
  booked.disputes.push({ ...dispute, won, held, ...(decided ? { decided } : {}) })
}

function findDispute({ booked, merchant, besides }: Story, entry: SeedEntry): SeedDispute {
  const id = entry.dispute?.id ?? ''
  const dispute = besides.takeDispute(id)
  if (!dispute) throw new Contradiction(`it is about dispute ${id}, which the file does not tell of, or tells of twice`)
  insistSame(`the merchantId of dispute ${id}`, dispute.merchantId, merchant.id)
  insistSame(`the transactionId of dispute ${id}`, dispute.transactionId, booked.transaction.id)
  insistSame(`the amount of dispute ${id}`, dispute.amount, entry.amount)
  return dispute
}

/** Adds the line of a decision, and tells when it was. */
function decide(
  story: Story,
  { entry, dispute, won, figures }: { entry: SeedEntry; dispute: SeedDispute; won: boolean; figures: Figures },
): Date {
  const { booked, merchant, besides } = story
  const { amount } = entry
  const line = besides.takeDecision(booked.transaction.id, won, amount)
  const total = figures.feeFlat + figures.feeRate
  const back = { balance: won ? -figures.balance || 0 : 0, fee: won ? -total || 0 : 0 }
  if (line) {
    insistSame(`the merchantId of line ${line.id}`, line.merchantId, merchant.id)
    insistSame(`the test of line ${line.id}`, line.test, merchant.test)
    insistSame(`the balance of line ${line.id}`, line.balance, back.balance)
    insistSame(`the fee of line ${line.id}`, line.fee, back.fee)
    insistSame(`the decided of dispute ${dispute.id}`, dispute.decided?.toISOString(), line.created.toISOString())
  }
  const decided = line?.created ?? dispute.decided ?? (dispute.due <= besides.now ? dispute.due : entry.created)
  if (decided < entry.created) throw new Contradiction(`dispute ${dispute.id} was decided before it was opened`)
  const sum = { amount, currency: booked.transaction.currency, gross: figures.gross, funding: merchant.currency }
  const postings = won ? disputeWonPostings(sum.gross, total, sum.funding) : disputeLostPostings(sum)
  pushLine(story, {
    id: line?.id ?? besides.mint(decided, tagOf(merchant.id)),
    created: decided,
    kind: 'dispute',
    won,
    amount,
    disputeId: dispute.id,
    figures: { balance: back.balance, feeFlat: back.fee, feeRate: 0 },
    postings,
    line,
  })
  return decided
}
