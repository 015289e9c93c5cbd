import type { Tx } from '@tollgate/kit/db'
import type { Secret } from '@tollgate/kit/secret'
import type { CardFacts, CardMethod, Simulation } from '../acquirers/acquirer.ts'
import type { App } from '../app.ts'
import { schemeOf } from '../rules/card-scheme.ts'
import type { Plan } from '../rules/plan-shape.ts'
import type { ProcessingCode } from '../rules/processing-errors.ts'
import { hasRightCheckDigit } from '../rules/test-cards.ts'
import { insertAgreement } from '../store/agreements.ts'
import type { Claim } from '../store/idempotency.ts'
import type { Payee } from '../store/merchants.ts'
import { takeSecurityCode } from '../store/security-codes.ts'
import { aboutCard } from '../vault/about-card.ts'
import { authorize } from './authorize.ts'
import { badToken } from './open-token.ts'
import { recordPlan } from './record-plan.ts'

export type CustomerPayment = {
  payee: Payee
  /** Nothing: the card is only looked at, so that it can be charged later. */
  amount: number
  currency: string
  descriptor: string
  custom: object | null
  card: PresentedCard
  tds: 'none' | 'attempt' | 'full'
  simulation: Simulation | undefined
  agreement: Agreed | undefined
  refused?: ProcessingCode | undefined
  claim: Claim | undefined
}

export type PresentedCard = {
  number: Secret
  month: number
  year: number
  code: Secret | undefined
  /** Instead of the code itself: what opens it is taken out of the vault together with the payment, and opens nothing ever after. */
  codeToken?: { id: Buffer; token: string } | undefined
}

/** What the payer agrees to besides this payment. */
export type Agreed = { plan: Plan | null; unplannedMerchant: boolean; unplannedCustomer: boolean }

/** A customer pays with a card that is in their hands. A declined payment is kept as a transaction that failed, and thrown. */
export function payByCard(app: App, payment: CustomerPayment): Promise<{ id: string }> {
  const { payee, card, agreement, claim } = payment
  const { amount, currency, descriptor, custom, tds, simulation } = payment
  const facts = factsOf(card, payee)
  return authorize(app, {
    ...{ merchant: payee, amount, currency, descriptor, custom, card: facts, tds, simulation, claim },
    recurring: false,
    source: undefined,
    cardId: null,
    series: agreement?.plan ? 'recurring' : agreement?.unplannedMerchant ? 'unscheduled' : undefined,
    refused: payment.refused ?? refusalOf(card, facts, payee, app.now()),
    async prepare(tx, id, decided) {
      const code = card.codeToken ? await takeCode(app, tx, card.codeToken) : card.code
      if (agreement && decided?.kind !== 'declined') await agree(app, tx, { id, payment, agreement })
      return methodOf(card, code)
    },
  })
}

/** What is written down of a card. Of one that no network made, what it would be charged as. */
function factsOf({ number, month, year, code, codeToken }: PresentedCard, { test }: Payee): CardFacts {
  const digits = number.reveal()
  const scheme = schemeOf(digits, { test })
  return {
    bin: digits.slice(0, 6),
    last4: digits.slice(-4),
    // The last millisecond of the month.
    expiry: new Date(Date.UTC(year, month) - 1),
    scheme: scheme === 'mastercard' ? 'mastercard' : 'visa',
    codePresent: code !== undefined || codeToken !== undefined,
  }
}

/** What needs no acquirer to see. The simulator's own cards fail the check digit, so that it is not looked at there. */
function refusalOf({ number }: PresentedCard, { expiry }: CardFacts, { test }: Payee, now: Date): ProcessingCode | undefined {
  if (test) return undefined
  const scheme = schemeOf(number.reveal(), { test })
  if (scheme !== 'visa' && scheme !== 'mastercard') return 29
  if (!hasRightCheckDigit(number.reveal())) return 3
  return expiry < now ? 6 : undefined
}

async function takeCode(app: App, tx: Tx, { id, token }: { id: Buffer; token: string }): Promise<Secret> {
  const wrappedKey = await takeSecurityCode(tx, id, app.now())
  const code = wrappedKey && app.vault.openCode(token, wrappedKey)
  if (!code) throw badToken('card.code')
  return code
}

type Agreeing = { id: string; payment: CustomerPayment; agreement: Agreed }

async function agree(app: App, tx: Tx, { id, payment, agreement }: Agreeing): Promise<void> {
  const { payee, card } = payment
  const created = app.now()
  const locked = app.vault.lock(card.number.reveal(), aboutCard({ merchantId: payee.id, transactionId: id }))
  await insertAgreement(tx, { merchantId: payee.id, transactionId: id, created, ...agreement, card: locked })
  if (agreement.plan) await recordPlan(tx, { merchantId: payee.id, transactionId: id, plan: agreement.plan, now: created })
}

function methodOf({ number, month, year }: PresentedCard, code: Secret | undefined): CardMethod {
  return { kind: 'card', number, expiryMonth: month, expiryYear: year, code }
}
