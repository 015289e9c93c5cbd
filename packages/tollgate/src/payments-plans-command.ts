import { type Clock, systemClock } from '@tollgate/kit/clock'
import { createIds } from '@tollgate/kit/id'
import { createInTurn } from '@tollgate/kit/in-turn'
import { openAcquirer } from '@tollgate/payments/acquirers/all'
import { createSimulator } from '@tollgate/payments/acquirers/simulator'
import { fail } from '@tollgate/payments/errors'
import { createMeters } from '@tollgate/payments/meters'
import { type PlanRun, runPlans } from '@tollgate/payments/operations/run-plans'
import { createVault } from '@tollgate/payments/vault/vault'
import type { Command } from './command.ts'
import { Mistake } from './mistake.ts'
import type { WithDb } from './payments-payouts-command.ts'
import { withRates } from './payments-with-rates.ts'

type App = Parameters<Parameters<WithDb>[0]>[0]

export function plansCommand(withDb: WithDb, now = systemClock): Command {
  return {
    summary: 'Make the payments of plans that are due, of merchants who have them executed, as the service does by itself',
    usage: 'plans run',
    async run(words) {
      if (words.length !== 1 || words[0] !== 'run') throw new Mistake('Say what to do about plans: tollgate payments plans run')
      const run = await withDb((app) => runOnce(app, now))
      for (const line of describe(run)) console.log(line)
      if (run.failed > 0) process.exitCode = 1
    },
  }
}

/** As a process of the service that lives for one run. */
function runOnce({ config, db }: App, now: Clock): Promise<PlanRun> {
  return withRates({ config, db }, now, ({ rates, fetch, log }) =>
    runPlans({
      ...{ config, db, log, now, rates, mintId: createIds(now), inTurn: createInTurn() },
      acquirers: { simulator: createSimulator({ db, now, log }), live: openAcquirer(config.acquirer, { fetch, log }) },
      meters: createMeters(undefined, { now, day: rates.day }),
      vault: createVault(config.vault, () => fail('vault_missing')),
    }),
  )
}

function describe({ paid, declined, pending, missed, finished, stopped, failed }: PlanRun): string[] {
  const made = `${counted(paid, 'payment')} made, ${declined} declined, ${pending} without an answer yet.`
  const plans = `${counted(finished, 'plan')} finished, ${stopped} stopped.`
  const rest = [
    missed > 0 ? `${counted(missed, 'payment')} left out, for their time had passed.` : undefined,
    failed > 0 ? `${counted(failed, 'plan')} could not be gone on with, which is tried again in some minutes.` : undefined,
  ]
  return [made, plans, ...rest.filter((line) => line !== undefined)]
}

function counted(count: number, one: string): string {
  return `${count} ${count === 1 ? one : `${one}s`}`
}
