import { expect, test } from 'vitest'
import { parseRate } from './rate.ts'

test.each([
  ['30', { events: 30, seconds: 3600 }],
  ['0', { events: 0, seconds: 3600 }],
  ['10/5m', { events: 10, seconds: 300 }],
  ['10/90', { events: 10, seconds: 90 }],
  ['100/1h30m', { events: 100, seconds: 5400 }],
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
