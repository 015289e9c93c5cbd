import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseDuration } from './duration.ts'

test.each<[string, number]>([
  ['0', 0],
  ['0s', 0],
  ['900', 900],
  ['1.5', 1.5],
  ['60s', 60],
  ['1h30m', 5400],
  ['1.5h', 5400],
  ['.5h', 1800],
  ['1.m', 60],
  ['2m2m', 240],
  ['250ms', 0.25],
  ['1us', 1e-6],
  ['1µs', 1e-6],
  ['1μs', 1e-6],
  ['5ns', 5e-9],
  ['1h1m1s1ms', 3661.001],
])('%s is %d seconds', (text, seconds) => {
  expect(parseDuration(text)).toBeCloseTo(seconds, 12)
})

test.each([
  '',
  ' ',
  '-1',
  '-5s',
  '+5s',
  '1d',
  '1h30',
  'h',
  '1 h',
  '1H',
  '1e3',
  '0x10',
  '.',
  '.h',
  '1..5s',
  '٣s',
  '1m s',
  'Infinity',
])('"%s" is no duration', (text) => {
  expect(parseDuration(text)).toBeUndefined()
})

test('hours, minutes and seconds add up', () => {
  fc.assert(
    fc.property(fc.nat(9999), fc.nat(9999), fc.nat(9999), (hours, minutes, seconds) => {
      expect(parseDuration(`${hours}h${minutes}m${seconds}s`)).toBe(hours * 3600 + minutes * 60 + seconds)
    }),
  )
})

test('a long text that almost fits is refused in no time', () => {
  const before = performance.now()
  expect(parseDuration(`${'1h'.repeat(100_000)}x`)).toBeUndefined()
  expect(parseDuration('1'.repeat(200_000))).toBeUndefined()
  expect(performance.now() - before).toBeLessThan(500)
})
