import { randomUUID } from 'node:crypto'
import { clientAddress } from '@tollgate/kit/client-address'
import type { Sql } from '@tollgate/kit/db'
import type { Incoming } from '@tollgate/kit/endpoint'
import type { App } from '../app.ts'
import { fail } from '../errors.ts'
import { accessClaims, type Method } from '../rules/claims.ts'
import { firstToken, hashToken } from '../rules/refresh-token.ts'
import { insertSession } from '../store/sessions.ts'
import type { User } from '../store/users.ts'
import { type AuditNote, auditPayloads } from './note-audit.ts'

/** From where somebody asks, as sessions remember it. */
export type Origin = { userAgent: string; address: string | null }

const longestUserAgent = 1000

export function originOf(request: Incoming): Origin {
  const userAgent = (request.headers['user-agent'] ?? '').slice(0, longestUserAgent)
  return { userAgent, address: clientAddress(request) ?? null }
}

/** Somebody who is in: what they are told. */
export type Session = {
  user: User
  sessionId: string
  accessToken: string
  expiresAt: number
  expiresIn: number
  refreshToken: string
}

export type Entry = {
  user: User
  /** How they proved who they are: password, otp, anonymous … */
  method: string
  origin: Origin
  audits?: readonly AuditNote[]
  /** The hash that the password was proved with, and a better one of the same password. */
  proved?: { hash: string; betterHash: string | undefined }
}

/** Begins a session for an account that has proved who it is. The token is told to its holder, and kept as a hash. */
export async function startSession(app: App, sql: Sql, entry: Entry): Promise<Session> {
  const { user, method, origin, audits = [], proved } = entry
  const now = app.now()
  const sessionId = randomUUID()
  const refreshToken = firstToken()
  const begun = await insertSession(sql, {
    id: sessionId,
    userId: user.id,
    method,
    tokenHash: hashToken(refreshToken),
    ...origin,
    audits: auditPayloads(app, audits),
    provedHash: proved?.hash,
    betterHash: proved?.betterHash,
    now,
  })
  if (!begun) throw fail('invalid_credentials')
  const methods = [{ method, timestamp: Math.floor(now.getTime() / 1000) }]
  return issueTokens(app, { ...user, lastSignInAt: now }, { sessionId, methods, refreshToken })
}

/** No header that servers and proxies let in by default is longer than twice this. */
const longestToken = 7000

/** The access token of a session, beside its refresh token. */
export function issueTokens(
  { keys, config, now }: App,
  user: User,
  { sessionId, methods, refreshToken }: { sessionId: string; methods: readonly Method[]; refreshToken: string },
): Session {
  const claims = accessClaims(user, { id: sessionId, methods }, config.jwt, now())
  const complete = keys.sign(claims)
  // What people keep about themselves can be more than a header holds; they find it at GET /user.
  const accessToken = complete.length > longestToken ? keys.sign({ ...claims, user_metadata: {} }) : complete
  return { user, sessionId, accessToken, expiresAt: claims.exp, expiresIn: claims.exp - claims.iat, refreshToken }
}
