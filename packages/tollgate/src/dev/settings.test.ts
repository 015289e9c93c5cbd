import { settings as identitySettings } from '@tollgate/identity/config'
import { expect, test } from 'vitest'
import type { DevSecrets } from './secrets.ts'
import { devPorts, devSettings } from './settings.ts'

const secrets: DevSecrets = { jwtSecret: 'for-tests', app: { id: 'id', key: 'key', created: '2025-01-01T00:00:00.000Z' } }

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
