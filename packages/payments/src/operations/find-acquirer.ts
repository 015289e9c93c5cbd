import type { Acquirer } from '../acquirers/acquirer.ts'
import type { App } from '../app.ts'
import { declined } from './refuse-payment.ts'

type Parts = Pick<App, 'acquirers' | 'log'>

/** Who holds the authorization of a transaction. */
export function findAcquirer({ acquirers, log }: Parts, { id, acquirer }: { id: string; acquirer: string }): Acquirer {
  const found = [acquirers.simulator, acquirers.live].find((each) => each?.name === acquirer)
  if (found) return found
  log.error({ transaction: id, acquirer }, 'the acquirer that authorized a transaction is not configured')
  throw declined(12)
}

/** Who is asked for a new authorization. Test merchants always have the simulator. */
export function chooseAcquirer({ acquirers, log }: Parts, merchant: { id: string; test: boolean }): Acquirer {
  if (merchant.test) return acquirers.simulator
  if (acquirers.live) return acquirers.live
  log.error({ merchant: merchant.id }, 'a live merchant was to be paid, but PAY_ACQUIRER names nobody who could')
  throw declined(27)
}
