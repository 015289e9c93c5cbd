import { tagOf } from '@tollgate/kit/id'
import type { Price } from '../../rules/fees.ts'
import { hashKey } from '../../rules/keys.ts'
import { bookTransaction } from '../../rules/seed-books.ts'
import { Contradiction } from '../../rules/seed-figures.ts'
import type { Seed, SeedCard, SeedFraud, SeedMerchant, SeedTransaction } from '../../rules/seed-file.ts'
import type { Besides, Booked, BookedLine, BookedMerchant } from '../../rules/seed-story.ts'
import { cardOf, newCards, newFrauds } from './attached.ts'
import { createBesides, type Taking } from './besides.ts'
import { isThere, type Merchants, merchantOf } from './known.ts'
import { newPayouts, type PlannedPayout } from './payouts.ts'
import type { There } from './there.ts'

/** All that a file adds to what is there. */
export type Plan = {
  apps: Seed['apps']
  merchants: (SeedMerchant & { price: Price })[]
  users: { id: string; email: string; created: Date }[]
  transactions: Booked[]
  payouts: PlannedPayout[]
  payoutLines: BookedLine[]
  cards: (SeedCard & { transactionId: string })[]
  frauds: SeedFraud[]
}

type Terms = { now: Date; price: Price }

/** What a file adds, or a sentence for everything in it that cannot be. */
export function planSeed(file: Seed, there: There, terms: Terms): Plan | { mistakes: string[] } {
  const mistakes: string[] = []
  const each = <Item, Result>(list: string, items: readonly Item[], work: (item: Item) => Result | undefined): Result[] =>
    items.flatMap((item, index) => {
      try {
        return work(item) ?? []
      } catch (problem) {
        if (!(problem instanceof Contradiction)) throw problem
        mistakes.push(`${list}.${index}: ${problem.message}`)
        return []
      }
    })

  for (const list of ['apps', 'merchants', 'transactions', 'lines', 'cards', 'disputes', 'frauds'] as const)
    each<Made, void>(list, file[list], refuseOddities(terms.now))
  each('transactions', file.transactions, refuseLateEntries(terms.now))

  const apps = each('apps', file.apps, newApps(there))
  const knownApps = new Set([...there.apps.keys(), ...file.apps.map(({ id }) => id)])
  const merchants = each('merchants', file.merchants, newMerchants(there, terms, knownApps))
  const booking = new Map<string, BookedMerchant>([...there.merchants, ...merchants.map(bookable)])
  const besides = createBesides(file, terms.now)
  const transactions = each('transactions', file.transactions, newTransactions(there, booking, besides))

  each('disputes', file.disputes, refuseLoose(there, besides))
  const paid = each('lines', file.lines, newPayouts(there, booking, besides))
  const lines = [...transactions.flatMap((booked) => booked.lines), ...paid.map(({ line }) => line)]
  each('merchants', file.merchants, refuseOtherBalance(there, lines))

  const known = new Map([...file.transactions.map(cardOf), ...there.transactions])
  const cards = each('cards', file.cards, newCards(there, booking, known))
  const frauds = each('frauds', file.frauds, newFrauds(there, booking, known))
  if (mistakes.length > 0) return { mistakes }
  return {
    apps,
    merchants,
    users: peopleOf(merchants, besides),
    transactions,
    payouts: paid.map(({ payout }) => payout),
    payoutLines: paid.map(({ line }) => line),
    cards,
    frauds,
  }
}

type Made = { id: string; created: Date }

const tolerance = 5 * 60_000

function refuseFuture(created: Date, now: Date) {
  if (created.getTime() > now.getTime() + tolerance) throw new Contradiction(`created is in the future, ${created.toISOString()}`)
}

function refuseOddities(now: Date) {
  const ids = new Set<string>()
  return ({ id, created }: Made) => {
    if (ids.has(id)) throw new Contradiction(`the id ${id} is there twice`)
    ids.add(id)
    refuseFuture(created, now)
  }
}

function refuseLateEntries(now: Date) {
  return ({ trail = [] }: SeedTransaction) => {
    for (const [index, { created }] of trail.entries())
      if (created.getTime() > now.getTime() + tolerance)
        throw new Contradiction(`trail.${index}: created is in the future, ${created.toISOString()}`)
  }
}

function newApps(there: There) {
  const owners = new Map([...there.apps].map(([id, { keyHash }]) => [keyHash, id]))
  return (app: Seed['apps'][number]) => {
    if (there.apps.has(app.id)) return undefined
    const hash = hashKey(app.key).toString('hex')
    if (owners.has(hash)) throw new Contradiction(`app ${app.id} has the same key as app ${owners.get(hash)}`)
    owners.set(hash, app.id)
    return app
  }
}

function newMerchants(there: There, { price }: Terms, knownApps: ReadonlySet<string>) {
  const owners = new Map([...there.merchants].map(([id, { key }]) => [key, id]))
  return (merchant: SeedMerchant) => {
    const { id, key, apps = [], pricing = {} } = merchant
    if (there.merchants.has(id)) return undefined
    if (owners.has(key)) throw new Contradiction(`merchant ${id} has the same key as merchant ${owners.get(key)}`)
    owners.set(key, id)
    const stranger = apps.find((app) => !knownApps.has(app))
    if (stranger !== undefined) throw new Contradiction(`merchant ${id} has app ${stranger}, which is not known`)
    const { rate, flat = price.flat, dispute = price.dispute } = pricing
    return { ...merchant, price: { rate: rate === undefined ? price.rate : rateText(rate), flat, dispute } }
  }
}

function rateText(rate: number): string {
  const text = rate.toFixed(8)
  if (text.startsWith('1')) throw new Contradiction(`pricing.rate is ${rate}, which is too near to 1`)
  return text
}

function bookable(merchant: Plan['merchants'][number]): [string, BookedMerchant] {
  const { id, test = false, currency, descriptor, bank, name = '', website, created, price } = merchant
  const holder = name.trim() || website
  return [id, { id, test, currency, descriptor, iban: bank?.iban ?? null, holder, prices: [{ ...price, since: created }] }]
}

function newTransactions(there: There, booking: Merchants, besides: Besides) {
  const lineIds = new Set<string>()
  return (transaction: SeedTransaction): Booked | undefined => {
    const merchant = merchantOf(booking, transaction.merchantId)
    if (isThere(there.transactions.get(transaction.id), transaction)) return undefined
    const booked = bookTransaction(transaction, merchant, besides)
    for (const { id } of booked.lines) {
      if (there.lines.has(id) || lineIds.has(id)) throw new Contradiction(`line ${id} belongs to something else already`)
      lineIds.add(id)
    }
    const known = booked.disputes.find(({ id }) => there.disputes.has(id))
    if (known) throw new Contradiction(`dispute ${known.id} belongs to something else already`)
    return booked
  }
}

function refuseLoose(there: There, besides: Taking) {
  return (dispute: Seed['disputes'][number]) => {
    if (besides.isTaken(dispute) || isThere(there.disputes.get(dispute.id), dispute)) return
    throw new Contradiction(`no entry in the trail of a new transaction ${dispute.transactionId} is about dispute ${dispute.id}`)
  }
}

function refuseOtherBalance(there: There, lines: readonly BookedLine[]) {
  const balances = new Map<string, bigint>()
  for (const { merchantId, balance } of lines) balances.set(merchantId, (balances.get(merchantId) ?? 0n) + BigInt(balance))
  return ({ id, balance }: SeedMerchant) => {
    const sum = balances.get(id) ?? 0n
    if (balance === undefined || there.merchants.has(id) || BigInt(balance) === sum) return
    throw new Contradiction(
      `the balance of merchant ${id} is ${balance}, but its lines add up to ${sum}; bring all of them, or leave it out`,
    )
  }
}

function peopleOf(merchants: readonly SeedMerchant[], { mint }: Besides): Plan['users'] {
  const people = new Map<string, Plan['users'][number]>()
  for (const { id, created, users = [] } of merchants)
    for (const email of users) if (!people.has(email)) people.set(email, { id: mint(created, tagOf(id)), email, created })
  return [...people.values()]
}
