import { settings as identitySettings } from '@tollgate/identity/config'
import { expect, test } from 'vitest'
import type { DevSecrets } from './secrets.ts'
import { devPorts, devSettings } from './settings.ts'
import { offersTestProvider } from './test-client.ts'

const secrets: DevSecrets = {
  jwtSecret: 'for-tests',
  app: { id: 'id', key: 'key', created: '2025-01-01T00:00:00.000Z' },
  vaultKey: 'for-tests',
}

test('development lets people sign in by phone, and their SMS go to the welcome page', () => {
  expect(devSettings({}, secrets)).toMatchObject({
    AUTH_EXTERNAL_PHONE_ENABLED: 'true',
    AUTH_SMS_PROVIDER: 'console',
    AUTH_SMS_CONSOLE_URL: 'http://127.0.0.1:8080',
  })
})

test.each(['', '9090'])('SMS and mail go to the ports that the inbox listens on, also when they are set to %j', (port) => {
  const settings = devSettings({ TOLLGATE_PORT: port, TOLLGATE_SMTP_PORT: port }, secrets)
  const ports = devPorts(settings)
  expect(settings.AUTH_SMS_CONSOLE_URL).toBe(`http://127.0.0.1:${ports.TOLLGATE_PORT}`)
  expect(settings.AUTH_SMTP_PORT).toBe(String(ports.TOLLGATE_SMTP_PORT))
})

test.each(['', '9094'])('the test provider is known by the port that it listens on, also when that is set to %j', (port) => {
  const settings = devSettings({ TOLLGATE_PROVIDER_PORT: port }, secrets)
  const { TOLLGATE_PROVIDER_PORT: listens } = devPorts(settings)
  expect(JSON.parse(settings.AUTH_EXTERNAL_CUSTOM_PROVIDERS ?? '')).toMatchObject([
    { identifier: 'custom:test', issuer: `http://localhost:${listens}` },
  ])
})

test('people may be sent back to the welcome page, by both of its names', () => {
  expect(devSettings({ TOLLGATE_PORT: '9090' }, secrets).AUTH_URI_ALLOW_LIST).toBe(
    'http://localhost:9090/**,http://127.0.0.1:9090/**',
  )
})

test.each(['false', 'no', '0', ''])(
  'where this machine may not be spoken to (%j), nobody is sent to a provider on it',
  (flag) => {
    const env = {
      ...devSettings({ AUTH_SECURITY_ALLOW_PRIVATE_ADDRESSES: flag }, { ...secrets, jwtSecret: 'x'.repeat(43) }),
      AUTH_DB_DATABASE_URL: 'postgres://127.0.0.1/tollgate',
    }
    expect(env).not.toHaveProperty('AUTH_EXTERNAL_CUSTOM_PROVIDERS')
    expect(() => identitySettings.read(env)).not.toThrow()
  },
)

test.each([
  [undefined, false],
  ['', false],
  ['not JSON', false],
  ['{}', false],
  ['[null]', false],
  ['[{"identifier":"custom:acme"}]', false],
  ['[{"identifier":"custom:acme"},{"identifier":"custom:test"}]', true],
])('with the providers %s the button is there: %s', (setting, there) => {
  expect(offersTestProvider(setting)).toBe(there)
})

test('whatever development settles, the developer may settle otherwise', () => {
  const own = Object.keys(devSettings({}, secrets))
  expect(own).toContain('AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED')
  const env = Object.fromEntries(own.map((name) => [name, 'mine']))
  expect(devSettings(env, secrets)).toEqual(env)
})

test('the identity service knows all of it, and complains of nothing', () => {
  const env = {
    ...devSettings({}, { ...secrets, jwtSecret: 'x'.repeat(43) }),
    AUTH_DB_DATABASE_URL: 'postgres://127.0.0.1/tollgate',
  }
  expect(identitySettings.read(env).warnings).toEqual([])
})
