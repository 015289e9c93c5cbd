import { expect, test } from 'vitest'
import { callerRate, parseRate } from './rate.ts'

test.each([
  ['30', { most: 30, amount: 30, seconds: 3600 }],
  ['0', { most: 0, amount: 0, seconds: 3600 }],
  ['10/5m', { most: 10, amount: 1, seconds: 300 }],
  ['10/90', { most: 10, amount: 1, seconds: 90 }],
  ['100/1h30m', { most: 100, amount: 1, seconds: 5400 }],
  ['10/0s', undefined],
  ['10/', undefined],
  ['/5m', undefined],
  ['-1', undefined],
  ['1.5', undefined],
  ['1e3', undefined],
  ['10/5m/5m', undefined],
  ['many', undefined],
])('%s is %j', (text, rate) => {
  expect(parseRate(text)).toEqual(rate)
})

test('so many in five minutes come back one by one', () => {
  expect(callerRate(150, 300, 30)).toEqual({ most: 30, amount: 1, seconds: 2 })
  expect(callerRate(0, 300, 30)).toMatchObject({ most: 0 })
})
