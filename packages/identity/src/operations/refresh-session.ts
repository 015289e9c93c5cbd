import { createTogether } from '@tollgate/kit/together'
import type { App } from '../app.ts'
import { fail } from '../errors.ts'
import { isBanned } from '../rules/ban.ts'
import { childToken, hashToken } from '../rules/refresh-token.ts'
import { reuse } from '../rules/reuse.ts'
import {
  type Exchange,
  exchangeTokens,
  findToken,
  type OngoingSession,
  type PresentedToken,
  revokeFamily,
} from '../store/refresh-tokens.ts'
import { lockSession } from '../store/sessions.ts'
import type { Origin } from './start-session.ts'

export type Refreshed = { session: OngoingSession; refreshToken: string }

/** Every client comes back once an hour, many of them in the same second: those who come together are served together. */
export function createExchange({ db, config, now }: Pick<App, 'db' | 'config' | 'now'>): App['exchange'] {
  const { timebox, inactivityTimeout, singlePerUser } = config.sessions
  return createTogether((exchanges: readonly Exchange[]) => {
    const moment = now()
    return exchangeTokens(db, exchanges, {
      now: moment,
      begunAfter: before(moment, timebox),
      refreshedAfter: before(moment, inactivityTimeout),
      singlePerUser,
      audited: config.auditInDatabase,
    })
  })
}

const mostTries = 3

/** Exchanges a refresh token for the next one, or says why not. Nearly always one statement, shared with whoever comes at the same time. */
export async function refreshSession(app: App, token: string, origin: Origin, tries = 1): Promise<Refreshed> {
  const { db, config, secrets } = app
  const presented = hashToken(token)
  const refreshToken = childToken(token, secrets.refresh)
  const child = hashToken(refreshToken)
  const session = await app.exchange({ presented, child, ...origin })
  if (session) return { session, refreshToken }

  const now = app.now()
  const found = await findToken(db, presented, child)
  if (!found) throw fail('refresh_token_not_found')
  if (found.sessionId === null)
    throw fail('session_not_found', { status: 400, message: 'Invalid Refresh Token: No Valid Session Found' })
  if (isBanned(found, now)) throw fail('user_banned', { status: 400, message: 'Invalid Refresh Token: User Banned' })
  refuseExpired(app, found, now)

  const verdict = reuse({
    revoked: found.revoked,
    childIsActive: found.childActive,
    revokedAt: found.changedAt,
    rotation: config.security.refreshTokenRotation,
    interval: config.security.refreshTokenReuseInterval,
    now,
  })
  // What kept it from being exchanged is gone: a ban that ended between our two looks.
  if (verdict === 'rotate' && tries < mostTries) return refreshSession(app, token, origin, tries + 1)
  // Somebody exchanged it between our two looks, or is just about to be seen having done so: the same child is theirs and ours.
  if (verdict === 'return-child') return { session: found, refreshToken }
  if (verdict === 'attack') {
    const { sessionId } = found
    await db.begin(async (tx) => {
      // An exchange that is under way would add a child that the family below does not have yet.
      await lockSession(tx, sessionId)
      await revokeFamily(tx, presented, now)
    })
  }
  throw fail('refresh_token_already_used')
}

function before(now: Date, seconds: number | undefined): Date | null {
  return seconds === undefined ? null : new Date(now.getTime() - seconds * 1000)
}

function refuseExpired({ config }: App, found: PresentedToken, now: Date) {
  const { timebox, inactivityTimeout } = config.sessions
  const begunAfter = before(now, timebox)
  const refreshedAfter = before(now, inactivityTimeout)
  const refreshedAt = found.sessionRefreshedAt ?? found.sessionCreatedAt
  if (found.sessionNotAfter && found.sessionNotAfter < now) throw fail('session_expired')
  if (begunAfter && found.sessionCreatedAt && found.sessionCreatedAt < begunAfter) throw fail('session_expired')
  if (refreshedAfter && refreshedAt && refreshedAt < refreshedAfter)
    throw fail('session_expired', { message: 'Invalid Refresh Token: Session Expired (Inactivity)' })
  if (config.sessions.singlePerUser && found.newerExists)
    throw fail('session_expired', { message: 'Invalid Refresh Token: Session Expired (Revoked by Newer Login)' })
}
