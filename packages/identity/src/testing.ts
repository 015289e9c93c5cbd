import { randomUUID } from 'node:crypto'
import { anyone } from '@tollgate/kit/endpoint'
import type { Env } from '@tollgate/kit/env'
import { startHttpFake } from '@tollgate/kit/http-fake'
import { type ReceivedMail, startSmtpSink } from '@tollgate/kit/smtp-sink'
import type { Telemetry } from '@tollgate/kit/telemetry'
import { testService } from '@tollgate/kit/testing'
import Type from 'typebox'
import { type App, endpoint } from './app.ts'
import { identity } from './main.ts'
import { startSession } from './operations/start-session.ts'
import { findUser, insertUser, type NewUser } from './store/users.ts'

export const requiredSettings: Env = {
  AUTH_SITE_URL: 'https://site.test',
  AUTH_API_EXTERNAL_URL: 'https://auth.site.test',
  AUTH_DB_DRIVER: 'postgres',
  AUTH_JWT_SECRET: 'a secret that only tests know of, 32+',
  AUTH_SMTP_HOST: '127.0.0.1',
  AUTH_SMTP_PORT: '2525',
  AUTH_SMTP_ADMIN_EMAIL: 'no-reply@site.test',
  AUTH_JWT_AUD: 'authenticated',
  AUTH_JWT_DEFAULT_GROUP_NAME: 'authenticated',
  AUTH_SECURITY_ALLOW_PRIVATE_ADDRESSES: 'true',
}

/** The identity service on a scratch database, with settings over the required ones. */
export function startIdentity(env: Env = {}, options: { telemetry?: Telemetry } = {}) {
  return testService(identity, { ...requiredSettings, ...env }, options)
}

/** The same with a mail server and an SMS gateway that keep what they are given. */
export async function startWithInbox(env: Env = {}) {
  const mails = await startSmtpSink()
  const gateway = await startHttpFake({ 'POST /sms': { json: { id: '1' } } })
  const service = await startIdentity({
    AUTH_SMTP_PORT: String(mails.port),
    AUTH_EXTERNAL_PHONE_ENABLED: 'true',
    AUTH_SMS_PROVIDER: 'console',
    AUTH_SMS_CONSOLE_URL: gateway.origin,
    AUTH_RATE_LIMIT_EMAIL_SENT: '1000000',
    AUTH_RATE_LIMIT_SMS_SENT: '1000000',
    ...env,
  })
  let read = 0
  return {
    ...service,
    mails,
    gateway,
    /** The next mail to an address, with what it carries. */
    async mailTo(address: string) {
      const mail = await mails.next(({ to }) => to.includes(address))
      return { ...letterOf(mail), mail }
    },
    /** The next SMS, in order, and the code in it. */
    async nextSms() {
      const { body } = await gateway.request(++read)
      const { to = '', text = '' } = Object.fromEntries(new URLSearchParams(body))
      return { to, text, code: /\d{6,10}/.exec(text)?.[0] ?? '' }
    },
    async stop() {
      await service.stop()
      await Promise.all([mails.close(), gateway.close()])
    },
  }
}

function letterOf({ links, text }: ReceivedMail) {
  const link = links.find((each) => each.includes('token=')) ?? ''
  const { searchParams } = new URL(link || 'https://nowhere.test')
  const code = /(?<![\w=/-])\d{6,10}(?![\w=/-])/.exec(text)?.[0] ?? ''
  return {
    link,
    code,
    token: searchParams.get('token') ?? '',
    type: searchParams.get('type') ?? '',
    redirectTo: searchParams.get('redirect_to') ?? '',
  }
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
  const email = given.email === undefined ? `${id}@site.test` : given.email
  await insertUser(app.db, {
    id,
    aud: 'authenticated',
    role: 'authenticated',
    email,
    phone: null,
    passwordHash: null,
    emailConfirmedAt: now,
    phoneConfirmedAt: null,
    appMetadata: { provider: 'email', providers: ['email'] },
    userMetadata: {},
    isAnonymous: false,
    createdAt: now,
    identities: [{ provider: 'email', data: { sub: id, ...(email ? { email } : {}) } }],
    ...given,
  })
  return signIn({ app }, id)
}

/** One more session of an account. */
export async function signIn({ app }: { app: App }, userId: string): Promise<Account> {
  const user = await findUser(app.db, userId)
  if (!user) throw new Error('There is no such account')
  const origin = { userAgent: 'a test', address: '192.0.2.7' }
  const { sessionId, refreshToken, accessToken } = await startSession(app, app.db, { user, method: 'password', origin })
  return { userId, sessionId, refreshToken, authorization: `Bearer ${accessToken}` }
}

/** What an operator's program sends. */
export function adminAuthorization({ app }: { app: App }, role = 'service_role'): string {
  return `Bearer ${app.keys.sign({ role })}`
}
