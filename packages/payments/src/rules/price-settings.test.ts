import { ConfigProblem, defineSettings } from '@tollgate/kit/env'
import { expect, test } from 'vitest'
import { priceSettings } from './price-settings.ts'

const settings = defineSettings({ prefix: 'PAY', title: 'the test' }, priceSettings)

test('new merchants pay 2.5 %, EUR 0.25 and EUR 15 when nobody says otherwise', () => {
  expect(settings.read({}).config).toEqual({
    rate: '0.025',
    flat: { currency: 'EUR', amount: 25 },
    dispute: { currency: 'EUR', amount: 1500 },
  })
})

test.each([
  ['0', 'DKK 0', { currency: 'DKK', amount: 0 }],
  ['0.01400001', 'EUR 0.5', { currency: 'EUR', amount: 50 }],
  ['0.99999999', 'HUF 1234567890.12', { currency: 'HUF', amount: 123456789012 }],
])('a rate of %s and a flat price of %s are taken', (rate, flat, sum) => {
  expect(settings.read({ PAY_PRICE_RATE: rate, PAY_PRICE_FLAT: flat }).config).toMatchObject({ rate, flat: sum })
})

test.each([
  ['PAY_PRICE_RATE', ['1', '2.5', '-0.1', '2.5%', '.5', '0.123456789', '1e-3', '0,5', 'x']],
  ['PAY_PRICE_FLAT', ['0.25', 'EUR', 'EUR0.25', 'EUR 0.255', 'EUR -1', 'eur 1', 'XXX 1', 'JPY 10', 'EUR 1,5', 'EUR 99999999999']],
  ['PAY_PRICE_DISPUTE', ['fifteen', 'constructor 1']],
])('%s is complained about when it is none', (name, texts) => {
  for (const text of texts)
    expect(() => settings.read({ [name]: text }), text).toThrow(
      expect.objectContaining({ constructor: ConfigProblem, complaints: [expect.stringContaining(`${name} must be a`)] }),
    )
})
