import { expect, test } from 'vitest'
import { type Payment, settlePayment } from './payment.ts'

const amount = { currency: 'EUR', exponent: 2, value: 2450 }
const settle = (payment: unknown, key: string | undefined = 'key') => settlePayment(payment as Payment, key)

test.each([
  ['an amount', { amount }],
  ['a plan', { plan: [{ amount, repeat: { interval: { unit: 'month' } } }] }],
  ['payments that are not planned', { unplanned: { merchant: true } }],
  ['all of them', { amount, plan: [{ amount, scheduled: '2030-01-01T00:00:00Z' }], unplanned: { customer: true } }],
  ['an amount that the customer chooses', { fields: ['note', 'amount'] }],
  ['an amount that the customer chooses in a field of that type', { fields: [{ name: 'gift', type: 'amount' }] }],
  ['an amount in whole units', { amount: { currency: 'JPY', exponent: 0, value: 1 } }],
])('%s can be asked for', (_, payment) => {
  expect(settle(payment)).toEqual({ ...payment, key: 'key' })
})

test.each([
  [undefined, 'pay: the first argument must be an object'],
  [null, 'pay: the first argument must be an object'],
  [[], 'pay: the first argument must be an object'],
  ['EUR 5', 'pay: the first argument must be an object'],
  [{}, 'amount: missing, and so are plan and unplanned'],
  [{ amount: null }, 'amount: missing, and so are plan and unplanned'],
  [{ currency: 'EUR', amount: 2450 }, 'amount: must be an object such as'],
  [{ amount: [amount] }, 'amount: must be an object such as'],
  [{ amount: { ...amount, currency: 'eur' } }, 'amount.currency: must be three capital letters'],
  [{ amount: { ...amount, currency: undefined } }, 'amount.currency: must be three capital letters'],
  [{ amount: { currency: 'EUR', value: 5 } }, 'amount.exponent: must be a whole number'],
  [{ amount: { ...amount, exponent: -1 } }, 'amount.exponent: must be a whole number'],
  [{ amount: { ...amount, value: 24.5 } }, 'amount.value: must be a whole number'],
  [{ amount: { ...amount, value: '2450' } }, 'amount.value: must be a whole number'],
  [{ amount: { ...amount, value: 0 } }, 'amount.value: must be a whole number'],
  [{ amount: { ...amount, value: Number.NaN } }, 'amount.value: must be a whole number'],
  [{ amount: { currency: 'EUR' } }, 'amount.exponent: must be a whole number'],
  [{ fields: ['note'] }, 'amount: missing, and so are plan and unplanned'],
  [{ fields: [null, 7] }, 'amount: missing, and so are plan and unplanned'],
  [{ plan: [] }, 'plan: must be a list of at least one payment'],
  [{ plan: { amount } }, 'plan: must be a list of at least one payment'],
  [{ unplanned: true }, 'unplanned: must be an object'],
  [{ amount, test: 'yes' }, 'test: must be true or an object'],
  [{ amount, fields: 'note' }, 'fields: must be a list'],
  [{ amount, key: 7 }, 'key: must be the public key of a merchant'],
  [{ amount, key: '' }, 'key: must be the public key of a merchant'],
])('%j is refused with the name of what is wrong', (payment, sentence) => {
  expect(() => settle(payment)).toThrow(sentence)
})

test('the key of a payment goes before that of the shop, and one of them has to be there', () => {
  expect(settle({ amount, key: 'other' }).key).toBe('other')
  expect(settle({ amount, key: 'other' }, undefined).key).toBe('other')
  expect(() => settlePayment({ amount }, undefined)).toThrow('key: must be the public key of a merchant')
})

test.each([[{ test: true }], [{ test: { card: { code: 'invalid' } } }]])('%j asks for a test payment', (flag) => {
  expect(settle({ amount, ...flag })).toMatchObject(flag)
})

test.each([[{ test: false }], [{ test: null }], [{}]])('%j asks for a real one', (flag) => {
  expect(settle({ amount, ...flag })).not.toHaveProperty('test')
})

test('what cannot be told to another window is refused, and what is changed later does not count', () => {
  const circle: { itself?: unknown } = {}
  circle.itself = circle
  expect(() => settle({ amount, custom: circle })).toThrow(TypeError)
  const custom = { order: 1, at: new Date(0), call: () => 'nobody' }
  const settled = settle({ amount, custom })
  custom.order = 2
  expect(settled.custom).toEqual({ order: 1, at: '1970-01-01T00:00:00.000Z' })
})
