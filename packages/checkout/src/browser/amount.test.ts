import { expect, test } from 'vitest'
import { parseAmount } from './amount.ts'

const euro = { currency: 'EUR', decimals: 2 }

test.each([
  ['12', 'en', 1200],
  ['12.5', 'en', 1250],
  ['12,50', 'en', 1250],
  ['1,250', 'en', 125000],
  ['1,250.50', 'en', 125050],
  ['1.250,50', 'en', 125050],
  ['1,250,000', 'en', 125000000],
  ['12,50', 'de', 1250],
  ['12.50', 'de', 1250],
  ['1.250', 'de', 125000],
  ['1.250,5', 'de', 125050],
  ['1 250,50', 'fr', 125050],
  ['1\u202f250,50', 'fr', 125050],
  ["1'250.50", 'de-CH', 125050],
  ['€ 12,50', 'nl', 1250],
  ['12,50 €', 'de', 1250],
  ['.5', 'en', 50],
  ['0.01', 'en', 1],
])('%s in %s is %i cents', (text, locale, minor) => {
  expect(parseAmount(text, euro, locale)).toBe(minor)
})

test.each(['0', '0.00', '-5', '1.2.3', '12.', '1,25,000', '1.250', '12.345', '1e3', 'abc', '€', '--', '0x10', '1.250.5'])(
  '%j in English is no amount',
  (text) => {
    expect(parseAmount(text, euro, 'en')).toBe('amountInvalid')
  },
)

test('nothing at all is missing', () => {
  expect(parseAmount('  ', euro, 'en')).toBe('amountMissing')
})

test('too much is too much', () => {
  expect(parseAmount('9999999.99', euro, 'en')).toBe(999_999_999)
  expect(parseAmount('10000000', euro, 'en')).toBe('amountTooLarge')
})

test('decimals are those of the currency', () => {
  expect(parseAmount('300', { currency: 'JPY', decimals: 0 }, 'en')).toBe(300)
  expect(parseAmount('3.5', { currency: 'JPY', decimals: 0 }, 'en')).toBe('amountInvalid')
  expect(parseAmount('1.250', { currency: 'KWD', decimals: 3 }, 'en')).toBe(1250)
})
