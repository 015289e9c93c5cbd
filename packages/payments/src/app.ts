import type { Clock } from '@tollgate/kit/clock'
import type { Db } from '@tollgate/kit/db'
import { endpointFor } from '@tollgate/kit/endpoint'
import type { Log } from '@tollgate/kit/log'
import type { Config } from './config.ts'
import type { FailureCode } from './errors.ts'

/** What every story of the payments service is handed. */
export type App = {
  config: Config
  db: Db
  log: Log
  now: Clock
  /** Mints an id that carries the tag of what it belongs to. */
  mintId(tag: string): string
}

export const endpoint = endpointFor<App, FailureCode>()
