import { randomUUID } from 'node:crypto'
import { anyone } from '@tollgate/kit/endpoint'
import type { Env } from '@tollgate/kit/env'
import type { Telemetry } from '@tollgate/kit/telemetry'
import { testService } from '@tollgate/kit/testing'
import Type from 'typebox'
import { type App, endpoint } from './app.ts'
import { identity } from './main.ts'
import { startSession } from './operations/start-session.ts'
import { accessClaims } from './rules/claims.ts'
import { insertIdentity } from './store/identities.ts'
import { findUser, insertUser, type NewUser } from './store/users.ts'

export const requiredSettings: Env = {
  AUTH_SITE_URL: 'https://site.test',
  AUTH_API_EXTERNAL_URL: 'https://auth.site.test',
  AUTH_DB_DRIVER: 'postgres',
  AUTH_JWT_SECRET: 'a secret that only tests know of, 32+',
  AUTH_SMTP_HOST: '127.0.0.1',
  AUTH_SMTP_PORT: '2525',
  AUTH_SMTP_ADMIN_EMAIL: 'no-reply@site.test',
}

/** The identity service on a scratch database, with settings over the required ones. */
export function startIdentity(env: Env = {}, options: { telemetry?: Telemetry } = {}) {
  return testService(identity, { ...requiredSettings, ...env }, options)
}

/** An endpoint that takes fields of every kind and answers with what it made of them. */
export const bodied = endpoint({
  method: 'POST',
  path: '/apps',
  summary: 'For tests',
  tag: 'Test',
  caller: anyone,
  query: Type.Object({ limit: Type.Optional(Type.Integer()) }),
  body: Type.Object({
    name: Type.Optional(Type.String({ maxLength: 100 })),
    data: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    list: Type.Optional(Type.Array(Type.Integer())),
  }),
  reply: { 200: Type.Object({ name: Type.Optional(Type.String()) }) },
  fails: [],
  run: (_, { body }) => body,
})

export type Account = { userId: string; sessionId: string; refreshToken: string; authorization: string }

/** A confirmed account, signed in with a password. */
export async function createAccount({ app }: { app: App }, given: Partial<NewUser> = {}): Promise<Account> {
  const now = app.now()
  const id = given.id ?? randomUUID()
  await insertUser(app.db, {
    id,
    aud: 'authenticated',
    role: 'authenticated',
    email: `${id}@site.test`,
    phone: null,
    passwordHash: null,
    emailConfirmedAt: now,
    phoneConfirmedAt: null,
    appMetadata: { provider: 'email', providers: ['email'] },
    userMetadata: {},
    isAnonymous: false,
    createdAt: now,
    ...given,
  })
  await insertIdentity(app.db, {
    providerId: id,
    userId: id,
    provider: 'email',
    identityData: { sub: id, email: `${id}@site.test` },
    now,
  })
  return signIn({ app }, id)
}

/** One more session of an account. */
export async function signIn({ app }: { app: App }, userId: string): Promise<Account> {
  const now = app.now()
  const origin = { userAgent: 'a test', address: '192.0.2.7' }
  const session = await startSession(app, app.db, { userId, method: 'password', origin })
  const user = await findUser(app.db, userId, session.sessionId)
  if (!user) throw new Error('There is no such account')
  const methods = [{ method: 'password', timestamp: Math.floor(now.getTime() / 1000) }]
  const token = app.keys.sign(accessClaims(user, { id: session.sessionId, methods }, app.config.jwt, now))
  return { userId, ...session, authorization: `Bearer ${token}` }
}
