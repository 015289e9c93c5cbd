import { randomUUID } from 'node:crypto'
import type { Sql } from '@tollgate/kit/db'
import type { App } from '../app.ts'
import { firstToken, hashToken } from '../rules/refresh-token.ts'
import { insertSession } from '../store/sessions.ts'

/** From where somebody asks, as sessions remember it. */
export type Origin = { userAgent: string; address: string | null }

/** Begins a session for an account that has proved who it is by `method`. The token is told to its holder, and kept as a hash. */
export async function startSession(
  app: Pick<App, 'now'>,
  sql: Sql,
  account: { userId: string; method: string; origin: Origin },
): Promise<{ sessionId: string; refreshToken: string }> {
  const { userId, method, origin } = account
  const sessionId = randomUUID()
  const refreshToken = firstToken()
  await insertSession(sql, { id: sessionId, userId, method, tokenHash: hashToken(refreshToken), ...origin, now: app.now() })
  return { sessionId, refreshToken }
}
