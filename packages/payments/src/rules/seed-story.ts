import { createIds, tagOf } from '@tollgate/kit/id'
import type { Change } from '../store/trail.ts'
import type { TrailEntry } from '../store/trail-entry.ts'
import type { Transaction } from '../store/transactions.ts'
import type { Posting } from './books.ts'
import type { Rate } from './exchange.ts'
import type { Price } from './fees.ts'
import { Contradiction, type Figures } from './seed-figures.ts'
import type { SeedDispute, SeedEntry, SeedLine } from './seed-file.ts'

/** A merchant as far as its books need it. Prices are in the order of their dates. */
export type BookedMerchant = {
  id: string
  test: boolean
  currency: string
  descriptor: string
  iban: string | null
  holder: string
  prices: readonly (Price & { since: Date })[]
}

export type BookedLine = {
  merchantId: string
  id: string
  created: Date
  test: boolean
  kind: 'capture' | 'refund' | 'dispute' | 'payout'
  won: boolean | null
  balance: number
  fee: number
  amount: number
  currency: string
  transactionId: string | null
  disputeId: string | null
  iban: string | null
  description: string | null
  postings: readonly Posting[]
}

export type BookedDispute = SeedDispute & { won: boolean | null; held: number }

export type BookedEntry = TrailEntry & { rate: Rate | undefined }

/** A transaction with all that became of it. */
export type Booked = { transaction: Transaction; trail: BookedEntry[]; lines: BookedLine[]; disputes: BookedDispute[] }

export type Mint = (created: Date, tag: string) => string

/** Mints ids for things of the past, in the order in which they are asked for where several are of one moment. */
export function createMint(): Mint {
  const minters = new Map<number, (tag: string) => string>()
  return (created, tag) => {
    const mint = minters.get(created.getTime()) ?? createIds(() => created)
    minters.set(created.getTime(), mint)
    return mint(tag)
  }
}

/** What a file says besides its transactions, each to be taken once. */
export type Besides = {
  mint: Mint
  now: Date
  takeLine(id: string): SeedLine | undefined
  /** The line with which a dispute of a transaction was won or lost. */
  takeDecision(transactionId: string, won: boolean, amount: number): SeedLine | undefined
  takeDispute(id: string): SeedDispute | undefined
}

export type Story = { booked: Booked; merchant: BookedMerchant; besides: Besides }

export type Moved = { entry: SeedEntry; line: SeedLine | undefined; figures: Figures }

export function insistSame(field: string, given: unknown, found: unknown) {
  if (given !== undefined && given !== found) throw new Contradiction(`${field} is ${given}, but should be ${found}`)
}

/** The price of a moment; what is older than all prices has the first. */
export function priceAt({ id, prices }: BookedMerchant, moment: Date): Price {
  const price = prices.findLast(({ since }) => since <= moment) ?? prices[0]
  if (!price) throw new Contradiction(`merchant ${id} has no price`)
  return price
}

export function lineKindOf(line: SeedLine): BookedLine['kind'] {
  const kinds = (['capture', 'refund', 'payout', 'dispute'] as const).filter((kind) => line[kind])
  const [kind] = kinds
  if (!kind || kinds.length > 1) throw new Contradiction(`line ${line.id} must be one of capture, refund, payout and dispute`)
  return kind
}

/** Whether a dispute was won; null while it is open. */
export function decisionOf({ dispute }: SeedEntry): boolean | null {
  if (dispute?.won && dispute.lost) throw new Contradiction('a dispute is won or lost, not both')
  if (dispute?.won) return true
  return dispute?.lost ? false : null
}

export function change(transaction: Transaction, by: Change) {
  for (const [pot, amount] of Object.entries(by)) {
    transaction[pot as keyof Change] += amount
    if (!Number.isSafeInteger(transaction[pot as keyof Change])) throw new Contradiction('its amounts are more than can be held')
  }
}

type Pushed = { kind: TrailEntry['kind']; lineId: string | null; figures: Figures; descriptor: string | null }

export function pushEntry({ booked, merchant, besides }: Story, entry: SeedEntry, { kind, lineId, figures, descriptor }: Pushed) {
  const { gross, feeFlat, feeRate, balance, rate } = figures
  booked.trail.push({
    id: besides.mint(entry.created, tagOf(merchant.id)),
    position: booked.trail.length + 1,
    kind,
    state: 'done',
    created: entry.created,
    amount: entry.amount,
    gross,
    feeFlat,
    feeRate,
    balance,
    descriptor,
    lineId,
    disputeId: entry.dispute?.id ?? null,
    disputeWon: kind === 'dispute' ? decisionOf(entry) : null,
    errorCode: null,
    settled: entry.created,
    settlement: booked.trail.length + 1,
    rate,
  })
}

type Lined = Pick<BookedLine, 'id' | 'created' | 'kind' | 'amount' | 'postings'> & {
  won?: boolean
  disputeId?: string
  figures: Pick<Figures, 'balance' | 'feeFlat' | 'feeRate'>
  line: SeedLine | undefined
}

export function pushLine({ booked, merchant }: Story, { figures, line, won, disputeId, ...rest }: Lined) {
  booked.lines.push({
    ...rest,
    merchantId: merchant.id,
    test: merchant.test,
    won: won ?? null,
    balance: figures.balance,
    fee: figures.feeFlat + figures.feeRate,
    currency: booked.transaction.currency,
    transactionId: booked.transaction.id,
    disputeId: disputeId ?? null,
    iban: null,
    description: line?.description ?? null,
  })
}
