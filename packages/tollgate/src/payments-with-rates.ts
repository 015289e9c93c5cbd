import type { Clock } from '@tollgate/kit/clock'
import type { Db } from '@tollgate/kit/db'
import { createFetch, type Fetch } from '@tollgate/kit/fetch'
import { createLog, type Log } from '@tollgate/kit/log'
import { version } from '@tollgate/kit/version'
import type { Config } from '@tollgate/payments/config'
import { createRates } from '@tollgate/payments/operations/load-rates'

export type Surroundings = { rates: ReturnType<typeof createRates>; fetch: Fetch; log: Log }

/** What a command needs that moves money: what currencies are worth, a way to ask others, and somewhere to complain. */
export async function withRates<T>(
  { config, db }: { config: Config; db: Db },
  now: Clock,
  work: (surroundings: Surroundings) => Promise<T>,
): Promise<T> {
  const sink = { write: (line: string) => void process.stderr.write(line), flush() {} }
  const log = createLog({ level: 'warn', service: 'payments', sink })
  const fetch = createFetch({ ...config.outside, userAgent: `Tollgate/${version}` })
  const rates = createRates({ db, log, now, fetch, settings: config.exchange })
  try {
    await rates.refresh()
    return await work({ rates, fetch, log })
  } finally {
    await rates.stop()
    await fetch.close()
  }
}
