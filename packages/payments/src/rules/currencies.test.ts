import { expect, test } from 'vitest'
import { exponentOf, fundingCurrencies, isChargeable } from './currencies.ts'

test.each([
  ['EUR', 2],
  ['DKK', 2],
  ['HUF', 2],
  ['ISK', 2],
  ['JPY', 0],
  ['KRW', 0],
  ['CLP', 0],
  ['BYR', 0],
  ['KWD', 3],
  ['TND', 3],
  ['IQD', 3],
  ['HRK', 2],
  ['ZWL', 2],
  ['BYN', undefined],
  ['XXX', undefined],
  ['eur', undefined],
  ['EURO', undefined],
  ['', undefined],
  ['constructor', undefined],
])('%s has an exponent of %s', (code, exponent) => {
  expect(exponentOf(code)).toBe(exponent)
})

test('157 currencies are published, none of them twice, and five are deprecated', () => {
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
  const codes = letters.flatMap((one) => letters.flatMap((two) => letters.map((three) => one + two + three)))
  const published = codes.filter((code) => exponentOf(code) !== undefined)
  expect(published).toHaveLength(157)
  expect(published.filter((code) => exponentOf(code) === 0)).toHaveLength(16)
  expect(published.filter((code) => exponentOf(code) === 3)).toHaveLength(6)
  expect(published.filter((code) => !isChargeable(code))).toEqual(['HRK', 'MRO', 'SLL', 'STD', 'VES'])
})

test('what is not published cannot be charged', () => {
  expect(isChargeable('XXX')).toBe(false)
  expect(isChargeable('eur')).toBe(false)
})

test('merchants are paid in twelve currencies, all of which can be charged', () => {
  expect(fundingCurrencies).toHaveLength(12)
  expect(fundingCurrencies.filter((code) => !isChargeable(code))).toEqual([])
})
