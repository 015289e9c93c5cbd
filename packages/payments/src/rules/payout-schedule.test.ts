import fc from 'fast-check'
import { expect, test } from 'vitest'
import { dayOf, parseDay, paydays, startOf } from './payout-schedule.ts'

test.each([
  // A Monday, a Tuesday, a Sunday.
  ['2030-01-07', '2030-01-07', '2030-01-01'],
  ['2030-01-08', '2030-01-07', '2030-01-01'],
  ['2030-01-13', '2030-01-07', '2030-01-01'],
  // Over the ends of months, years and a leap day.
  ['2030-01-01', '2029-12-31', '2030-01-01'],
  ['2030-02-01', '2030-01-28', '2030-02-01'],
  ['2028-02-29', '2028-02-28', '2028-02-01'],
  ['2028-03-01', '2028-02-28', '2028-03-01'],
])('on %s weekly merchants were last due on %s and monthly ones on %s', (day, weekly, monthly) => {
  expect(paydays(day)).toEqual({ daily: day, weekly, monthly })
})

test('the weekly payday is a Monday of the last seven days, the monthly one the first of the same month', () => {
  fc.assert(
    fc.property(fc.date({ min: new Date('1970-01-01'), max: new Date('2999-12-31'), noInvalidDate: true }), (moment) => {
      const day = dayOf(moment)
      const { weekly, monthly } = paydays(day)
      expect(startOf(weekly).getUTCDay()).toBe(1)
      expect((startOf(day).getTime() - startOf(weekly).getTime()) / 86_400_000).toBeOneOf([0, 1, 2, 3, 4, 5, 6])
      expect(monthly).toBe(`${day.slice(0, 7)}-01`)
    }),
  )
})

test('a day is that of UTC', () => {
  expect(dayOf(new Date('2030-01-02T00:30:00+02:00'))).toBe('2030-01-01')
  expect(startOf('2030-01-02').toISOString()).toBe('2030-01-02T00:00:00.000Z')
})

test.each([
  ['2030-01-02', '2030-01-02'],
  ['2028-02-29', '2028-02-29'],
  ...[
    '2030-02-29',
    '2030-02-30',
    '2030-13-01',
    '2030-00-10',
    '2030-01-00',
    '0000-01-01',
    '9999-01-01',
    '2030-1-2',
    '20300102',
    '2030-01-02T00:00Z',
    ' 2030-01-02',
    'today',
    '',
  ].map((text) => [text, undefined]),
])('"%s" is the day %s', (text, day) => {
  expect(parseDay(text as string)).toBe(day)
})
