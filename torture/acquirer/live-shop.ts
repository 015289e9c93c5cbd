import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../../e2e/payments-kill.ts'
import { outcomeOf } from '../history.ts'
import type { Random } from '../random.ts'

export type LiveShop = { authorization: string; merchantId: string; key: string }

type Made = { app: { key: string }; merchant: { id: string; key: string } }

export async function openLiveShop({ post }: Client): Promise<LiveShop> {
  const make = async (path: string, body: object, headers?: Record<string, string>): Promise<Made> => {
    const answer = await post(path, body, headers)
    if (answer?.status !== 201) throw new Error(`${path} was answered with ${answer?.status} ${answer?.text}`)
    return JSON.parse(answer.text)
  }
  const { app } = await make('/apps', {})
  const authorization = `Basic ${Buffer.from(`:${app.key}`).toString('base64')}`
  const about = { email: 'shop@shop.test', website: 'shop.test', descriptor: 'Shop', company: { country: 'DK' } }
  const { merchant } = await make('/merchants', { currency: 'EUR', ...about }, { authorization })
  return { authorization, merchantId: merchant.id, key: merchant.key }
}

/** However long an acquirer is silent, customers and assistants are not there for ever. */
const mostTries = 8

type Shift = { client: Client; shop: LiveShop; random: Random; isOpen(): boolean }

/** Customers with real cards, one after the other, and an assistant who captures, refunds and voids what they paid. */
export async function sellLive({ client, shop, random, isOpen }: Shift): Promise<void> {
  while (isOpen()) {
    const amount = random.between(10, 80) * 100
    const id = await buy(client, shop, amount, random)
    if (id === undefined) continue
    for (const [kind, share] of drawMoves(random)) {
      if (!isOpen()) break
      await move(client, shop, { id, kind, amount: Math.ceil(amount * share) }, random)
    }
  }
}

/** Live merchants have no simulated bank in the way: two steps. */
async function buy(client: Client, { key }: LiveShop, amount: number, random: Random): Promise<string | undefined> {
  const ask = async (path: string, body: object) => {
    for (let tries = 1; tries <= mostTries; tries++) {
      const answer = await client.post(path, body, { 'accept-version': '1' })
      if (answer && answer.status < 500 && answer.status !== 429) return answer.status < 300 ? JSON.parse(answer.text) : undefined
      await sleep(random.between(20, 250))
    }
    return undefined
  }
  const [number, code] = [
    await ask('/vault', { type: 'pcn', value: '4111111111111111' }),
    await ask('/vault', { type: 'pcsc', value: '987' }),
  ]
  const card = { number, code, expiry: { month: 6, year: 2031 } }
  const order = { integration: { key }, amount: { currency: 'EUR', exponent: 2, value: amount }, card }
  const first = await ask('/payments/challenges/authorize-integration', order)
  const last = first && (await ask('/payments/challenges/authorize', { ...order, hints: first.hints }))
  const paid = last && (await ask('/payments', { ...order, hints: [...first.hints, ...last.hints] }))
  return paid?.authorizationId
}

/** Mostly such as can be found out about later, for there is room for one of them alone. */
function drawMoves(random: Random): (readonly [kind: string, share: number])[] {
  return random
    .pick([
      [['void', 1]],
      [['capture', 1]],
      [
        ['capture', 0.7],
        ['refund', 0.6],
      ],
      [
        ['capture', 0.3],
        ['capture', 0.3],
        ['refund', 0.2],
      ],
    ] as const)
    .map((move) => move)
}

type Move = { id: string; kind: string; amount: number }

async function move({ post }: Client, { authorization }: LiveShop, { id, kind, amount }: Move, random: Random) {
  const key = `${random.between(0, 2 ** 32 - 1).toString(16)}-${random.between(0, 2 ** 32 - 1).toString(16)}`
  for (let tries = 1; tries <= mostTries; tries++) {
    const answer = await post(`/transactions/${id}/${kind}s`, { amount }, { authorization, 'idempotency-key': key })
    if (outcomeOf({ answer }) !== 'unknown') return
    await sleep(random.between(20, 250))
  }
}
