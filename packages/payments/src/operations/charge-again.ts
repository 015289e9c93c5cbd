import { tagOf } from '@tollgate/kit/id'
import type { CardMethod } from '../acquirers/acquirer.ts'
import type { App } from '../app.ts'
import type { Who } from '../callers.ts'
import { fail, unfit } from '../errors.ts'
import { isChargeable } from '../rules/currencies.ts'
import { oddCards } from '../rules/test-cards.ts'
import { findAgreedCard } from '../store/agreements.ts'
import { insertPlainCharge } from '../store/charges.ts'
import type { Claim } from '../store/idempotency.ts'
import { findSource, type Source } from '../store/sources.ts'
import { aboutCard } from '../vault/about-card.ts'
import { authorize } from './authorize.ts'

type Charge = {
  who: Who
  merchantId: string
  transactionId?: string
  authorizationId?: string
  cardId?: string
  amount: number
  currency: string
  descriptor?: string
  custom?: object
  claim: Claim | undefined
}

/**
 * Reserves an amount without the customer being there, on the card of an earlier transaction. Most charges are plain and done by one
 * statement; whatever is not, and whatever has to be refused, goes the long way.
 */
export async function chargeAgain(app: App, charge: Charge): Promise<{ id: string }> {
  return (await chargePlainly(app, charge)) ?? chargeInStrokes(app, charge)
}

async function chargePlainly(app: App, charge: Charge): Promise<{ id: string } | undefined> {
  const { who, merchantId, amount, currency, descriptor, claim } = charge
  const sourceId = charge.transactionId ?? charge.authorizationId
  if (sourceId === undefined) return undefined
  const id = app.mintId(tagOf(merchantId))
  const made = await insertPlainCharge(app.db, {
    ...{ identityId: who.id, merchantId, sourceId, id, created: app.now(), oddCards, claim },
    ...{ amount, currency, descriptor, custom: charge.custom ?? null },
  })
  if (!made) return undefined
  app.meters.authorization({ kind: 'approved', acquirerReference: id }, true)
  return { id }
}

async function chargeInStrokes(app: App, charge: Charge): Promise<{ id: string }> {
  const { who, merchantId, amount, currency, claim } = charge
  const transactionId = charge.transactionId ?? charge.authorizationId
  const cardId = transactionId === undefined ? charge.cardId : undefined
  const found = await findSource(app.db, { identityId: who.id, merchantId, transactionId, cardId })
  if (!found) throw fail('not_found')
  if (transactionId === undefined && cardId === undefined) throw unfit('transactionId', 'Required')
  if (!isChargeable(currency)) throw unfit('currency', 'Must be the code of a currency that payments can be made in')
  const { merchant, source } = found
  const field = cardId === undefined ? 'transactionId' : 'cardId'
  if (!source) throw unfit(field, `Must name a ${cardId === undefined ? 'transaction' : 'saved card'} of this merchant`)
  if (source.state !== 'approved') throw unfit(field, 'Must name a transaction that was successful')
  if (cardId !== undefined)
    app.log.warn(
      { merchant: merchantId, card: cardId },
      'deprecated: a payment is made from a saved card instead of a transaction',
    )
  return authorize(app, {
    merchant,
    amount,
    currency,
    card: source.card,
    descriptor: charge.descriptor ?? merchant.descriptor,
    custom: charge.custom ?? null,
    recurring: true,
    source: { id: source.id, acquirerReference: source.acquirerReference },
    cardId: cardId ?? null,
    tds: 'none',
    simulation: source.simulation,
    claim,
    // The simulator knows its cards without their numbers.
    method: merchant.test ? undefined : await findMethod(app, merchantId, source),
  })
}

/** The card that the payer agreed to have charged again. Undefined when they did not: what that means is up to the acquirer. */
export async function findMethod(
  { db, vault, log }: Pick<App, 'db' | 'vault' | 'log'>,
  merchantId: string,
  { id, card }: Pick<Source, 'id' | 'card'>,
): Promise<CardMethod | undefined> {
  const agreed = await findAgreedCard(db, { merchantId, transactionId: id })
  if (!agreed) return undefined
  const number = vault.unlock(agreed.card, aboutCard({ merchantId, transactionId: agreed.transactionId }))
  if (!number) {
    log.error(
      { merchant: merchantId, transaction: id },
      'a card that was kept cannot be opened: its key is not in PAY_VAULT_KEYS',
    )
    return undefined
  }
  return { kind: 'card', number, expiryMonth: card.expiry.getUTCMonth() + 1, expiryYear: card.expiry.getUTCFullYear() }
}
