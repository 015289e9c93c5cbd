import { expect, test } from 'vitest'
import { parseMoment } from './moment.ts'

test.each([
  ['2030-01-02T03:04:05Z', '2030-01-02T03:04:05.000Z'],
  ['2030-01-02T03:04:05.6Z', '2030-01-02T03:04:05.600Z'],
  ['2030-01-02T03:04:05.678901Z', '2030-01-02T03:04:05.678Z'],
  ['2030-01-02t03:04:05z', '2030-01-02T03:04:05.000Z'],
  ['2030-01-02T03:04:05+02:00', '2030-01-02T01:04:05.000Z'],
  ['2030-01-02T23:30:00-01:30', '2030-01-03T01:00:00.000Z'],
  ['2028-02-29T00:00:00Z', '2028-02-29T00:00:00.000Z'],
  ['1000-01-01T00:00:00+23:59', '0999-12-31T00:01:00.000Z'],
])('%s is a moment', (text, moment) => {
  expect(parseMoment(text)?.toISOString()).toBe(moment)
})

test.each([
  ['', 'nothing'],
  ['now', 'a word'],
  ['2030-01-02', 'a day'],
  ['2030-01-02T03:04:05', 'no zone'],
  ['2030-01-02T03:04Z', 'no seconds'],
  ['2030-01-02 03:04:05Z', 'a blank in the middle'],
  ['2030-01-02T03:04:05 02:00', 'a plus that the query has eaten'],
  ['2030-02-31T00:00:00Z', 'a day that February does not have'],
  ['2029-02-29T00:00:00Z', 'a leap day of a common year'],
  ['2030-13-01T00:00:00Z', 'a thirteenth month'],
  ['2030-01-02T24:00:00Z', 'an hour too many'],
  ['2030-01-02T23:59:60Z', 'a leap second'],
  ['2030-01-02T03:04:05+24:00', 'an offset of a day'],
  ['0000-01-01T00:00:00Z', 'a year that the database does not know'],
  ['+12030-01-02T03:04:05Z', 'a year of five digits'],
  ['2030-01-02T03:04:05Z\n', 'a line'],
  ['1893553445', 'seconds'],
])('%j is none: %s', (text) => {
  expect(parseMoment(text)).toBeUndefined()
})
