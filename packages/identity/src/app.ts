import type { KeyObject } from 'node:crypto'
import type { Clock } from '@tollgate/kit/clock'
import type { Db } from '@tollgate/kit/db'
import { endpointFor } from '@tollgate/kit/endpoint'
import type { Fetch } from '@tollgate/kit/fetch'
import type { Keys } from '@tollgate/kit/jwt'
import type { Log } from '@tollgate/kit/log'
import type { Secret } from '@tollgate/kit/secret'
import type { Transport } from '@tollgate/kit/smtp'
import type { Together } from '@tollgate/kit/together'
import type { Config } from './config.ts'
import type { FailureCode } from './errors.ts'
import type { Compose } from './mail/compose.ts'
import type { Meters } from './meters.ts'
import type { BreachCheck } from './passwords/breach.ts'
import type { Passwords } from './passwords/hashing.ts'
import type { IdTokens } from './providers/id-tokens.ts'
import type { Exchange, OngoingSession } from './store/refresh-tokens.ts'
import type { Bearer, Borne } from './store/users.ts'

/** What every story of the identity service is handed. */
export type App = {
  config: Config
  db: Db
  log: Log
  now: Clock
  /** How other services are asked. */
  fetch: Fetch
  /** What access tokens are signed and verified with. */
  keys: Keys
  /** What is derived from the one secret: a key for each purpose. */
  secrets: Readonly<Record<'refresh' | 'codes' | 'messages' | 'recipients' | 'decoys' | 'flows', Secret<KeyObject>>>
  meters: Meters
  passwords: Passwords
  /** The account that a token names. */
  whoIs: Together<Bearer, Borne | undefined>
  /** Exchanges a refresh token, where there is something to exchange. */
  exchange: Together<Exchange, OngoingSession | undefined>
  /** How id tokens of providers are verified. */
  idTokens: IdTokens
  /** Undefined where nobody wants it asked. */
  isBreached: BreachCheck | undefined
  composeMail: Compose
  smtp: Transport
  /** Lets messages leave at once: for whoever has just committed one. */
  nudge(): void
}

export const endpoint = endpointFor<App, FailureCode>()
