import { anyone } from '@tollgate/kit/endpoint'
import type { Env } from '@tollgate/kit/env'
import type { Telemetry } from '@tollgate/kit/telemetry'
import { testService } from '@tollgate/kit/testing'
import Type from 'typebox'
import { endpoint } from './app.ts'
import { identity } from './main.ts'

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
