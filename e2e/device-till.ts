import { startPayments } from '@tollgate/payments/testing'
import { expect } from 'vitest'
import { jsClient, type Order, overHttp, Refused, statusCodes, type Trail, type Wire } from './device-client.ts'
import { openShop, type Payments, type Shop } from './payments-service.ts'

/** The address that devices are told, wherever the service is. */
export const origin = 'https://pay.example.com'
export const jsonHeaders = { 'accept-version': '1', 'content-type': 'application/json' }
export const formHeaders = { 'content-type': 'application/x-www-form-urlencoded' }
export const money = (value: number) => ({ currency: 'EUR', exponent: 2, value })

type Card = { number?: string; code?: string; month?: number; year?: number }

type Transaction = Record<string, unknown> & { id: string; successful: boolean; error: false | { code: number }; amount: number }

type Token = Awaited<ReturnType<ReturnType<typeof jsClient>['tokenize']>>
type CardOrder = Order & { card: { number: Token; code: Token; expiry: { month: number; year: number } } }

/** A shop, the service that takes its payments, and clients of devices. */
export type Till = {
  service: Payments
  /** Whose key new orders carry: another one where a test counts transactions. */
  shop: Shop
  wire: Wire
  js(payer?: 'confirms' | 'refuses'): ReturnType<typeof jsClient>
  /** An order with tokens of its own, as a page with a card form makes one. */
  newOrder(more?: Order, card?: Card): Promise<CardOrder>
  transactionsOf(shop: Shop): Promise<Transaction[]>
  transaction(id: string, shop?: Shop): Promise<Transaction>
  /** The hints with which a step could be taken. */
  stopBefore(name: string, order: Order): Promise<{ hints: string[] }>
}

export async function openTill(): Promise<Till> {
  const service = await startPayments({ PAY_API_EXTERNAL_URL: origin, PAY_PAYMENT_EXP: '600' })
  const wire: Wire = (url, headers, body) => overHttp(url.replace(origin, service.origin), headers, body)
  const till: Till = {
    service,
    shop: await openShop(service),
    wire,
    js: (payer = 'confirms') => jsClient({ origin, wire, payer }),
    async newOrder(more = {}, { number = '4100000000000000', code = '123', month = 8, year = 2066 } = {}) {
      const { tokenize } = jsClient({ origin, wire })
      const card = { number: await tokenize('pcn', number), code: await tokenize('pcsc', code), expiry: { month, year } }
      return { integration: { key: till.shop.key }, test: {}, amount: money(1250), card, ...more }
    },
    async transactionsOf({ id, authorization }) {
      const answer = await service.call(`GET /merchants/${id}/transactions?limit=100`, { headers: { authorization } })
      expect(answer.status).toBe(200)
      return answer.json<Transaction[]>()
    },
    async transaction(id, { authorization } = till.shop) {
      const answer = await service.call(`GET /transactions/${id}`, { headers: { authorization } })
      return answer.json<{ transaction: Transaction }>().transaction
    },
    async stopBefore(name, order) {
      const client = till.js()
      let hints: string[] = []
      for (;;) {
        const { challenges = [] } = await client.request('/payments', { ...order, hints })
        const [next] = challenges
        if (!next || next.name === name) return { hints }
        hints = [...hints, ...(await client.takeStep(order, hints, next)).gained]
      }
    },
  }
  return till
}

/** What a payment is refused with, and that it is. */
export async function refusalOf(paying: Promise<unknown>): Promise<Refused> {
  const problem = await paying.then(
    () => new Error('It was not refused'),
    (thrown: unknown) => thrown,
  )
  if (!(problem instanceof Refused)) throw problem
  expect(statusCodes).toContain(problem.code)
  expect(problem.message).not.toBe('')
  return problem
}

export function outline(trail: Trail): (string | number)[][] {
  return trail.map(({ hints, offered, taken }) => [hints, ...offered.map(({ name, type }) => `${name} ${type}`), taken])
}

export const wholeWay = [
  [0, 'authorize-integration fetch', 'fingerprint background-iframe', 'authorize-integration'],
  [1, 'tds-enrolled fetch', 'fingerprint background-iframe', 'tds-enrolled'],
  [2, 'tds-fingerprint background-iframe', 'fingerprint background-iframe', 'tds-fingerprint'],
  [6, 'tds-pre-challenge fetch', 'tds-pre-challenge'],
  [7, 'tds-challenge iframe', 'tds-challenge'],
  [8, 'tds-post-challenge fetch', 'tds-post-challenge'],
  [9, 'authorize fetch', 'authorize'],
]
