import { randomUUID } from 'node:crypto'
import { anyOrigin } from '@tollgate/kit/cors'
import type { Endpoint, Incoming } from '@tollgate/kit/endpoint'
import type { Failure } from '@tollgate/kit/failure'
import type { Manner, Wire } from '@tollgate/kit/serve'
import type { Problem } from '@tollgate/kit/shape'
import Type from 'typebox'
import type { App } from './app.ts'
import { isAdmin } from './callers.ts'
import type { Config } from './config.ts'
import { adminAudit } from './endpoints/admin-audit.ts'
import { adminGenerateLink } from './endpoints/admin-generate-link.ts'
import { adminChangeUser, adminCreateUserWithId, adminDeleteUser, adminUser } from './endpoints/admin-user.ts'
import { adminEndSession, adminEndSessions, adminSessions } from './endpoints/admin-user-sessions.ts'
import { adminCreateUser, adminUsers } from './endpoints/admin-users.ts'
import { authorize } from './endpoints/authorize.ts'
import { callback, formCallback } from './endpoints/callback.ts'
import { health } from './endpoints/health.ts'
import { invite } from './endpoints/invite.ts'
import { live } from './endpoints/live.ts'
import { logout } from './endpoints/logout.ts'
import { magiclink } from './endpoints/magiclink.ts'
import { otp } from './endpoints/otp.ts'
import { ready } from './endpoints/ready.ts'
import { reauthenticate } from './endpoints/reauthenticate.ts'
import { recover } from './endpoints/recover.ts'
import { resend } from './endpoints/resend.ts'
import { settings } from './endpoints/settings.ts'
import { signup } from './endpoints/signup.ts'
import { token } from './endpoints/token.ts'
import { updateUser, user } from './endpoints/user.ts'
import { unlinkIdentity, userIdentities } from './endpoints/user-identities.ts'
import { linkByProvider } from './endpoints/user-identities-authorize.ts'
import { endSession, userSessions } from './endpoints/user-sessions.ts'
import { followLink, verify } from './endpoints/verify.ts'
import { wellKnownJwks } from './endpoints/well-known-jwks.ts'
import { fail } from './errors.ts'
import { DatabaseRefusal, databaseRefusal } from './rules/database-refusal.ts'
import { OAuthRefusal } from './rules/oauth-refusal.ts'

/** The whole API of the identity service. */
export const endpoints: readonly Endpoint<App>[] = [
  health,
  live,
  ready,
  settings,
  signup,
  token,
  authorize,
  callback,
  formCallback,
  verify,
  followLink,
  otp,
  magiclink,
  recover,
  resend,
  invite,
  adminGenerateLink,
  user,
  updateUser,
  reauthenticate,
  userIdentities,
  linkByProvider,
  unlinkIdentity,
  userSessions,
  endSession,
  logout,
  adminUsers,
  adminCreateUser,
  adminUser,
  adminCreateUserWithId,
  adminChangeUser,
  adminDeleteUser,
  adminSessions,
  adminEndSessions,
  adminEndSession,
  adminAudit,
  wellKnownJwks,
]

export const failureShape = Type.Object({
  code: Type.Integer({ description: 'The HTTP status' }),
  error_code: Type.String({ description: 'What went wrong, for programs' }),
  msg: Type.String({ description: 'What went wrong, for people' }),
})

export function manner(config: Config): Manner<App> {
  const cors = anyOrigin({
    methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    headers: [
      'Accept',
      'Authorization',
      'Content-Type',
      'apikey',
      'X-Client-IP',
      'X-Client-Info',
      'X-JWT-AUD',
      'x-use-cookie',
      'X-Supabase-Api-Version',
      ...config.corsAllowedHeaders,
    ],
    exposed: ['X-Total-Count', 'Link', 'X-Supabase-Api-Version'],
    // There is no cookie that a browser could send along; the reference lets it, and pages that ask for it with a `fetch` of their own would break.
    credentials: config.profile !== 'strict',
  })
  return {
    input: { absent: (value) => value === null, convertJson: false, caseInsensitive: true },
    bodies: 'json',
    bodyLimit: 1_048_576,
    fail,
    misfit,
    refusalOf: (thrown, request, app) => databaseRefusal(thrown, () => isAdmin(app, request)),
    word,
    contentType: 'application/json',
    ending: '',
    headers: {
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      // Links that lead here carry what opens an account; where they lead on to need not know.
      'referrer-policy': 'no-referrer',
      'strict-transport-security': 'max-age=31536000; includeSubDomains',
      'x-content-type-options': 'nosniff',
    },
    cors: () => cors,
    requestId: { header: config.api.requestIdHeader, mint: randomUUID },
    longestRequest: config.api.longestRequest,
  }
}

function misfit(place: 'params' | 'query' | 'body', problems: readonly Problem[]): Failure {
  const [first] = problems
  const message = first ? (first.path === '' ? first.message : `${first.path}: ${first.message}`) : ''
  if (place === 'body' && first?.kind === 'type') return fail('bad_json', { message, problems })
  return fail('validation_failed', { message, problems, ...(place === 'params' ? { status: 404 } : {}) })
}

/** Two forms of the same error: newer clients ask for theirs with a dated header. */
function word(failure: Failure, request: Incoming): Wire {
  const headers = { 'x-sb-error-code': failure.code, ...failure.headers }
  if (failure instanceof OAuthRefusal) {
    const body = JSON.stringify({ error: failure.error, error_description: failure.message })
    return { status: failure.status, headers, body }
  }
  const message = failure.code === 'bad_json' ? `Could not parse request body as JSON: ${failure.message}` : failure.message
  if (asksForNewForm(request)) {
    const body = JSON.stringify({ code: failure.code, message, ...failure.more })
    return { status: failure.status, headers: { ...headers, 'x-supabase-api-version': '2024-01-01' }, body }
  }
  if (failure instanceof DatabaseRefusal) return { status: failure.status, headers, body: JSON.stringify(failure.told) }
  const body = {
    code: failure.status,
    error_code: failure.code,
    msg: message,
    ...failure.more,
    ...(failure.status >= 500 ? { error_id: request.id } : {}),
  }
  return { status: failure.status, headers, body: JSON.stringify(body) }
}

function asksForNewForm({ headers }: Incoming): boolean {
  const date = headers['x-supabase-api-version']
  return typeof date === 'string' && isDate(date) && date >= '2024-01-01'
}

/** A day that exists: the parser would take the 31st of February for the 2nd of March. */
function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false
  const day = new Date(text)
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text)
}
