import { expect, test } from 'vitest'
import { exponentOf } from './currencies.ts'
import { numericOf } from './numeric-currencies.ts'

const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
const codes = letters.flatMap((one) => letters.flatMap((two) => letters.map((three) => one + two + three)))

test('every currency has a number of its own, and nothing else has one', () => {
  const known = codes.filter((code) => exponentOf(code) !== undefined)
  expect(codes.filter((code) => numericOf(code) !== undefined)).toEqual(known)
  expect(new Set(known.map(numericOf)).size).toBe(known.length)
})

test.each([
  ['EUR', '978'],
  ['USD', '840'],
  ['DKK', '208'],
  ['JPY', '392'],
  ['AUD', '036'],
  ['ALL', '008'],
  ['eur', undefined],
  ['constructor', undefined],
])('the number of %s is %s', (code, number) => {
  expect(numericOf(code)).toBe(number)
})
