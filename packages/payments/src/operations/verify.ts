import type { Db } from '@tollgate/kit/db'
import { holdStill } from '../store/verify/identities.ts'
import { cards, disputes, frauds } from './verify/attached.ts'
import { type Balances, lineSumsPass, linesPass, payouts, postings } from './verify/books.ts'
import { agreements, plans, securityCodes } from './verify/customers.ts'
import { apps, claims, members, merchants, prices, users } from './verify/identities.ts'
import type { Findings, Pass } from './verify/pass.ts'
import { operations, trails, transactions } from './verify/transactions.ts'

const tables = [
  'apps',
  'users',
  'merchants',
  'prices',
  'members',
  'transactions',
  'trail',
  'lines',
  'postings',
  'lineSums',
  'payouts',
  'cards',
  'disputes',
  'frauds',
  'agreements',
  'plans',
  'securityCodes',
  'idempotency',
  'simulatorOperations',
] as const

export type Verdict = {
  /** How many rows of each kind were read. */
  counts: Record<(typeof tables)[number], number>
  /** What every account of the books holds, credits less debits. */
  balances: { currency: string; account: string; amount: bigint }[]
  /** Whatever breaks a promise of ours, in a sentence each. The first of them; `breachCount` counts them all. */
  breaches: string[]
  breachCount: number
  /** What is no breach, but somebody should look at. */
  warnings: string[]
  warningCount: number
}

/** As many sentences as anybody reads, and memory that does not grow with the trouble. */
const mostSentences = 1000

/**
 * Reads everything once, in pages, and names whatever breaks a promise of ours. All of it is seen as it was at one moment, so that what is
 * written meanwhile is no contradiction.
 */
export function verify(db: Db, now: Date, pageSize = 2000): Promise<Verdict> {
  return db.begin(async (tx) => {
    await holdStill(tx)
    const breaches = createSentences()
    const warnings = createSentences()
    const findings: Findings = { now, breach: breaches.add, warn: warnings.add }
    const balances: Balances = new Map()
    const passes: Record<keyof Verdict['counts'], Pass> = {
      apps,
      users,
      merchants,
      prices,
      members,
      transactions,
      trail: trails,
      lines: linesPass(balances),
      postings,
      lineSums: lineSumsPass(),
      payouts,
      cards,
      disputes,
      frauds,
      agreements,
      plans,
      securityCodes,
      idempotency: claims,
      simulatorOperations: operations,
    }
    const counts = {} as Verdict['counts']
    for (const table of tables) counts[table] = await passes[table](tx, findings, pageSize)
    return {
      counts,
      balances: listBalances(balances),
      breaches: breaches.first,
      breachCount: breaches.count(),
      warnings: warnings.first,
      warningCount: warnings.count(),
    }
  })
}

function createSentences() {
  const first: string[] = []
  let count = 0
  return {
    first,
    count: () => count,
    add(sentence: string) {
      if (++count <= mostSentences) first.push(sentence)
    },
  }
}

function listBalances(balances: Balances): Verdict['balances'] {
  return [...balances]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([currency, accounts]) =>
      [...accounts]
        .toSorted(([one], [other]) => (one < other ? -1 : 1))
        .map(([account, amount]) => ({ currency, account, amount })),
    )
}
