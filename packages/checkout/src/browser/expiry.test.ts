import { expect, test } from 'vitest'
import { expiryProblem, formatExpiry, parseExpiry } from './expiry.ts'

test.each([
  ['0', '0'],
  ['1', '1'],
  ['4', '04 / '],
  ['12', '12 / '],
  ['1/', '01 / '],
  ['4/29', '04 / 29'],
  ['04/2029', '04 / 2029'],
  ['0429', '04 / 29'],
  ['04 / 2', '04 / 2'],
  ['04 / 20299', '04 / 2029'],
  ['04-29', '04 / 29'],
  ['x', ''],
])('%s becomes %s while typing', (before, after) => {
  expect(formatExpiry(before, { deleting: false })).toBe(after)
})

test.each([
  ['04 / 2', '04 / 2'],
  ['04 /', '0'],
  ['04', '04'],
  ['0', '0'],
  ['', ''],
])('%s becomes %s while deleting', (before, after) => {
  expect(formatExpiry(before, { deleting: true })).toBe(after)
})

test.each([
  ['04 / 29', 4, 2029],
  ['4/29', 4, 2029],
  ['04/2029', 4, 2029],
  ['0429', 4, 2029],
  ['042029', 4, 2029],
  [' 12-30 ', 12, 2030],
])('%s is month %i of %i', (text, month, year) => {
  expect(parseExpiry(text)).toEqual({ month, year })
})

test.each(['00/29', '13/29', '4', '4/2', '04/229', '04/1999', 'April 29', ''])('%j is no date', (text) => {
  expect(parseExpiry(text)).toBeUndefined()
})

test('a card is good through its last month', () => {
  const now = new Date('2030-01-31T23:00:00Z')
  expect(['12/29', '01/30', '2/30', '1/3', ' '].map((each) => expiryProblem(each, now))).toEqual([
    'expiryPast',
    undefined,
    undefined,
    'expiryInvalid',
    'expiryMissing',
  ])
})
