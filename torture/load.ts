import { setTimeout as sleep } from 'node:timers/promises'
import type { Client, Shop } from '../e2e/payments-kill.ts'
import { type Exchange, outcomeOf } from './history.ts'
import type { Random } from './random.ts'

/** A shop whose customers of long ago can be charged again. */
export type Store = Shop

type Wish = { path: string; body: Record<string, unknown>; key: string }

/** Asks with the same key until there is an answer that is one. */
async function insist({ post }: Client, { authorization }: Store, { path, body, key }: Wish, random: Random) {
  for (;;) {
    const answer = await post(path, body, { authorization, 'idempotency-key': key })
    const outcome = outcomeOf({ answer })
    if (answer && outcome !== 'unknown') return { outcome, answer }
    await sleep(random.between(20, 250))
  }
}

/** What may go wrong at the acquirer, besides nothing. */
const mishaps = ['lost', 'unanswered', 'late', 'declined'] as const

/** How the acquirer behaves to one payment: well, slowly, or badly to one kind of operation. */
function drawTest(random: Random): object {
  if (random.chance(0.4)) return {}
  if (random.chance(0.5)) return { acquirer: { latency: random.between(1, 60) } }
  const operation = random.pick(['authorize', 'capture', 'refund', 'void'])
  return { acquirer: { [operation]: random.pick(mishaps), ...(random.chance(0.3) && { latency: random.between(1, 30) }) } }
}

type Shift = {
  client: Client
  store: Store
  random: Random
  /** Whether several programs of the shop are at one payment together, now and then. */
  isOpen(): boolean
}

/** A shop assistant: lets customers pay, and captures, refunds and voids what they paid, more often than can be now and then. */
export async function serveCustomers({ client, store, random, isOpen }: Shift): Promise<void> {
  const want = (path: string, body: Record<string, unknown>) => {
    const wish = {
      path,
      body,
      key: `${random.between(0, 2 ** 32 - 1).toString(16)}-${random.between(0, 2 ** 32 - 1).toString(16)}`,
    }
    // An impatient program asks twice at once.
    const others = random.chance(0.15) ? [insist(client, store, wish, random)] : []
    return Promise.all([insist(client, store, wish, random), ...others]).then(([first]) => first)
  }
  while (isOpen()) {
    const amount = random.between(5, 40) * 100
    const paid = random.chance(0.5)
      ? await want(`/merchants/${store.merchantId}/transactions`, {
          transactionId: random.pick(store.sources),
          currency: 'EUR',
          amount,
        })
      : await want(`/merchants/${store.merchantId}/simulator/payments`, { currency: 'EUR', amount, test: drawTest(random) })
    if (paid.outcome !== 'done') continue
    const { id } = JSON.parse(paid.answer.text).transaction
    const move = (kind: string) =>
      want(`/transactions/${id}/${kind}s`, { amount: Math.ceil((amount * random.between(1, 6)) / 10) })
    const moves = drawMoves(random)
    if (random.chance(0.2)) await Promise.all(moves.map(move))
    else
      for (const kind of moves) {
        if (!isOpen()) break
        await move(kind)
      }
  }
}

/** Money comes before it goes back, mostly. */
function drawMoves(random: Random): string[] {
  const captures = Array.from({ length: random.between(1, 3) }, () => 'capture')
  const rest = Array.from({ length: random.between(0, 3) }, () => random.pick(['refund', 'refund', 'void', 'capture']))
  return random.chance(0.1) ? random.shuffled([...captures, ...rest]) : [...captures, ...rest]
}

/** Asks for everything once more, now that all is well: whoever was left without an answer is told, and nobody is told anything else. */
export async function askOnceMore(client: Client, store: Store, history: readonly Exchange[], random: Random): Promise<void> {
  const wishes = new Map(history.flatMap(({ key, path, body }) => (key === undefined ? [] : [[key, { key, path, body }]])))
  const left = wishes.values()
  const ask = async () => {
    for (const wish of left) await insist(client, store, wish, random)
  }
  await Promise.all(Array.from({ length: 8 }, ask))
}
