import type { Clock } from '@tollgate/kit/clock'
import type { Db } from '@tollgate/kit/db'
import { endpointFor } from '@tollgate/kit/endpoint'
import type { Fetch } from '@tollgate/kit/fetch'
import type { InTurn } from '@tollgate/kit/in-turn'
import type { Log } from '@tollgate/kit/log'
import type { Transport } from '@tollgate/kit/smtp'
import type { Acquirer } from './acquirers/acquirer.ts'
import type { Config } from './config.ts'
import type { FailureCode } from './errors.ts'
import type { Meters } from './meters.ts'
import type { AccessTokens } from './providers/access-tokens.ts'
import type { Rates } from './rules/exchange.ts'
import type { Kept } from './rules/kept.ts'
import type { AppRow } from './store/apps.ts'
import type { UserRow } from './store/users.ts'
import type { Vault } from './vault/vault.ts'

/** What every story of the payments service is handed. */
export type App = {
  config: Config
  db: Db
  log: Log
  now: Clock
  /** How other services are asked. */
  fetch: Fetch
  /** Mints an id that carries the tag of what it belongs to. */
  mintId(tag: string): string
  /** What currencies are worth, as far as this process knows. */
  rates: Rates
  /** Who is asked about the money of test merchants, and of others where somebody is configured. */
  acquirers: { simulator: Acquirer; live: Acquirer | undefined }
  /** What people show who signed in at the identity service. */
  people: AccessTokens
  /** What card numbers and security codes are encrypted with. */
  vault: Vault
  /** Who has called before: apps by the hash of their key, people by their address. Neither ever becomes somebody else. */
  known: { apps: Kept<AppRow>; people: Kept<UserRow> }
  smtp: Transport
  meters: Meters
  /** One story about one thing after the other, in this process. */
  inTurn: InTurn
  /** Lets jobs be done at once: for whoever has just committed one. */
  nudge(): void
}

export const endpoint = endpointFor<App, FailureCode>()
