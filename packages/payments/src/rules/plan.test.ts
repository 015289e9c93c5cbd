import { compileInput, type Problem } from '@tollgate/kit/shape'
import { expect, test } from 'vitest'
import { readPlan } from './plan.ts'
import { PlanShape } from './plan-shape.ts'

const shape = compileInput(PlanShape, {
  absent: (value) => value === null || value === false || value === '',
  convertJson: true,
  caseInsensitive: false,
})

const now = new Date('2030-01-02T03:04:05.678Z')

/** The settled plan, or what is wrong by its path. */
function take(input: unknown) {
  const problems: Problem[] = []
  const plan = shape(input, 'json', problems)
  if (problems.length > 0) return problems.map(({ path, message }) => [path, message])
  const read = readPlan(plan, now)
  return 'plan' in read ? read.plan : read.problems.map(({ path, message }) => [path, message])
}

const amount = { currency: 'EUR', exponent: 2, value: 995 }
const monthly = { unit: 'month' }

test('what is scheduled is settled as it is, once', () => {
  expect(take([{ amount, scheduled: '2030-02-01T00:00:00+01:00' }])).toEqual([
    { amount: 995, currency: 'EUR', first: new Date('2030-01-31T23:00:00Z'), count: 1, every: null },
  ])
})

test('a date without a time zone is in UTC', () => {
  expect(take([{ amount, scheduled: '2030-02-01T00:00:00' }])).toMatchObject([{ first: new Date('2030-02-01T00:00:00Z') }])
})

test('what is repeated begins now and every one unit, unless it says otherwise', () => {
  expect(take([{ amount, repeat: { interval: monthly } }])).toEqual([
    { amount: 995, currency: 'EUR', first: now, count: null, every: { unit: 'month', value: 1 } },
  ])
  const repeat = { first: '2030-03-01T00:00:00Z', count: 12, interval: { unit: 'week', value: 2 } }
  expect(take([{ amount, repeat }])).toEqual([
    { amount: 995, currency: 'EUR', first: new Date('2030-03-01T00:00:00Z'), count: 12, every: { unit: 'week', value: 2 } },
  ])
})

test('an amount that is finer than the currency is rounded up', () => {
  expect(take([{ amount: { currency: 'EUR', exponent: 3, value: 1855 }, scheduled: '2030-02-01T00:00:00Z' }])).toMatchObject([
    { amount: 186 },
  ])
})

test('a trial may be followed by what goes on for ever', () => {
  const plan = [
    { amount, repeat: { count: 3, interval: monthly } },
    { amount, scheduled: '2030-03-15T00:00:00Z' },
    { amount, repeat: { first: '2030-04-02T03:04:05Z', interval: monthly } },
  ]
  expect(take(plan)).toMatchObject([{ count: 3 }, { count: 1 }, { count: null }])
})

const late = '2030-06-01T00:00:00Z'
const early = '2030-05-01T00:00:00Z'

test.each([
  ['no list', { amount }, '', 'Must be a list'],
  ['nothing in it', [], '', 'Must have at least 1 elements'],
  ['neither', [{ amount }], 'plan.0', 'Must have either scheduled or repeat'],
  ['both', [{ amount, scheduled: late, repeat: { interval: monthly } }], 'plan.0', 'Must have either scheduled or repeat'],
  ['no value', [{ amount: { currency: 'EUR', exponent: 2 }, scheduled: late }], '0.amount.value', 'Required'],
  ['an amount of nothing', [{ amount: { ...amount, value: 0 }, scheduled: late }], '0.amount.value', 'Must be at least 1'],
  ['a coin', [{ amount: { ...amount, currency: 'XXX' }, scheduled: late }], '0.amount.currency', 'Must be a valid currency'],
  [
    'a currency of yesterday',
    [{ amount: { ...amount, currency: 'HRK' }, scheduled: late }],
    'plan.0.amount.currency',
    'Must be the code of a currency that payments can be made in',
  ],
  [
    'an amount beyond counting',
    [{ amount: { currency: 'EUR', exponent: 0, value: Number.MAX_SAFE_INTEGER }, scheduled: late }],
    'plan.0.amount.value',
    'Must be at most 9007199254740991 minor units',
  ],
  ['no date', [{ amount, scheduled: '2030-02-30T00:00:00Z' }], '0.scheduled', 'Must be a valid date-time'],
  ['a day without a time', [{ amount, scheduled: '2030-02-03' }], '0.scheduled', 'Must be a valid date-time'],
  ['a date far away', [{ amount, scheduled: '2130-06-01T00:00:00Z' }], 'plan.0.scheduled', 'Must be within 100 years'],
  ['a date long ago', [{ amount, scheduled: '1900-06-01T00:00:00Z' }], 'plan.0.scheduled', 'Must be within 100 years'],
  [
    'dates that do not grow',
    [
      { amount, scheduled: late },
      { amount, scheduled: early },
    ],
    'plan.1.scheduled',
    'Must be later than that of the component before',
  ],
  [
    'the same date twice',
    [
      { amount, scheduled: late },
      { amount, repeat: { first: late, interval: monthly } },
    ],
    'plan.1.repeat.first',
    'Must be later than that of the component before',
  ],
  [
    'a second one that begins now',
    [
      { amount, scheduled: late },
      { amount, repeat: { interval: monthly } },
    ],
    'plan.1.repeat.first',
    'Must be later than that of the component before',
  ],
  [
    'for ever in the middle',
    [
      { amount, repeat: { interval: monthly } },
      { amount, scheduled: late },
    ],
    'plan.0.repeat.count',
    'Required but in the last component',
  ],
  ['no times', [{ amount, repeat: { count: 0, interval: monthly } }], '0.repeat.count', 'Must be at least 1'],
  ['too often', [{ amount, repeat: { count: 10_001, interval: monthly } }], '0.repeat.count', 'Must be at most 10000'],
  ['no interval', [{ amount, repeat: {} }], '0.repeat.interval.unit', 'Required'],
  [
    'hourly',
    [{ amount, repeat: { interval: { unit: 'hour' } } }],
    '0.repeat.interval.unit',
    'Must be one of day, week, month, year',
  ],
  [
    'a zero interval',
    [{ amount, repeat: { interval: { unit: 'day', value: 0 } } }],
    '0.repeat.interval.value',
    'Must be at least 1',
  ],
  [
    'a wide interval',
    [{ amount, repeat: { interval: { unit: 'year', value: 1001 } } }],
    '0.repeat.interval.value',
    'Must be at most 1000',
  ],
  ['a hundred and one', Array.from({ length: 101 }, () => ({ amount, scheduled: late })), '', 'Must have at most 100 elements'],
])('%s is refused, and the field is named', (_, input, path, message) => {
  expect(take(input)).toEqual([[path, message]])
})

test('all that is wrong is told at once', () => {
  const plan = [
    { amount: { ...amount, currency: 'HRK' }, repeat: { first: late, interval: monthly } },
    { amount, scheduled: early },
  ]
  expect((take(plan) as string[][]).map(([path]) => path)).toEqual([
    'plan.0.amount.currency',
    'plan.0.repeat.count',
    'plan.1.scheduled',
  ])
})
