import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '@tollgate/kit/db'
import type { Cleanup } from '../bench/cleanup.ts'
import { type Client, createClient, judgePurchases, openShop, shopping } from '../e2e/payments-kill.ts'
import { countOpen, readBooks } from './books.ts'
import { check } from './checker.ts'
import { type Exchange, outcomeOf, recorded } from './history.ts'
import { askOnceMore, type Store, serveCustomers } from './load.ts'
import { type Finding, restPatience, type Scene } from './scene.ts'

type Cast = { assistants: number; customers: number }

/** A shop with assistants and customers, and the acquirer that is part of the product, in all its moods. */
export function paymentsScene({ assistants, customers }: Cast, cleanup: Cleanup): Scene {
  return {
    env: {
      PAY_API_HOST: '127.0.0.1',
      PAY_ASK_AGAIN_AFTER: '1',
      PAY_VAULT_KEYS: `torture:${Buffer.alloc(32, 'torture').toString('base64')}`,
      PAY_VAULT_TOKEN_EXP: '3600',
      PAY_PAYMENT_EXP: '3600',
    },
    outsiders: {},
    // Whatever somebody pays with is good for an hour, and a clock can go from as far back to as far ahead.
    longestJump: 25 * 60_000,
    async open(stage, watch) {
      const plain = createClient(stage.service.origin)
      cleanup.later(() => plain.close())
      const store: Store = await openShop(plain)
      const history: Exchange[] = []
      const client = recorded(plain, history, watch)
      let bought: Bought = []
      return {
        history,
        async load(random, isOpen) {
          const shifts = Array.from({ length: assistants }, () =>
            serveCustomers({ client, store, random: random.fork(), isOpen }),
          )
          const [purchases] = await Promise.all([shopping(client, store, { customers, isOpen }), ...shifts])
          bought = purchases
        },
        async settle(sql, random) {
          await untilRest(sql)
          await askOnceMore(client, store, history, random)
          await untilRest(sql)
          return judgeBuying(sql, client, store, bought)
        },
        async check(sql) {
          return check(history, { ...(await readBooks(sql, store)), complaint: await stage.verify() })
        },
        figures: () => figuresOf(history, bought.length),
      }
    },
  }
}

/** Until the acquirer has answered for everything. What is left open by then is for the checker to find. */
async function untilRest(sql: Db): Promise<void> {
  for (const deadline = performance.now() + restPatience; performance.now() < deadline; await sleep(100)) {
    const open = await countOpen(sql).catch(() => undefined)
    if (open === 0) return
  }
}

type Bought = Awaited<ReturnType<typeof shopping>>

async function judgeBuying(sql: Db, client: Client, store: Store, bought: Bought): Promise<Finding[]> {
  const { wrong, unasked, changed } = await judgePurchases(sql, client, store, bought)
  return [
    ...wrong.map((what) => ({ rule: 'a customer was told something else than there is', what })),
    ...unasked.map((what) => ({ rule: 'a customer paid what nobody was told of', what })),
    ...changed.map((what) => ({ rule: 'an order was told otherwise when it was sent again', what })),
  ]
}

function figuresOf(history: readonly Exchange[], purchases: number): Record<string, number> {
  const byKey = Map.groupBy(
    history.filter(({ key }) => key !== undefined),
    ({ key }) => key,
  )
  const last = [...byKey.values()].map((exchanges) => outcomeOf(exchanges.at(-1) as Exchange))
  const count = (wanted: string) => last.filter((outcome) => outcome === wanted).length
  return {
    requests: history.length,
    unanswered: history.filter(({ answer }) => answer === undefined).length,
    keys: byKey.size,
    'asked again': [...byKey.values()].filter((exchanges) => exchanges.some((exchange) => outcomeOf(exchange) === 'unknown'))
      .length,
    done: count('done'),
    declined: count('declined'),
    refused: count('refused'),
    purchases,
  }
}
