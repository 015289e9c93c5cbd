import type { Incoming } from '@tollgate/kit/endpoint'
import type { App } from '../app.ts'
import { type FailureCode, fail } from '../errors.ts'
import type { GatewayCard } from '../rules/gateway-order.ts'
import type { ProcessingCode } from '../rules/processing-errors.ts'
import type { Claim } from '../store/idempotency.ts'
import { findPayee, type Payee } from '../store/merchants.ts'
import { limitDeclines } from './limit.ts'
import { type Agreed, payByCard } from './pay-by-card.ts'
import { readClaim } from './read-claim.ts'
import { declined } from './refuse-payment.ts'
import { orReplay, replayAuthorization } from './replay.ts'

export const gatewayFails = [
  'processing_failed',
  'outcome_unknown',
  'idempotency_running',
  'idempotency_mismatch',
  'exchange_unavailable',
  'over_rate_limit',
] as const satisfies FailureCode[]

/** Whoever closes the gateway wants no card number here: what is sent is not even looked at. */
export function insistOnGateway({ config }: Pick<App, 'config'>): void {
  if (!config.customers.gateway) throw fail('not_found')
}

/** The merchant of a public key. */
export async function seePayee({ db }: Pick<App, 'db'>, key: unknown): Promise<Payee> {
  const payee = typeof key === 'string' ? await findPayee(db, key) : undefined
  if (!payee) throw declined(26)
  return payee
}

/** What was read, or the refusal. */
export function accepted<T extends object>(read: T): Exclude<T, { refused: unknown }> {
  if ('refused' in read) throw declined(read.refused as ProcessingCode)
  return read as Exclude<T, { refused: unknown }>
}

type Order = {
  payee: Payee
  amount: number
  currency: string
  descriptor?: string | undefined
  custom?: object | undefined
  card: GatewayCard
  /** What 3-D Secure 1 had the payer bring back. */
  pares?: unknown
  agreement?: Agreed
}

/** A customer pays with a card whose number and code came along. Once only, where a key was sent. */
export function payAtGateway(app: App, request: Incoming, order: Order): Promise<{ id: string }> {
  const { payee, amount, currency, descriptor = payee.descriptor, custom = null, card, agreement } = order
  const claim = claimOf(request, order)
  const story = () =>
    payByCard(app, {
      ...{ payee, amount, currency, descriptor, custom, card, agreement, claim },
      tds: 'none',
      simulation: undefined,
      refused: refusalOf(order),
    })
  const limited = () => limitDeclines(app, { request, payee, card }, story)
  return orReplay(app, claim, limited, (claimed) => replayAuthorization(app, claimed))
}

/** 3-D Secure 1, which was all that this way of paying knew of, is no more: nobody can have gone through it. */
function refusalOf({ payee, pares }: Order): ProcessingCode | undefined {
  if (pares !== undefined) return 31
  return payee.tdsMode === 'full' ? 30 : undefined
}

/** Of the card no more goes into it than is kept of every transaction. Keys are a merchant's own, for nobody else is known here. */
function claimOf(request: Incoming, { payee, card, pares, agreement: _, ...order }: Order): Claim | undefined {
  const digits = card.number.reveal()
  const seen = { bin: digits.slice(0, 6), last4: digits.slice(-4), month: card.month, year: card.year }
  const claim = readClaim({ who: undefined, request, body: { ...order, card: seen, pares: pares !== undefined } })
  return claim && { ...claim, ownerId: payee.id }
}
