import { tagOf } from '@tollgate/kit/id'
import { payoutPostings } from '../../rules/books.ts'
import { Contradiction } from '../../rules/seed-figures.ts'
import type { SeedLine } from '../../rules/seed-file.ts'
import { type Besides, type BookedLine, type BookedMerchant, insistSame, lineKindOf } from '../../rules/seed-story.ts'
import type { Taking } from './besides.ts'
import { isThere, type Merchants, merchantOf } from './known.ts'
import type { There } from './there.ts'

export type PlannedPayout = {
  merchantId: string
  day: string
  id: string
  lineId: string
  created: Date
  test: boolean
  currency: string
  amount: number
  iban: string
  holder: string
}

/** Lines that no trail names: they must be payouts. */
export function newPayouts(there: There, booking: Merchants, besides: Taking) {
  const days = new Set(there.payouts)
  return (line: SeedLine): { line: BookedLine; payout: PlannedPayout } | undefined => {
    if (besides.isTaken(line) || isThere(there.lines.get(line.id), line)) return undefined
    const merchant = merchantOf(booking, line.merchantId)
    if (lineKindOf(line) !== 'payout')
      throw new Contradiction(`line ${line.id} is no payout, and no trail of a new transaction names it`)
    const payout = payoutOf(line, merchant, besides)
    const day = `${payout.merchantId} ${payout.day}`
    if (days.has(day))
      throw new Contradiction(`merchant ${merchant.id} has another payout on ${payout.day}; there is one a day at most`)
    days.add(day)
    return { payout, line: payoutLine(line, payout) }
  }
}

function payoutOf(line: SeedLine, { id, test, currency, iban, holder }: BookedMerchant, { mint }: Besides): PlannedPayout {
  insistSame('its test', line.test, test)
  insistSame('its fee', line.fee, 0)
  if (line.transactionId !== undefined) throw new Contradiction('a payout has no transactionId')
  const amount = -line.balance
  if (amount <= 0) throw new Contradiction(`its balance is ${line.balance}, but a payout takes from the balance`)
  insistSame('its amount', line.amount?.amount, amount)
  insistSame('its currency', line.amount?.currency, currency)
  const account = line.bank?.iban ?? iban
  if (account === null) throw new Contradiction('neither it nor its merchant has a bank.iban')
  const { created } = line
  const day = created.toISOString().slice(0, 10)
  return {
    merchantId: id,
    day,
    id: mint(created, tagOf(id)),
    lineId: line.id,
    created,
    test,
    currency,
    amount,
    iban: account,
    holder,
  }
}

function payoutLine({ description, balance }: SeedLine, payout: PlannedPayout): BookedLine {
  const { merchantId, lineId, created, test, amount, currency, iban } = payout
  return {
    merchantId,
    id: lineId,
    created,
    test,
    kind: 'payout',
    won: null,
    balance,
    fee: 0,
    amount,
    currency,
    transactionId: null,
    disputeId: null,
    iban,
    description: description ?? null,
    postings: payoutPostings(amount, currency),
  }
}
