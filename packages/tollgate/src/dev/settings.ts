import type { Env } from '@tollgate/kit/env'
import { Mistake } from '../mistake.ts'
import type { DevSecrets } from './secrets.ts'
import { testProviderSetting } from './test-client.ts'

/** Everything in development is for this machine alone. */
export const host = '127.0.0.1'

/** What is off or slow elsewhere for good reasons, and in the way of somebody who tries things out. */
const toTry: Env = {
  AUTH_EXTERNAL_PHONE_ENABLED: 'true',
  AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
  AUTH_SECURITY_MANUAL_LINKING_ENABLED: 'true',
  // Webhooks and providers of a developer run on the same machine.
  AUTH_SECURITY_ALLOW_PRIVATE_ADDRESSES: 'true',
  AUTH_RATE_LIMIT_EMAIL_SENT: '10000',
  AUTH_RATE_LIMIT_SMS_SENT: '10000',
  AUTH_SMTP_MAX_FREQUENCY: '1',
  AUTH_SMS_MAX_FREQUENCY: '1',
  // Long enough to look at the inbox, read, and type.
  AUTH_SMS_OTP_EXP: '600',
}

/** What development settles by itself. A DATABASE_URL that happens to be in the shell belongs to another project and is left alone. */
export function devSettings(env: Env, secrets: DevSecrets): Env {
  const prefixed = Object.fromEntries(Object.entries(env).filter(([name]) => /^(AUTH|GOTRUE|PAY|OTEL|TOLLGATE)_/.test(name)))
  return {
    // Links in mails lead somewhere on the first day; an app on any other port of this machine may be named in redirect_to.
    AUTH_SITE_URL: `http://localhost:${env.TOLLGATE_PORT || 8080}/signed-in`,
    AUTH_API_EXTERNAL_URL: `http://localhost:${env.AUTH_API_PORT || env.AUTH_PORT || 8081}`,
    AUTH_API_HOST: host,
    AUTH_DB_DRIVER: 'postgres',
    AUTH_JWT_SECRET: secrets.jwtSecret,
    AUTH_JWT_AUD: 'authenticated',
    AUTH_JWT_DEFAULT_GROUP_NAME: 'authenticated',
    AUTH_SMTP_HOST: host,
    AUTH_SMTP_PORT: env.TOLLGATE_SMTP_PORT || '8083',
    AUTH_SMTP_ADMIN_EMAIL: 'no-reply@tollgate.localhost',
    AUTH_SMTP_SENDER_NAME: 'Tollgate',
    AUTH_SMS_PROVIDER: 'console',
    AUTH_SMS_CONSOLE_URL: `http://${host}:${env.TOLLGATE_PORT || 8080}`,
    ...(reachesThisMachine({ ...toTry, ...env })
      ? { AUTH_EXTERNAL_CUSTOM_PROVIDERS: testProviderSetting(env.TOLLGATE_PROVIDER_PORT || 8084) }
      : {}),
    // The welcome page has a page for people who come back from the test provider.
    AUTH_URI_ALLOW_LIST: ['localhost', host].map((name) => `http://${name}:${env.TOLLGATE_PORT || 8080}/**`).join(','),
    ...toTry,
    PAY_API_HOST: host,
    // Pages that customers open name it, and so do payment links.
    PAY_API_EXTERNAL_URL: `http://localhost:${env.PAY_API_PORT || env.PAY_PORT || 8082}`,
    PAY_ENV: 'development',
    // People who sign in at the identity service are known to the payments service by their tokens.
    PAY_JWT_SECRET: env.AUTH_JWT_SECRET || secrets.jwtSecret,
    PAY_VAULT_KEYS: secrets.vaultKey,
    PAY_SITE_URL: `http://localhost:${env.TOLLGATE_PORT || 8080}`,
    PAY_SMTP_HOST: host,
    PAY_SMTP_PORT: env.TOLLGATE_SMTP_PORT || '8083',
    PAY_SMTP_ADMIN_EMAIL: 'no-reply@tollgate.localhost',
    PAY_SMTP_SENDER_NAME: 'Tollgate',
    // The shipped rates are of one day long ago, and good enough to try things out.
    PAY_EXCHANGE_MAX_AGE: '0',
    ...prefixed,
  }
}

/** Without, the identity service would refuse to start with a provider on it. */
function reachesThisMachine({ AUTH_SECURITY_ALLOW_PRIVATE_ADDRESSES: allowed = '' }: Env): boolean {
  return /^(true|t|1|yes|y|on)$/i.test(allowed.trim())
}

/** The ports that development listens on, by the setting that chooses each. */
export function devPorts(settings: Env) {
  return {
    TOLLGATE_PORT: portOf(settings, 'TOLLGATE_PORT', 8080),
    TOLLGATE_SMTP_PORT: portOf(settings, 'TOLLGATE_SMTP_PORT', 8083),
    TOLLGATE_PROVIDER_PORT: portOf(settings, 'TOLLGATE_PROVIDER_PORT', 8084),
    AUTH_API_PORT: portOf(settings, 'AUTH_API_PORT', 8081, 'AUTH_PORT'),
    PAY_API_PORT: portOf(settings, 'PAY_API_PORT', 8082, 'PAY_PORT'),
  }
}

function portOf(env: Env, name: string, fallback: number, otherName = name): number {
  const text = env[name] || env[otherName]
  if (text === undefined || text === '') return fallback
  if (!/^\d{1,5}$/.test(text) || Number(text) < 1 || Number(text) > 65_535)
    throw new Mistake(`${name} must be a whole number from 1 to 65535, not ${JSON.stringify(text)}.`)
  return Number(text)
}
