import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseBanDuration } from './ban-duration.ts'

test.each<[string, number]>([
  ['0', 0],
  ['+0', 0],
  ['0s', 0],
  ['24h', 86_400],
  ['1h30m', 5400],
  ['1.5h', 5400],
  ['-1h', -3600],
  ['-1.5h', -5400],
  ['+5s', 5],
  ['.5h', 1800],
  ['1.m', 60],
  ['2m2m', 240],
  ['-.5s', -0.5],
  ['250ms', 0.25],
  ['1us', 1e-6],
  ['1\u00b5s', 1e-6],
  ['1\u03bcs', 1e-6],
  ['5ns', 5e-9],
  ['1h1m1s1ms', 3661.001],
  ['876000h', 876_000 * 3600],
  ['2562047h47m16s', 9_223_372_036],
  ['0.0000000000000000000000000000001h', 0],
])('%s is %d seconds', (text, seconds) => {
  expect(parseBanDuration(text)).toBeCloseTo(seconds, 9)
})

test('none ends a ban, in just this spelling', () => {
  expect(parseBanDuration('none')).toBe('none')
  expect(parseBanDuration('None')).toHaveProperty('message')
})

test.each([
  ['24', 'missing unit in duration "24"'],
  ['1h30', 'missing unit in duration "1h30"'],
  ['00', 'missing unit in duration "00"'],
  ['-24', 'missing unit in duration "-24"'],
  ['1.2.3s', 'missing unit in duration "1.2.3s"'],
  ['1d', 'unknown unit "d" in duration "1d"'],
  ['1H', 'unknown unit "H" in duration "1H"'],
  ['1 h', 'unknown unit " h" in duration "1 h"'],
  ['1h ', 'unknown unit "h " in duration "1h "'],
  ['1e3s', 'unknown unit "e" in duration "1e3s"'],
  ['1toString', 'unknown unit "toString" in duration "1toString"'],
  ['1h-1m', 'unknown unit "h-" in duration "1h-1m"'],
  ['', 'invalid duration ""'],
  ['-', 'invalid duration "-"'],
  ['+', 'invalid duration "+"'],
  ['h', 'invalid duration "h"'],
  ['.', 'invalid duration "."'],
  ['.s', 'invalid duration ".s"'],
  ['--1h', 'invalid duration "--1h"'],
  [' 1h', 'invalid duration " 1h"'],
  ['Infinity', 'invalid duration "Infinity"'],
  ['\u0663s', 'invalid duration "\u0663s"'],
  ['2562048h', 'invalid duration "2562048h"'],
  ['9999999999999999h', 'invalid duration "9999999999999999h"'],
  ['forever', 'invalid duration "forever"'],
])('"%s" is refused', (text, problem) => {
  expect(parseBanDuration(text)).toEqual({ message: `invalid format for ban duration: time: ${problem}` })
})

test('hours, minutes and seconds add up, and a sign turns them round', () => {
  fc.assert(
    fc.property(fc.nat(9999), fc.nat(9999), fc.nat(9999), (hours, minutes, seconds) => {
      const text = `${hours}h${minutes}m${seconds}s`
      const total = hours * 3600 + minutes * 60 + seconds
      expect([parseBanDuration(text), parseBanDuration(`+${text}`)]).toEqual([total, total])
      expect(parseBanDuration(`-${text}`)).toBe(-total)
    }),
  )
})

test('whatever is written, the answer is a number of seconds or a sentence', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'0123456789.+-hmsnu\u00b5 ') }), (text) => {
      const parsed = parseBanDuration(text)
      if (typeof parsed === 'number') expect(Math.abs(parsed)).toBeLessThan(2 ** 63 / 1e9)
      else expect(parsed).toHaveProperty('message')
    }),
  )
})

test('a long text is refused in no time and not repeated whole', () => {
  const before = performance.now()
  const parsed = parseBanDuration(`${'1h'.repeat(100_000)}x`) as { message: string }
  parseBanDuration('1'.repeat(500_000))
  expect(performance.now() - before).toBeLessThan(500)
  expect(parsed.message.length).toBeLessThan(400)
})
