import { ConfigProblem, defineSettings } from '@tollgate/kit/env'
import { expect, test } from 'vitest'
import { exchangeSettings } from './exchange-settings.ts'

const settings = defineSettings({ prefix: 'PAY', title: 'a test' }, exchangeSettings)

test('rates are looked for every hour, and used for a week', () => {
  expect(settings.read({}).config).toEqual({ rates: undefined, interval: 3600, maxAge: 7 })
})

test.each([
  'https://rates.example.com/daily.xml?key=1',
  'http://rates.test/x',
  '/etc/tollgate/rates.xml',
  'rates.xml',
  'C:\\rates.xml',
])('%s can be read', (place) => {
  expect(settings.read({ PAY_EXCHANGE_RATES: place }).config.rates).toBe(place)
})

test.each(['ftp://rates.example.com/x', 'https://', 'https://me:hidden@rates.example.com/x', 'file:///etc/rates.xml'])(
  '%s is refused at start',
  (place) => {
    const read = () => settings.read({ PAY_EXCHANGE_RATES: place })
    expect(read).toThrow(ConfigProblem)
    expect(read).toThrow('PAY_EXCHANGE_RATES must be a file or an http or https address without a password in it')
    expect(read).not.toThrow('hidden')
  },
)

test('an age of 0 is no limit, and one below it is refused', () => {
  expect(settings.read({ PAY_EXCHANGE_MAX_AGE: '0' }).config.maxAge).toBe(0)
  expect(() => settings.read({ PAY_EXCHANGE_MAX_AGE: '-1' })).toThrow('PAY_EXCHANGE_MAX_AGE')
  expect(() => settings.read({ PAY_EXCHANGE_INTERVAL: '0' })).toThrow('PAY_EXCHANGE_INTERVAL')
})
