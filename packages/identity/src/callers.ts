import type { Caller, Incoming } from '@tollgate/kit/endpoint'
import { type Claims, TokenProblem } from '@tollgate/kit/jwt'
import type { App } from './app.ts'
import { fail } from './errors.ts'
import { isUuid } from './rules/uuid.ts'
import { findUser, type User } from './store/users.ts'

/** Somebody who signed in: their account, and the session that their token belongs to, if it has one. */
export type SignedIn = { user: User; sessionId: string | undefined; claims: Claims }

const nobody = '00000000-0000-0000-0000-000000000000'

export const signedIn: Caller<App, SignedIn> = {
  security: {
    name: 'accessToken',
    scheme: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'an access token as Bearer token' },
  },
  fails: ['no_authorization', 'bad_jwt', 'user_not_found', 'session_not_found', 'user_banned'],
  async identify(app, request) {
    const claims = readToken(app, request)
    const { sub, session_id: named } = claims
    if (sub === undefined || sub === '') throw fail('bad_jwt', { message: 'invalid claim: missing sub claim' })
    if (!isUuid(sub)) throw fail('bad_jwt', { status: 400, message: 'invalid claim: sub claim must be a UUID' })
    const sessionId = named === undefined || named === '' || named === nobody ? undefined : named
    if (sessionId !== undefined && !isUuid(sessionId))
      throw fail('bad_jwt', { message: 'invalid claim: session_id claim must be a UUID' })
    const user = await findUser(app.db, sub, sessionId ?? null)
    if (!user) throw fail('user_not_found')
    // A token outlives its session until it expires, unless the operator wants it otherwise.
    if (app.config.security.strictLogout && sessionId !== undefined && !user.sessionExists) throw fail('session_not_found')
    if (user.bannedUntil && user.bannedUntil > app.now()) throw fail('user_banned')
    return { user, sessionId, claims }
  },
}

function readToken({ keys, now }: App, { headers }: Incoming): Claims {
  const token = /^bearer ([^\s]+)$/i.exec(headers.authorization ?? '')?.[1]
  if (token === undefined) throw fail('no_authorization')
  try {
    return keys.verify(token, now())
  } catch (problem) {
    if (!(problem instanceof TokenProblem)) throw problem
    throw fail('bad_jwt', { message: `invalid JWT: unable to parse or verify signature, ${problem.message}` })
  }
}
