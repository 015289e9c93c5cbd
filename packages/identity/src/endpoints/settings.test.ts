import { expect, onTestFinished, test } from 'vitest'
import { providers } from '../providers/all.ts'
import { startIdentity } from '../testing.ts'

async function settings(env: Record<string, string> = {}) {
  const service = await startIdentity(env)
  onTestFinished(() => service.stop())
  const answer = await service.call('GET /settings')
  expect(answer.status).toBe(200)
  return answer.json<{ external: Record<string, boolean>; [field: string]: unknown }>()
}

test('a plain installation lets people in by email, after they confirmed it', async () => {
  const { external, ...rest } = await settings()
  expect(rest).toEqual({
    disable_signup: false,
    autoconfirm: false,
    mailer_autoconfirm: false,
    phone_autoconfirm: false,
    sms_provider: '',
    saml_enabled: false,
    saml_private_key_next_configured: false,
    passkeys_enabled: false,
  })
  expect(Object.entries(external).filter(([, enabled]) => enabled)).toEqual([['email', true]])
})

test('every provider, email, phone and anonymous users have a boolean', async () => {
  const { external } = await settings()
  expect(Object.keys(external)).toEqual(['anonymous_users', ...providers.map(({ name }) => name), 'email', 'phone'])
  expect(new Set(Object.values(external).map((enabled) => typeof enabled))).toEqual(new Set(['boolean']))
})

test('every value follows its setting', async () => {
  const { external, ...rest } = await settings({
    AUTH_DISABLE_SIGNUP: 'true',
    AUTH_MAILER_AUTOCONFIRM: 'yes',
    AUTH_SMS_AUTOCONFIRM: '1',
    AUTH_SMS_PROVIDER: 'twilio',
    AUTH_SMS_TWILIO_ACCOUNT_SID: 'sid',
    AUTH_SMS_TWILIO_AUTH_TOKEN: 'token',
    AUTH_SMS_TWILIO_MESSAGE_SERVICE_SID: 'service',
    AUTH_EXTERNAL_EMAIL_ENABLED: 'false',
    AUTH_EXTERNAL_PHONE_ENABLED: 'true',
    AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
    AUTH_EXTERNAL_GITHUB_ENABLED: 'true',
    AUTH_EXTERNAL_GITHUB_CLIENT_ID: 'id',
    AUTH_EXTERNAL_GITHUB_SECRET: 'secret',
    AUTH_EXTERNAL_GITHUB_REDIRECT_URI: 'https://auth.site.test/callback',
  })
  expect(rest).toMatchObject({
    disable_signup: true,
    autoconfirm: true,
    mailer_autoconfirm: true,
    phone_autoconfirm: true,
    sms_provider: 'twilio',
  })
  const enabled = Object.keys(external).filter((name) => external[name])
  expect(enabled).toEqual(['anonymous_users', 'github', 'phone'])
})
