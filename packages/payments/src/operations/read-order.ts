import type { Secret } from '@tollgate/kit/secret'
import Type, { type Static } from 'typebox'
import type { App } from '../app.ts'
import { fail, unfit } from '../errors.ts'
import { schemeOf, supportedSchemes } from '../rules/card-scheme.ts'
import type { Course } from '../rules/challenges.ts'
import { isChargeable } from '../rules/currencies.ts'
import { fingerprint } from '../rules/idempotency.ts'
import { minorOf } from '../rules/money.ts'
import { MoneyShape } from '../rules/money-shape.ts'
import { readPlan } from '../rules/plan.ts'
import { PlanShape } from '../rules/plan-shape.ts'
import { SimulationShape } from '../rules/simulation-shape.ts'
import { statementText } from '../rules/statement-text.ts'
import { Custom } from '../shapes.ts'
import { findPayee, type Payee } from '../store/merchants.ts'
import { readWallet } from '../wallets/wallet.ts'
import { badToken, openToken, readCodeToken } from './open-token.ts'
import type { Agreed, PresentedCard } from './pay-by-card.ts'

/** What the vault answered with, handed on as it is. */
const Token = Type.Object({ token: Type.String({ minLength: 1, maxLength: 20_000 }) })

const Flag = Type.Optional(Type.Boolean())

/** What a device sends with every step of a payment, the same each time but for the hints. */
export const OrderShape = Type.Object({
  integration: Type.Object({ key: Type.String({ maxLength: 200, description: 'The public key of the merchant' }) }),
  test: Type.Optional(SimulationShape),
  amount: Type.Optional(MoneyShape),
  text: Type.Optional(
    Type.String({ minLength: 2, maxLength: 1024, description: 'On the statement of the payer: the first 22 characters' }),
  ),
  card: Type.Optional(
    Type.Object({
      number: Token,
      code: Token,
      expiry: Type.Object({
        month: Type.Integer({ minimum: 1, maximum: 12 }),
        year: Type.Integer({ minimum: 2000, maximum: 2099 }),
      }),
      store: Type.Optional(
        Type.Object({ customer: Flag, merchant: Flag }, { description: 'What older clients say instead of `unplanned`' }),
      ),
    }),
  ),
  applepay: Type.Optional(Token),
  googlepay: Type.Optional(Token),
  mobilepay: Type.Optional(Type.Unknown()),
  custom: Type.Optional(Custom),
  plan: Type.Optional(PlanShape),
  unplanned: Type.Optional(
    Type.Object(
      { merchant: Flag, customer: Flag },
      { description: 'Who may have the card charged again, without a plan: the merchant, or the payer with one tap' },
    ),
  ),
  hints: Type.Optional(
    Type.Array(Type.String({ maxLength: 4096 }), { maxItems: 100, description: 'What the steps before gave, newest last' }),
  ),
})

export type OrderBody = Static<typeof OrderShape>

export type Order = {
  /** The same order is paid once. */
  hash: string
  fingerprint: Buffer
  payee: Payee
  amount: number
  currency: string
  descriptor: string
  custom: object | null
  card: PresentedCard
  /** Names what a wallet handed out, which is good for one payment. */
  walletToken: string | undefined
  agreement: Agreed | undefined
  course: Course
}

/** What `readOrder` may refuse with. */
export const orderFails = [
  'validation_failed',
  'REQUEST_INVALID',
  'TOKEN_INVALID',
  'TOKEN_TYPE_UNEXPECTED',
  'TEST_MODE_MIXED',
  'PAYMENT_INTEGRATION_KEY_UNKNOWN',
  'PAYMENT_INTEGRATION_DISABLED',
  'PAYMENT_APPLEPAY_AMOUNT_MISMATCH',
  'PAYMENT_APPLEPAY_EXPIRED',
  'PAYMENT_CARD_SCHEME_UNKNOWN',
  'PAYMENT_CARD_SCHEME_UNSUPPORTED',
  'vault_missing',
] as const

/** What stands for everything in an order but the hints, as bytes and as text. */
export function printsOf({ hints: _, ...order }: OrderBody): { fingerprint: Buffer; hash: string } {
  const print = fingerprint({ method: 'POST', path: '/payments' }, order)
  return { fingerprint: print, hash: print.toString('base64url') }
}

/** An order as it is meant, or the refusal: what is wrong with it for good is said at the first step. */
export async function readOrder(app: App, body: OrderBody): Promise<Order> {
  const payee = await findPayee(app.db, body.integration.key)
  if (!payee) throw fail('PAYMENT_INTEGRATION_KEY_UNKNOWN')
  if (!payee.canChargeCard) throw fail('PAYMENT_INTEGRATION_DISABLED')
  checkTestMode(payee, body)
  const money = readAmount(payee, body)
  const { card, walletToken, ...asked } = readMethod(app, payee, body, money)
  const { text, custom = null, test: simulation } = body
  return {
    ...printsOf(body),
    payee,
    ...money,
    descriptor: text === undefined ? payee.descriptor : statementText(text),
    custom,
    card,
    walletToken,
    agreement: readAgreement(body, app.now()),
    // Nobody but the simulator plays the bank's part here: see the guide for what live merchants need.
    course: { tds: payee.test && asked.wallet === undefined, ...asked, simulation },
  }
}

function checkTestMode({ test }: Payee, body: OrderBody): void {
  if (test === (body.test !== undefined)) return
  const message = test
    ? 'the merchant is a test merchant, and the payment has no `test`'
    : 'the merchant takes real payments, and the payment has `test`'
  throw fail('TEST_MODE_MIXED', { message: `Mismatch of test modes: ${message}` })
}

type Money = { amount: number; currency: string }

/** Without an amount the card is only looked at. */
function readAmount(payee: Payee, { amount: money }: OrderBody): Money {
  if (!money) return { amount: 0, currency: payee.currency }
  const { currency } = money
  if (!isChargeable(currency)) throw unfit('amount.currency', 'Must be the code of a currency that payments can be made in')
  const amount = minorOf(money)
  if (amount === undefined) throw unfit('amount.value', 'Too large for a payment')
  return { amount, currency }
}

/** `wallet`: what it says of who is paying, where that need not be asked again. */
type Method = { card: PresentedCard; walletToken?: string; wallet?: Course['wallet'] }

function readMethod(app: App, payee: Payee, body: OrderBody, money: Money): Method {
  const { card, applepay, googlepay, mobilepay } = body
  const given = Object.entries({ card, applepay, googlepay, mobilepay }).filter(([, method]) => method !== undefined)
  if (given.length !== 1) throw unfit('card', 'Exactly one of card, applepay, googlepay and mobilepay is required')
  if (applepay) return readWalletOf(app, payee, body, { kind: 'applepay', token: applepay.token, ...money })
  if (googlepay) return readWalletOf(app, payee, body, { kind: 'googlepay', token: googlepay.token, ...money })
  if (!card) throw unfit('mobilepay', 'Not offered here; pay with a card')
  const number = openToken(app, 'pcn', card.number.token, 'card.number')
  const codeToken = readCodeToken(app, card.code.token, 'card.code')
  checkScheme(number, payee, body)
  return { card: { number, ...card.expiry, code: undefined, codeToken } }
}

type WalletMethod = Money & { kind: 'applepay' | 'googlepay'; token: string }

function readWalletOf(app: App, payee: Payee, body: OrderBody, { kind, token, amount, currency }: WalletMethod): Method {
  // What stands in for the card number there is worth nothing without a cryptogram, which no acquirer of ours takes.
  if (!payee.test) throw unfit(kind, 'Not offered by this merchant; pay with a card')
  const text = openToken(app, kind, token, kind).reveal()
  const merchantNames = [payee.id, body.integration.key]
  const wallet = readWallet(kind, text, { amount: body.amount && amount, currency, merchantNames, now: app.now() })
  if (wallet === 'TOKEN_INVALID') throw badToken(kind)
  if (typeof wallet === 'string') throw fail(wallet)
  const { number, month, year, cryptogram, tds, transactionId } = wallet
  checkScheme(number, payee, body)
  const method = { card: { number, month, year, code: undefined }, walletToken: `${kind} ${transactionId}` }
  return cryptogram ? { ...method, wallet: tds } : method
}

function checkScheme(number: Secret, { test }: Payee, { test: simulation }: OrderBody): void {
  const scheme = schemeOf(number.reveal(), { test })
  const simulated = simulation?.card?.scheme
  const more = { supported: supportedSchemes }
  if (simulated === 'unknown' || scheme === 'unknown') throw fail('PAYMENT_CARD_SCHEME_UNKNOWN', { more })
  if (simulated !== 'unsupported' && typeof scheme === 'string') return
  const name = typeof scheme === 'string' ? (scheme === 'visa' ? 'Visa' : 'Mastercard') : scheme.unsupported
  throw fail('PAYMENT_CARD_SCHEME_UNSUPPORTED', {
    message: `${name} is not supported. Try with any ${supportedSchemes}.`,
    more: { scheme: name, ...more },
  })
}

function readAgreement({ amount, plan, unplanned, card }: OrderBody, now: Date): Agreed | undefined {
  const settled = plan && readPlan(plan, now)
  if (settled && 'problems' in settled) throw fail('validation_failed', { problems: settled.problems })
  // Whoever has a card looked at without paying wants it charged later.
  const unplannedMerchant = unplanned?.merchant ?? card?.store?.merchant ?? (!amount && !plan)
  const unplannedCustomer = unplanned?.customer ?? card?.store?.customer ?? false
  if (!plan && !unplannedMerchant && !unplannedCustomer) return undefined
  return { plan: plan ?? null, unplannedMerchant, unplannedCustomer }
}
