import type { Tx } from '@tollgate/kit/db'
import { tagOf } from '@tollgate/kit/id'
import { insist } from '@tollgate/kit/insist'
import type { AuthorizeAsk, CardFacts, CardMethod, Decided, Simulation } from '../acquirers/acquirer.ts'
import type { App } from '../app.ts'
import { unfit } from '../errors.ts'
import type { ProcessingCode } from '../rules/processing-errors.ts'
import type { Claim } from '../store/idempotency.ts'
import {
  findTransaction,
  insertTransaction,
  type NewTransaction,
  settleAuthorization,
  type Transaction,
} from '../store/transactions.ts'
import { exchange } from './exchange.ts'
import { chooseAcquirer, findAcquirer } from './find-acquirer.ts'
import { declined, unanswered } from './refuse-payment.ts'

type Parts = Pick<App, 'config' | 'db' | 'log' | 'now' | 'mintId' | 'rates' | 'acquirers' | 'meters'>

export type Payment = {
  merchant: { id: string; test: boolean; currency: string; canChargeCard: boolean }
  amount: number
  currency: string
  card: CardFacts
  descriptor: string
  custom: object | null
  /** Made by a server, without the customer, from an earlier transaction or a saved card. */
  recurring: boolean
  source: { id: string; acquirerReference: string | undefined } | undefined
  cardId: string | null
  tds: 'none' | 'attempt' | 'full'
  simulation: Simulation | undefined
  claim: Claim | undefined
  /** What is charged, where the acquirer has to be told. */
  method?: CardMethod | undefined
  series?: AuthorizeAsk['series']
  /** Why it fails before any acquirer is asked: the payer was not who they said, or the card cannot be one. */
  refused?: ProcessingCode | undefined
  /** What has to happen together with the payment or not at all; answers with what is charged. */
  prepare?(tx: Tx, id: string, decided: Decided | undefined): Promise<CardMethod>
}

/**
 * Reserves an amount on a card, in three strokes: write it down, ask the acquirer, write down the answer. Where the acquirer decides at
 * once, all is one statement. A declined payment is kept as a transaction that failed, and thrown.
 */
export async function authorize(app: Parts, payment: Payment): Promise<{ id: string }> {
  const { merchant, amount, currency, card, descriptor, custom, recurring, source, cardId, tds } = payment
  const { simulation, claim, refused, prepare } = payment
  if (!merchant.canChargeCard) throw declined(27)
  if (currency !== merchant.currency && !app.rates.find(currency, merchant.currency))
    throw unfit('currency', `There is no exchange rate from ${currency} to ${merchant.currency}, the currency of the merchant`)
  // What could never be captured is better refused now.
  exchange(app, amount, currency, merchant.currency, 'any age')
  const acquirer = chooseAcquirer(app, merchant)
  const id = app.mintId(tagOf(merchant.id))
  const ask: AuthorizeAsk = {
    reference: id,
    again: false,
    merchantId: merchant.id,
    currency,
    amount,
    descriptor,
    card,
    previous: source && { reference: source.id, acquirerReference: source.acquirerReference },
    series: payment.series,
    method: payment.method,
    simulation,
  }
  const decided: Decided | undefined = refused ? { kind: 'declined', code: refused } : acquirer.atOnce?.(ask)
  const transaction: NewTransaction = {
    merchantId: merchant.id,
    id,
    created: app.now(),
    test: merchant.test,
    currency,
    amount,
    descriptor,
    custom,
    recurring,
    tds,
    card,
    sourceId: source?.id ?? null,
    cardId,
    acquirer: acquirer.name,
    simulation: simulation ?? null,
  }
  if (prepare)
    ask.method = await app.db.begin(async (tx) => {
      const method = await prepare(tx, id, decided)
      await insertTransaction(tx, transaction, decided, claim)
      return method
    })
  else await insertTransaction(app.db, transaction, decided, claim)
  if (decided) app.meters.authorization(decided, merchant.test)
  if (decided) return told(id, decided)
  const outcome = await acquirer.authorize(ask)
  if (outcome.kind === 'unknown') {
    app.log.warn({ transaction: id, reason: outcome.reason }, 'the acquirer has not told what became of an authorization')
    app.meters.authorization(outcome, merchant.test)
    throw unanswered(id)
  }
  // The acquirer may not tell it a second time.
  await insist(() => settle(app, { merchantId: merchant.id, id, test: merchant.test }, outcome))
  return told(id, outcome)
}

async function settle(app: Parts, payment: Pick<Transaction, 'merchantId' | 'id' | 'test'>, decided: Decided): Promise<void> {
  if (await settleAuthorization(app.db, payment, decided)) app.meters.authorization(decided, payment.test)
}

function told(id: string, decided: Decided): { id: string } {
  if (decided.kind === 'declined') throw declined(decided.code, id)
  return { id }
}

/** Asks about an authorization that was left without an answer. */
export async function finishAuthorization(app: Parts, merchantId: string, id: string): Promise<void> {
  const found = await findTransaction(app.db, merchantId, id)
  if (found?.transaction.state !== 'pending') return
  const { transaction } = found
  const source = transaction.sourceId ? await findTransaction(app.db, merchantId, transaction.sourceId) : undefined
  const outcome = await findAcquirer(app, transaction).authorize({
    reference: id,
    again: true,
    merchantId,
    currency: transaction.currency,
    amount: transaction.amount,
    descriptor: transaction.descriptor,
    card: transaction.card,
    previous: source && {
      reference: source.transaction.id,
      acquirerReference: source.transaction.acquirerReference ?? undefined,
    },
    simulation: transaction.simulation ?? undefined,
  })
  if (outcome.kind !== 'unknown') await settle(app, transaction, outcome)
  // What may have been reserved has lapsed by now, so that nobody is charged who is told that they are not.
  else if (outcome.unknowable && hasLapsed(app, transaction)) await settle(app, transaction, { kind: 'declined', code: 12 })
}

function hasLapsed({ config, now }: Parts, { created }: Transaction): boolean {
  return now().getTime() - created.getTime() > config.transactions.expireDays * 86_400_000
}
