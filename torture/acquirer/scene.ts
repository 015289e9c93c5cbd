import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '@tollgate/kit/db'
import type { Cleanup } from '../../bench/cleanup.ts'
import { createClient } from '../../e2e/payments-kill.ts'
import { type Exchange, outcomeOf, recorded } from '../history.ts'
import type { Random } from '../random.ts'
import type { Scene } from '../scene.ts'
import { checkLive, type LivePayment } from './checker.ts'
import { startGateway } from './gateway.ts'
import { openLiveShop, sellLive } from './live-shop.ts'

/** Seconds that the gateway may take, the least that can be set. */
const patience = 1

/** Milliseconds: what has not been found out about by then stays open. */
const rest = 5_000

/** A shop that takes real cards, and an acquirer that is not ours. */
export async function acquirerScene({ shops, random }: { shops: number; random: Random }, cleanup: Cleanup): Promise<Scene> {
  const gateway = await startGateway(random.fork(), patience)
  cleanup.later(() => gateway.close())
  return {
    env: {
      PAY_API_HOST: '127.0.0.1',
      PAY_ASK_AGAIN_AFTER: String(patience + 1),
      PAY_VAULT_KEYS: `torture:${Buffer.alloc(32, 'torture').toString('base64')}`,
      PAY_VAULT_TOKEN_EXP: '3600',
      PAY_PAYMENT_EXP: '3600',
      // All of them pay with one card, at once.
      PAY_RATE_LIMIT_DECLINED_CARD: '1000000',
      ...gateway.env,
    },
    outsiders: { acquirer: gateway },
    longestJump: 25 * 60_000,
    async open(stage, watch) {
      const plain = createClient(stage.service.origin)
      cleanup.later(() => plain.close())
      const shop = await openLiveShop(plain)
      const history: Exchange[] = []
      const client = recorded(plain, history, watch)
      let open = 0
      return {
        history,
        load: (own, isOpen) =>
          Promise.all(Array.from({ length: shops }, () => sellLive({ client, shop, random: own.fork(), isOpen }))),
        async settle(sql) {
          const isOpen = async () => (await readPayments(sql, shop.merchantId)).some(isPending)
          for (const end = performance.now() + rest; performance.now() < end && (await isOpen()); await sleep(200));
          return []
        },
        async check(sql) {
          const payments = await readPayments(sql, shop.merchantId)
          open = payments.filter(isPending).length
          const complaint = await stage.verify()
          return checkLive({ history, payments, authorizations: gateway.authorizations(), complaint })
        },
        figures: () => ({
          requests: history.length,
          unanswered: history.filter(({ answer }) => answer === undefined).length,
          unknown: history.filter((exchange) => outcomeOf(exchange) === 'unknown').length,
          payments: gateway.authorizations().length,
          moved: history.filter(({ key, answer }) => key !== undefined && answer?.status === 201).length,
          'left open': open,
        }),
      }
    },
  }
}

const isPending = ({ state, entries }: LivePayment) => state === 'pending' || entries.some((entry) => entry.state === 'pending')

async function readPayments(sql: Db, merchantId: string): Promise<LivePayment[]> {
  return sql<LivePayment>`
    select id, amount, case state when 'approved' then 'done' when 'pending' then state else 'failed' end as state, coalesce((
      select json_agg(json_build_object('kind', e.kind, 'state', e.state, 'amount', e.amount, 'keyHash', i.key_hash))
      from pay.trail e left join pay.idempotency i on i.entry_id = e.id
      where e.merchant_id = t.merchant_id and e.transaction_id = t.id), '[]') as entries
    from pay.transactions t where merchant_id = ${merchantId}`
}
