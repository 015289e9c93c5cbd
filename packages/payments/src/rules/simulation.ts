import type { AuthorizeAsk, Mishap, Money, MoveAsk, Simulation } from '../acquirers/acquirer.ts'
import { exponentOf } from './currencies.ts'
import type { ProcessingCode } from './processing-errors.ts'
import { codeByAmount, fateOf } from './test-cards.ts'

/** For how many seconds what is to be late is not done, counted from when it was first asked for. */
export const lateness = 5

/** Milliseconds that an answer takes at most, whatever the simulation says. */
export const longestLatency = 30_000

type Ask = AuthorizeAsk | MoveAsk

export function isMove(ask: Ask): ask is MoveAsk {
  return 'kind' in ask
}

/** What is to go wrong with this very operation. */
export function mishapOf(ask: Ask): Mishap | undefined {
  return ask.simulation?.acquirer?.[isMove(ask) ? ask.kind : 'authorize']
}

export function latencyOf({ simulation }: Ask): number {
  return Math.min(simulation?.acquirer?.latency ?? 0, longestLatency)
}

/** Whether it matters what was drawn from the card before. */
export function isCounted(ask: AuthorizeAsk): boolean {
  return ask.simulation?.card?.balance !== undefined
}

type SimulatedCard = NonNullable<Simulation['card']>
type SimulatedTds = NonNullable<Simulation['tds']>

const codesByCardStatus: Partial<Record<NonNullable<SimulatedCard['status']>, ProcessingCode>> = {
  invalid: 3,
  expired: 6,
  disabled: 9,
  lost: 10,
}

const codesByTdsStatus: Partial<Record<NonNullable<SimulatedTds['status']>, ProcessingCode>> = { rejected: 31, unavailable: 30 }

/** Why a payment is declined, if it is. `drawn` is what the payments before it have taken from the card's balance, in minor units. */
export function declineAuthorization(
  ask: AuthorizeAsk,
  { now, drawn = 0n }: { now: Date; drawn?: bigint },
): ProcessingCode | undefined {
  const { card = {}, tds = {} } = ask.simulation ?? {}
  if (exponentOf(ask.currency) === undefined) return 1
  if (mishapOf(ask) === 'declined') return 8
  // Without the customer there is neither a security code nor 3-D Secure to fail.
  const customer = ask.previous ? undefined : declineCustomer(card, tds)
  return declineCard(ask, card, now) ?? customer ?? declineAmount(ask, card, drawn)
}

function declineCustomer({ code }: SimulatedCard, { status }: SimulatedTds): ProcessingCode | undefined {
  return code === 'invalid' ? 4 : status && codesByTdsStatus[status]
}

function declineCard({ card }: AuthorizeAsk, simulated: SimulatedCard, now: Date): ProcessingCode | undefined {
  if (simulated.scheme === 'unsupported' || simulated.scheme === 'unknown') return 29
  if (card.expiry < now) return 6
  const fate = fateOf(card)
  if (typeof fate === 'number') return fate
  return simulated.status && codesByCardStatus[simulated.status]
}

function declineAmount({ card, amount, currency }: AuthorizeAsk, { limit, balance }: SimulatedCard, drawn: bigint) {
  const code = fateOf(card) === 'by amount' ? codeByAmount(amount) : undefined
  if (code !== undefined) return code
  if (limit && exceeds(BigInt(amount), currency, limit)) return 25
  if (balance && exceeds(drawn + BigInt(amount), currency, balance)) return 7
  return undefined
}

/** Compared as decimals, whatever the exponents. A card that has money or a limit in one currency has none in another. */
function exceeds(minor: bigint, currency: string, { value, exponent, currency: own }: Money): boolean {
  const decimals = exponentOf(currency)
  if (own !== currency || decimals === undefined) return true
  return minor * 10n ** BigInt(exponent) > BigInt(value) * 10n ** BigInt(decimals)
}

/** What the simulator's own record says of an authorization. */
export type Standing = { amount: number; currency: string; captured: number; refunded: number; voided: number }

/** Why a movement is declined, if it is. Of an authorization that is unknown, or was declined, nothing can be moved. */
export function declineMove(ask: MoveAsk, standing: Standing | undefined): ProcessingCode | undefined {
  if (mishapOf(ask) === 'declined') return 8
  if (!standing || ask.currency !== standing.currency || ask.amount < 1) return 12
  const { amount, captured, refunded, voided } = standing
  const most = ask.kind === 'refund' ? captured - refunded : amount - captured - voided
  return ask.amount > most ? 12 : undefined
}
