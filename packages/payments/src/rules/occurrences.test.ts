import fc from 'fast-check'
import { expect, test } from 'vitest'
import { dueOf, firstOccurrence, type Occurrence, occurrenceAfter, occurrencesOf, skipMissed } from './occurrences.ts'
import type { PlanPart, SettledPlan } from './plan.ts'
import type { IntervalUnit } from './plan-shape.ts'

function repeated(first: string, count: number | null, unit: IntervalUnit, value = 1): PlanPart {
  return { amount: 100, currency: 'EUR', first: new Date(first), count, every: { unit, value } }
}

function scheduled(moment: string): PlanPart {
  return { amount: 500, currency: 'EUR', first: new Date(moment), count: 1, every: null }
}

/** The first so many payments, by day. */
function days(plan: SettledPlan, most: number): string[] {
  return occurrencesOf(plan)
    .take(most)
    .map(({ due }) => due.toISOString().slice(0, 10))
    .toArray()
}

test.each([
  ['the last of January', repeated('2030-01-31T10:00:00Z', null, 'month'), '01-31 02-28 03-31 04-30 05-31'],
  ['a leap year', repeated('2032-01-31T10:00:00Z', null, 'month'), '01-31 02-29 03-31 04-30 05-31'],
  ['every second month', repeated('2030-08-31T10:00:00Z', null, 'month', 2), '08-31 10-31 12-31 02-28 04-30'],
  ['the 29th of February, every year', repeated('2032-02-29T10:00:00Z', null, 'year'), '02-29 02-28 02-28 02-28 02-29'],
  ['every day over the end of February', repeated('2030-02-27T10:00:00Z', null, 'day'), '02-27 02-28 03-01 03-02 03-03'],
  ['every second week', repeated('2030-01-01T10:00:00Z', null, 'week', 2), '01-01 01-15 01-29 02-12 02-26'],
  ['three times', repeated('2030-01-30T10:00:00Z', 3, 'month'), '01-30 02-28 03-30'],
])('%s', (_, part, expected) => {
  expect(days([part], 5).map((each) => each.slice(5))).toEqual(expected.split(' '))
})

test('the time of day stays, to the millisecond', () => {
  const part = repeated('2030-01-31T23:59:59.999Z', null, 'month')
  expect(dueOf(part, 1)?.toISOString()).toBe('2030-02-28T23:59:59.999Z')
  expect(dueOf(part, 13)?.toISOString()).toBe('2031-02-28T23:59:59.999Z')
})

test('components are paid side by side, in the order of their dates, each at its own amount', () => {
  const plan = [
    repeated('2030-01-01T00:00:00Z', 3, 'month'),
    scheduled('2030-02-01T00:00:00Z'),
    scheduled('2030-02-15T00:00:00Z'),
  ]
  const all = occurrencesOf(plan).map(({ component, occurrence, due, amount }) => [
    `${component}.${occurrence}`,
    due.toISOString().slice(0, 10),
    amount,
  ])
  expect(all.toArray()).toEqual([
    ['0.0', '2030-01-01', 100],
    ['0.1', '2030-02-01', 100],
    ['1.0', '2030-02-01', 500],
    ['2.0', '2030-02-15', 500],
    ['0.2', '2030-03-01', 100],
  ])
})

test('a plan of the most and the longest ends with the calendar, and is looked at in no time', () => {
  const widest = repeated('2030-01-01T00:00:00Z', 10_000, 'year', 1000)
  expect(days([widest], 20)).toHaveLength(8)
  const plan = Array.from({ length: 100 }, (_, index) => repeated(`19${31 + (index % 60)}-01-01T00:00:00Z`, null, 'day'))
  const look = { now: new Date('2030-01-01T00:00:00Z'), created: new Date(0), since: new Date(0) }
  const began = performance.now()
  for (let each = 0; each < 10; each++) skipMissed(plan, firstOccurrence(plan) as Occurrence, look)
  expect(performance.now() - began).toBeLessThan(1000)
})

const parts = fc.record({
  amount: fc.constant(100),
  currency: fc.constant('EUR'),
  first: fc.date({ min: new Date('2020-01-01'), max: new Date('2031-01-01'), noInvalidDate: true }),
  count: fc.integer({ min: 1, max: 12 }),
  every: fc.record({
    unit: fc.constantFrom<IntervalUnit>('day', 'week', 'month', 'year'),
    value: fc.integer({ min: 1, max: 3 }),
  }),
})

test('every occurrence of every component comes once, and in order', () => {
  fc.assert(
    fc.property(fc.array(parts, { minLength: 1, maxLength: 5 }), (plan) => {
      const all = occurrencesOf(plan).toArray()
      expect(all).toHaveLength(plan.reduce((sum, { count }) => sum + count, 0))
      expect(new Set(all.map(({ component, occurrence }) => `${component}.${occurrence}`)).size).toBe(all.length)
      const dates = all.map(({ due }) => due.getTime())
      expect(dates).toEqual(dates.toSorted((one, other) => one - other))
    }),
  )
})

test('what was missed is counted to the last one, and what is left is what would have come', () => {
  const moments = fc.date({ min: new Date('2020-01-01'), max: new Date('2034-01-01'), noInvalidDate: true })
  fc.assert(
    fc.property(fc.array(parts, { minLength: 1, maxLength: 4 }), moments, moments, (plan, now, since) => {
      const all = occurrencesOf(plan).toArray()
      const { next, missed } = skipMissed(plan, all[0] as Occurrence, { now, created: new Date(0), since })
      const latest = Math.max(...all.map(({ due }) => due.getTime()).filter((due) => due <= now.getTime()))
      const isLeft = ({ due }: Occurrence) =>
        due >= since && !(due.getTime() < latest && due.getTime() < now.getTime() - 86_400_000)
      const index = all.findIndex(isLeft)
      expect(missed).toBe(index < 0 ? all.length : index)
      expect(next).toEqual(index < 0 ? undefined : expect.objectContaining({ due: all[index]?.due }))
    }),
  )
})

const monthly = [repeated('2030-01-31T10:00:00Z', null, 'month')]
const start = firstOccurrence(monthly) as Occurrence
const long = new Date('2020-01-01T00:00:00Z')

test.each([
  ['not due yet', '2030-01-01T00:00:00Z', 0, 0],
  ['due just now', '2030-01-31T10:00:00Z', 0, 0],
  ['a fortnight late, and nothing else is due', '2030-02-14T10:00:00Z', 0, 0],
  ['a month late: the latest is made up for', '2030-02-28T10:00:00Z', 1, 1],
  ['half a year late: the latest is', '2030-07-15T10:00:00Z', 5, 5],
])('%s', (_, now, occurrence, missed) => {
  const look = { now: new Date(now), created: long, since: long }
  expect(skipMissed(monthly, start, look)).toMatchObject({ next: { occurrence }, missed })
})

test('what two components ask for on one day is both paid, a week later as well', () => {
  const plan = [repeated('2030-01-01T00:00:00Z', null, 'month'), scheduled('2030-02-01T00:00:00Z')]
  const from = occurrenceAfter(plan, firstOccurrence(plan) as Occurrence) as Occurrence
  expect(from).toMatchObject({ component: 0, occurrence: 1 })
  const look = { now: new Date('2030-02-08T00:00:00Z'), created: long, since: long }
  expect(skipMissed(plan, from, look)).toEqual({ next: from, missed: 0 })
})

test('what was due before plans were executed is left out, but for an order that was made since', () => {
  const look = { now: new Date('2030-02-14T10:00:00Z'), since: new Date('2030-02-14T09:00:00Z') }
  const old = skipMissed(monthly, start, { ...look, created: new Date('2030-01-31T10:00:00Z') })
  expect(old).toMatchObject({ next: { occurrence: 1, due: new Date('2030-02-28T10:00:00Z') }, missed: 1 })
  expect(skipMissed(monthly, start, { ...look, created: new Date('2030-02-14T09:30:00Z') })).toEqual({ next: start, missed: 0 })
  const once = [scheduled('2030-01-31T10:00:00Z')]
  const first = firstOccurrence(once) as Occurrence
  expect(skipMissed(once, first, { ...look, created: long })).toEqual({ next: undefined, missed: 1 })
})
