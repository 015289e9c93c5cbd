import type { Tx } from '@tollgate/kit/db'
import { hashKey } from '../../rules/keys.ts'
import type { Seed } from '../../rules/seed-file.ts'
import type { BookedMerchant } from '../../rules/seed-story.ts'
import {
  type Found,
  type FoundMerchant,
  type FoundTransaction,
  listAppsLike,
  listCardsLike,
  listDisputesLike,
  listFraudsLike,
  listLinesLike,
  listMerchantsLike,
  listPayoutDays,
  listTransactionsLike,
} from '../../store/seed.ts'

/** What is in the database of what a file speaks of, by id. */
export type There = {
  apps: Map<string, { keyHash: string }>
  merchants: Map<string, BookedMerchant & { key: string }>
  transactions: Map<string, FoundTransaction>
  lines: Map<string, Found>
  cards: Map<string, Found>
  disputes: Map<string, Found>
  frauds: Map<string, Found>
  /** Merchant and day. */
  payouts: Set<string>
}

export async function findThere(tx: Tx, file: Seed): Promise<There> {
  const owned = [file.transactions, file.lines, file.cards, file.disputes, file.frauds].flat()
  const merchantIds = distinct([...idsOf(file.merchants), ...owned.map(({ merchantId }) => merchantId)])
  const transactionIds = distinct([
    ...idsOf(file.transactions),
    ...[file.cards, file.disputes, file.frauds].flat().flatMap(({ transactionId }) => transactionId ?? []),
  ])
  const trail = file.transactions.flatMap((transaction) => transaction.trail ?? [])
  const lineIds = distinct([...idsOf(file.lines), ...trail.flatMap(({ lineId }) => lineId ?? [])])
  const disputeIds = distinct([...idsOf(file.disputes), ...trail.flatMap(({ dispute }) => dispute?.id ?? [])])
  const appIds = distinct([...idsOf(file.apps), ...file.merchants.flatMap(({ apps = [] }) => apps)])
  const keyHashes = file.apps.map(({ key }) => hashKey(key).toString('hex'))
  const merchants = await listMerchantsLike(tx, { ids: merchantIds, keys: file.merchants.map(({ key }) => key) })
  const payouts = await listPayoutDays(tx, merchantIds)
  return {
    apps: byId(await listAppsLike(tx, { ids: appIds, keyHashes })),
    merchants: byId(merchants.map(toBooked)),
    transactions: byId(await listTransactionsLike(tx, transactionIds)),
    lines: byId(await listLinesLike(tx, lineIds)),
    cards: byId(await listCardsLike(tx, idsOf(file.cards))),
    disputes: byId(await listDisputesLike(tx, disputeIds)),
    frauds: byId(await listFraudsLike(tx, idsOf(file.frauds))),
    payouts: new Set(payouts.map(({ merchantId, day }) => `${merchantId} ${day}`)),
  }
}

function toBooked({ prices, ...merchant }: FoundMerchant): BookedMerchant & { key: string } {
  return { ...merchant, prices: prices.map((price) => ({ ...price, since: new Date(price.since) })) }
}

function idsOf(items: readonly { id: string }[]): string[] {
  return items.map(({ id }) => id)
}

function distinct(ids: readonly string[]): string[] {
  return [...new Set(ids)]
}

function byId<T extends { id: string }>(items: readonly T[]): Map<string, T> {
  return new Map(items.map((item) => [item.id, item]))
}
