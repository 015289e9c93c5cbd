import { systemClock } from '@tollgate/kit/clock'
import { createIds, isId } from '@tollgate/kit/id'
import { settleByHand } from '@tollgate/payments/operations/settle-by-hand'
import type { Command } from './command.ts'
import { Mistake } from './mistake.ts'
import type { WithDb } from './payments-payouts-command.ts'

export function settleCommand(withDb: WithDb, now = systemClock): Command {
  return {
    summary: 'Say what became of a payment or movement that its acquirer does not tell the outcome of',
    usage: 'settle ID approved|declined',
    async run([id, outcome, ...rest]) {
      if (id === undefined || (outcome !== 'approved' && outcome !== 'declined') || rest.length > 0)
        throw new Mistake('Say which, and how it ended: tollgate payments settle ID approved|declined')
      if (!isId(id))
        throw new Mistake(`The id of a transaction or of an entry of its trail is 24 hex digits, not ${JSON.stringify(id)}.`)
      const decided =
        outcome === 'approved'
          ? ({ kind: 'approved', acquirerReference: undefined } as const)
          : ({ kind: 'declined', code: 12 } as const)
      const what = await withDb(({ db }) => settleByHand({ db, now, mintId: createIds(now) }, id, decided))
      if (!what) throw new Mistake(`Nothing with the id ${id} waits for an answer.`)
      console.log(`The ${what} ${id} is settled as ${outcome}.`)
    },
  }
}
