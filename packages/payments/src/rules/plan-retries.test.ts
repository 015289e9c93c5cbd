import { expect, test } from 'vitest'
import { retryOf } from './plan-retries.ts'

const firstTried = new Date('2030-01-31T10:00:00Z')

test.each([
  [1, '2030-02-01T10:00:00.000Z'],
  [2, '2030-02-03T10:00:00.000Z'],
  [3, '2030-02-07T10:00:00.000Z'],
])('after %i tries it is tried again 1, 3 and 7 days after the first: %s', (tries, moment) => {
  expect(retryOf(7, { tries, firstTried })).toEqual(new Date(moment))
})

test.each([4, 5])('after %i tries it is not tried again', (tries) => {
  expect(retryOf(7, { tries, firstTried })).toBe('retries_exhausted')
})

test.each([3, 5, 6, 10, 29] as const)('error %i is the last word', (code) => {
  expect(retryOf(code, { tries: 1, firstTried })).toBe('final_error')
})

test.each([7, 8, 9, 11, 12, 25, 27, 30, 31] as const)('error %i may be another one tomorrow', (code) => {
  expect(retryOf(code, { tries: 1, firstTried })).toBeInstanceOf(Date)
})
