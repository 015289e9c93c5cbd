import { codeOf } from '@tollgate/kit/db'
import type { App } from '../app.ts'
import { readSeed } from '../rules/seed-file.ts'
import { holdSeeding } from '../store/seed.ts'
import { loadPlan } from './seed/load.ts'
import { planSeed } from './seed/plan.ts'
import { findThere } from './seed/there.ts'

/** A seed file that cannot be taken, in words for the person who wrote it. */
export class SeedProblem extends Error {}

/** How many of each were not there before. */
export type Loaded = Record<'apps' | 'merchants' | 'transactions' | 'lines' | 'cards' | 'disputes' | 'frauds', number>

/**
 * Loads a seed file, all of it or nothing, with books that agree with it. What is there already under the same id stays as it is, so that
 * the same file twice is the same as once.
 */
export async function seed({ config, db, now }: Pick<App, 'config' | 'db' | 'now'>, content: unknown): Promise<Loaded> {
  if (config.environment === 'production')
    throw new SeedProblem('Seeding is refused because PAY_ENV is production. Set PAY_ENV=development if this is not real money.')
  const file = readSeed(content)
  if ('mistakes' in file) throw refusal(file.mistakes)
  try {
    return await db.begin(async (tx) => {
      await holdSeeding(tx)
      const plan = planSeed(file, await findThere(tx, file), { now: now(), price: config.price })
      if ('mistakes' in plan) throw refusal(plan.mistakes)
      await loadPlan(tx, plan)
      const { apps, merchants, transactions, payoutLines, cards, frauds } = plan
      return {
        apps: apps.length,
        merchants: merchants.length,
        transactions: transactions.length,
        lines: transactions.reduce((count, { lines }) => count + lines.length, payoutLines.length),
        cards: cards.length,
        disputes: transactions.reduce((count, { disputes }) => count + disputes.length, 0),
        frauds: frauds.length,
      }
    })
  } catch (problem) {
    if (codeOf(problem) !== '23505') throw problem
    throw new SeedProblem(
      'Somebody else made something with the same id or key at the same moment. Nothing was loaded; load it again.',
    )
  }
}

const mostMistakes = 20

function refusal(mistakes: readonly string[]): SeedProblem {
  const lines = mistakes.slice(0, mostMistakes).map((mistake) => `  - ${mistake}`)
  if (mistakes.length > mostMistakes) lines.push(`  - and ${mistakes.length - mostMistakes} more`)
  return new SeedProblem(`The seed file is not as it should be:\n${lines.join('\n')}`)
}
