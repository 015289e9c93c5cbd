import { expect, test } from 'vitest'
import { readConfig } from './popup-config.ts'

const now = new Date('2030-01-31T12:00:00Z')
const merchant = { key: 'k', name: 'Shop', test: true, currency: 'EUR' }
const currencies = { 0: 'JPY', 2: 'EUR DKK', 3: 'KWD' }
const euro = (value: number, exponent = 2) => ({ currency: 'EUR', exponent, value })

const read = (config: object) => readConfig({ test: true, ...config }, { merchant, currencies }, now)

test('an amount may have any exponent, and what is too fine is rounded up', () => {
  expect([euro(1, 0), euro(1855, 3), euro(1234)].map((amount) => read({ amount }))).toMatchObject([
    { amount: { minor: 100, decimals: 2 } },
    { amount: { minor: 186 } },
    { amount: { minor: 1234 } },
  ])
  expect(read({ amount: { currency: 'JPY', exponent: 2, value: 101 } })).toMatchObject({ amount: { minor: 2, decimals: 0 } })
})

test('what goes into the order goes there as it came', () => {
  const given = {
    amount: euro(1, 0),
    text: 'Coffee',
    unplanned: { merchant: true },
    test: { card: { code: 'invalid' } },
    custom: { a: 1 },
  }
  const { custom, ...order } = given
  expect(read(given)).toMatchObject({ order, custom })
})

test('fields are names, or say more', () => {
  const fields = [
    'name',
    { name: 'mail', label: 'Your mail', type: 'email', required: true },
    { name: 'x', type: 'password', value: 5 },
  ]
  expect(read({ amount: euro(1), fields })).toMatchObject({
    fields: [
      { name: 'name', label: 'name', type: 'text', required: false },
      { name: 'mail', label: 'Your mail', type: 'email', required: true },
      { name: 'x', type: 'text', value: '5' },
    ],
  })
})

test('a payer who chooses the amount is enough', () => {
  expect(read({ fields: [{ name: 'tip', type: 'amount' }] })).toMatchObject({ amount: undefined })
})

test('a plan tells what is to come', () => {
  const plan = [
    { amount: euro(100), scheduled: '2030-02-01T00:00:00Z' },
    { amount: euro(200), repeat: { first: '2030-03-31T00:00:00Z', interval: { unit: 'month' } } },
  ]
  const wanted = read({ plan }) as { coming: { payments: { at: Date; amount: { minor: number } }[]; more: boolean } }
  expect(wanted.coming.payments.map(({ at, amount }) => [at.toISOString().slice(0, 10), amount.minor])).toEqual([
    ['2030-02-01', 100],
    ['2030-03-31', 200],
    ['2030-04-30', 200],
    ['2030-05-31', 200],
    ['2030-06-30', 200],
    ['2030-07-31', 200],
  ])
  expect(wanted.coming.more).toBe(true)
})

test.each([
  [{}, 'At least one of amount, plan and unplanned'],
  [{ amount: 5 }, 'amount must be an object'],
  [{ amount: { ...euro(1), currency: 'XXX' } }, 'amount.currency'],
  [{ amount: euro(0) }, 'amount.value'],
  [{ amount: euro(1.5) }, 'amount.value'],
  [{ amount: euro(1, -1) }, 'amount.exponent'],
  [{ amount: euro(Number.MAX_SAFE_INTEGER, 0) }, 'too large'],
  [{ amount: euro(1), fields: 'name' }, 'fields must be a list'],
  [{ amount: euro(1), fields: [{}] }, 'fields[0].name'],
  [{ amount: euro(1), fields: ['__proto__'] }, 'fields[0].name'],
  [{ amount: euro(1), custom: 'x' }, 'custom must be an object'],
  [{ amount: euro(1), title: {} }, 'title must be a text'],
  [{ amount: euro(1), text: 'x' }, 'text must have from 2'],
  [{ plan: [] }, 'plan must be a list'],
  [{ plan: [{ amount: euro(1) }] }, 'plan[0] must have exactly one'],
  [{ plan: [{ amount: euro(1), repeat: { interval: { unit: 'eon' } } }] }, 'plan[0].repeat'],
  [{ plan: [{ amount: euro(1), scheduled: 'soon' }] }, 'plan[0].scheduled'],
  [{ amount: euro(1), test: undefined }, 'test merchant'],
])('%j is told to be unusable: %s', (config, problem) => {
  expect(read(config)).toMatchObject({ problem: expect.stringContaining(problem) })
})

test('real payments are no tests', () => {
  const facts = { merchant: { ...merchant, test: false }, currencies }
  expect(readConfig({ amount: euro(1), test: true }, facts, now)).toMatchObject({
    problem: expect.stringContaining('leave test out'),
  })
  expect(readConfig({ amount: euro(1) }, facts, now)).not.toHaveProperty('problem')
})
