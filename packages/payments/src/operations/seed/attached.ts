import { Contradiction } from '../../rules/seed-figures.ts'
import type { SeedCard, SeedFraud, SeedTransaction } from '../../rules/seed-file.ts'
import { isThere, type Merchants, merchantOf } from './known.ts'
import type { There } from './there.ts'

type CardOf = { id: string; merchantId: string; bin: string; last4: string; expiry: Date; scheme: string }

export function cardOf({ id, merchantId, card }: SeedTransaction): [string, CardOf] {
  return [id, { ...card, id, merchantId }]
}

export function newCards(there: There, booking: Merchants, known: ReadonlyMap<string, CardOf>) {
  // A GET does not show what a card was saved from.
  const sources = new Map([...known.values()].map((source) => [fingerprint(source), source.id]))
  return (card: SeedCard) => {
    merchantOf(booking, card.merchantId)
    if (isThere(there.cards.get(card.id), card)) return undefined
    const transactionId = card.transactionId ?? sources.get(fingerprint(card))
    if (transactionId === undefined)
      throw new Contradiction('no transaction of its merchant was made with it; give the transactionId of one that was')
    const source = transactionOf(known, { ...card, transactionId })
    if (fingerprint(source) !== fingerprint(card))
      throw new Contradiction(`transaction ${transactionId} was made with another card`)
    return { ...card, transactionId }
  }
}

function fingerprint({ merchantId, bin, last4, expiry, scheme }: Omit<CardOf, 'id'>): string {
  return [merchantId, bin, last4, expiry.getTime(), scheme].join(' ')
}

function transactionOf(
  known: ReadonlyMap<string, CardOf>,
  { merchantId, transactionId }: { merchantId: string; transactionId: string },
): CardOf {
  const found = known.get(transactionId)
  if (found?.merchantId !== merchantId) throw new Contradiction(`merchant ${merchantId} has no transaction ${transactionId}`)
  return found
}

export function newFrauds(there: There, booking: Merchants, known: ReadonlyMap<string, CardOf>) {
  return (fraud: SeedFraud) => {
    merchantOf(booking, fraud.merchantId)
    if (isThere(there.frauds.get(fraud.id), fraud)) return undefined
    transactionOf(known, fraud)
    return fraud
  }
}
