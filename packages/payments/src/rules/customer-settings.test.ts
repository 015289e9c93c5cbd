import { expect, test } from 'vitest'
import { settings } from '../config.ts'

const base = { PAY_DB_DATABASE_URL: 'postgres://localhost/x' }
const read = (env: Record<string, string>) => settings.read({ ...base, ...env }).config.customers

test('the hosted page is where the service is, unless it has an address of its own', () => {
  expect(read({ PAY_API_EXTERNAL_URL: 'https://pay.example.com/' }).posUrl).toBe('https://pay.example.com/pos')
  expect(read({ PAY_POS_URL: 'https://pos.example.com' }).posUrl).toBe('https://pos.example.com')
})

test('host names have parts of the service', () => {
  const { hosts } = read({ PAY_HOSTS: 'Vault.example.com=/vault, pos.example.com=/pos' })
  expect([...hosts]).toEqual([
    ['vault.example.com', '/vault'],
    ['pos.example.com', '/pos'],
  ])
})

test.each(['vault.example.com', 'vault.example.com=/merchants', 'a b=/vault', '=/vault', 'x=/vault=/pos'])(
  'PAY_HOSTS=%s is complained about',
  (text) => expect(() => read({ PAY_HOSTS: text })).toThrow(/PAY_HOSTS must be pairs of a host name and one of \/vault/),
)
