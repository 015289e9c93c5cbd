import type { ShopFacts } from './facts.ts'
import { findGood, type Good } from './goods.ts'

export type Order = { id: string; good: Good; card: string; tds: string; answers: [question: string, answer: string][] }

type Transaction = {
  id: string
  amount: number
  currency: string
  successful: boolean
  tds: string
  card?: { scheme: string; last4: string }
  custom?: Record<string, unknown>
}

const schemes: Record<string, string> = { visa: 'Visa', mastercard: 'Mastercard' }

/** What every shop should do before it sends anything: ask the service, and compare what was paid with what it costs. */
export async function findOrder({ service, appKey }: ShopFacts, id: string): Promise<Order | undefined> {
  if (!/^[0-9a-f]{24}$/.test(id)) return undefined
  const authorization = `Basic ${Buffer.from(`:${appKey}`).toString('base64')}`
  const answer = await fetch(`${service}/transactions/${id}`, { headers: { authorization } })
  if (answer.status === 404) return undefined
  if (!answer.ok) throw new Error(`the payments service answered ${answer.status}`)
  const { transaction } = (await answer.json()) as { transaction: Transaction }
  return orderOf(transaction)
}

function orderOf({ id, amount, currency, successful, tds, card, custom = {} }: Transaction): Order | undefined {
  const { item, reference, ...answers } = custom
  const good = findGood(item ?? reference)
  if (!good || !successful || currency !== 'EUR' || amount !== good.price) return undefined
  return {
    id,
    good,
    card: card ? `${schemes[card.scheme] ?? card.scheme} ending in ${card.last4}` : 'a card',
    tds,
    answers: Object.entries(answers).filter((each): each is [string, string] => typeof each[1] === 'string' && each[1] !== ''),
  }
}
