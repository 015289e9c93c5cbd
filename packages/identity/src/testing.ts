import type { Env } from '@tollgate/kit/env'
import type { Telemetry } from '@tollgate/kit/telemetry'
import { testService } from '@tollgate/kit/testing'
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
