import type { Caller, Incoming } from '@tollgate/kit/endpoint'
import { type Claims, TokenProblem } from '@tollgate/kit/jwt'
import type { App } from './app.ts'
import { fail } from './errors.ts'
import { requestAudience } from './rules/audience.ts'
import { isBanned } from './rules/ban.ts'
import { isUuid, nobody } from './rules/uuid.ts'
import { actorOf, type User } from './store/users.ts'

/** Somebody who signed in: their account, and the session that their token belongs to, if it has one. */
export type SignedIn = { user: User; sessionId: string | undefined; claims: Claims }

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
    const user = await app.whoIs({ id: sub, sessionId: sessionId ?? null })
    if (!user || user.deletedAt) throw fail('user_not_found')
    // A token outlives its session until it expires, unless the operator wants it otherwise.
    if (app.config.security.strictLogout && sessionId !== undefined && !user.sessionExists) throw fail('session_not_found')
    if (isBanned(user, app.now())) throw fail('user_banned')
    return { user, sessionId, claims }
  },
}

/** An operator, or a program of theirs: whoever holds a token with one of the admin roles. */
export type Admin = {
  claims: Claims
  /** How the audit log calls them. A service key is nobody in particular, and goes by its role. */
  actor: { id: string; username: string; name?: string }
}

function adminWith(allowed: (role: string, app: App) => boolean): Caller<App, Admin> {
  return {
    security: {
      name: 'adminToken',
      scheme: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'a token with an admin role, as Bearer token' },
    },
    fails: ['no_authorization', 'bad_jwt', 'not_admin', 'session_expired'],

    async identify(app, request) {
      const claims = readToken(app, request)
      const role = roleOf(claims)
      if (!allowed(role, app)) throw fail('not_admin')
      const { sub, session_id: sessionId } = claims
      const byRole = { id: nobody, username: role }
      if (!isUuid(sub)) return { claims, actor: byRole }
      const user = await app.whoIs({ id: sub, sessionId: isUuid(sessionId) ? sessionId : null })
      const over = isUuid(sessionId) && sessionId !== nobody && !user?.sessionExists
      if (over || (user && isBanned(user, app.now())))
        throw fail('session_expired', { status: 403, message: 'Session is no longer valid' })
      return { claims, actor: user ? actorOf(user) : byRole }
    },
  }
}

export const admin = adminWith((role, { config }) => config.jwt.adminRoles.includes(role))

export const inviter = adminWith(
  (role, { config }) => ['service_role', 'service_admin'].includes(role) || config.jwt.adminRoles.includes(role),
)

/** Whether the request carries a valid admin token, where that is not asked for but changes something. */
export function isAdmin(app: App, request: Incoming): boolean {
  try {
    return app.config.jwt.adminRoles.includes(roleOf(readToken(app, request)))
  } catch {
    return false
  }
}

/** A role is a text; whatever else a token calls so gives no rights. */
function roleOf({ role }: Claims): string {
  return typeof role === 'string' ? role : ''
}

/** What the table takes. */
const longestAudience = 255

/** For whom a request without a caller speaks. */
export function audienceOf({ config }: App, { headers }: Incoming): string {
  const audience = requestAudience(headers['x-jwt-aud'], {}, config.jwt)
  if (audience.length <= longestAudience) return audience
  throw fail('validation_failed', { message: `X-JWT-AUD: Must be at most ${longestAudience} characters long` })
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
