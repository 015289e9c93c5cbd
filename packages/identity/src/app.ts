import type { Clock } from '@tollgate/kit/clock'
import type { Db } from '@tollgate/kit/db'
import { endpointFor } from '@tollgate/kit/endpoint'
import type { Keys } from '@tollgate/kit/jwt'
import type { Log } from '@tollgate/kit/log'
import type { Secret } from '@tollgate/kit/secret'
import type { Config } from './config.ts'
import type { FailureCode } from './errors.ts'

/** What every story of the identity service is handed. */
export type App = {
  config: Config
  db: Db
  log: Log
  now: Clock
  /** What access tokens are signed and verified with. */
  keys: Keys
  /** What refresh tokens are derived with. */
  refreshKey: Secret<Buffer>
}

export const endpoint = endpointFor<App, FailureCode>()
