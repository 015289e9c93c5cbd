import { expect, test } from 'vitest'
import { Contradiction, figuresOf, type Given } from './seed-figures.ts'

const price = { rate: '0.025', flat: { currency: 'EUR', amount: 25 }, dispute: { currency: 'EUR', amount: 1500 } }
const standing = {
  captured: 600,
  capturedGross: 600,
  capturedRateFee: 15,
  returned: 0,
  returnedGross: 0,
  returnedRateFee: 0,
  disputed: 0,
}

function figures(given: Partial<Given>, context: Partial<Parameters<typeof figuresOf>[1]> = {}) {
  const whole = { kind: 'capture' as const, amount: 600, currency: 'EUR', balance: undefined, fee: undefined, ...given }
  const { gross, feeFlat, feeRate, balance } = figuresOf(whole, {
    funding: 'EUR',
    price,
    standing,
    day: '2024-06-28',
    ...context,
  })
  return [gross, feeFlat, feeRate, balance]
}

test.each<[given: Partial<Given>, gross: number, flat: number, rate: number, balance: number]>([
  [{}, 600, 25, 15, 560],
  [{ fee: { flat: 10, rate: 20 } }, 600, 10, 20, 570],
  [{ balance: 570, fee: { flat: 10, rate: 20 } }, 600, 10, 20, 570],
  [{ balance: 570 }, 600, 25, 5, 570],
  [{ balance: 590 }, 600, 10, 0, 590],
  [{ balance: 570, fee: 30 }, 600, 25, 5, 570],
  [{ kind: 'refund', amount: 200 }, 200, 0, -5, -195],
  [{ kind: 'refund', amount: 200, balance: -200 }, 200, 0, 0, -200],
  [{ kind: 'refund', amount: 200, fee: { flat: 3, rate: -4 } }, 200, 3, -4, -199],
  [{ kind: 'refund', amount: 200, balance: -196, fee: -4 }, 200, 0, -4, -196],
  [{ kind: 'dispute', amount: 600 }, 600, 1500, 0, -2100],
  [{ kind: 'dispute', amount: 600, balance: -1600 }, 600, 1000, 0, -1600],
  [{ kind: 'dispute', amount: 600, fee: { flat: 0, rate: 0 } }, 600, 0, 0, -600],
])('what is given holds, and the rest follows: %j', (given, gross, flat, rate, balance) => {
  expect(figures(given)).toEqual([gross, flat, rate, balance])
})

test('the recordings come out as they were', () => {
  const captured = figures({ amount: 500, currency: 'EUR', balance: 3379, fee: { flat: 191, rate: 92 } }, { funding: 'DKK' })
  expect(captured).toEqual([3662, 191, 92, 3379])
  const since = { ...standing, captured: 500, capturedGross: 3662, capturedRateFee: 92 }
  expect(figures({ kind: 'refund', amount: 333 }, { funding: 'DKK', standing: since })).toEqual([2439, 0, -61, -2378])
})

test('another currency is exchanged by the shipped rates, and the rate is told', () => {
  const given = { kind: 'capture' as const, amount: 10_000, currency: 'JPY', balance: undefined, fee: undefined }
  const { gross, rate } = figuresOf(given, { funding: 'EUR', price, standing, day: '2024-06-28' })
  expect(gross).toBe(5816)
  expect(rate).toMatchObject({ from: 'JPY', to: 'EUR', day: '2024-06-28', rate: expect.stringMatching(/^0\.0058/) })
})

test('a rate that figures imply is told in units, whatever decimals the currencies have', () => {
  const given = { kind: 'capture' as const, amount: 10_000, currency: 'JPY', balance: 6000, fee: 0 }
  const { rate } = figuresOf(given, { funding: 'EUR', price, standing, day: '2019-07-01' })
  expect(rate).toEqual({ from: 'JPY', to: 'EUR', rate: '0.006000000000', source: 'seed', day: '2019-07-01' })
})

test.each<[string, Partial<Given>, RegExp]>([
  [
    'fees and balance of another amount',
    { balance: 500, fee: { flat: 0, rate: 0 } },
    /make 500, but its amount is 600 of the same currency/,
  ],
  ['a balance above the amount', { balance: 601 }, /its balance is more than the 600 that it is about/],
  ['a refund that brings money', { kind: 'refund', currency: 'SEK', balance: 5, fee: 0 }, /do not make an amount/],
  ['what no number holds', { currency: 'SEK', balance: Number.MAX_SAFE_INTEGER, fee: 2 }, /do not make an amount/],
  ['a currency without a rate', { currency: 'KPW' }, /there is no rate from KPW to EUR/],
  ['more than can be exchanged', { currency: 'KWD', amount: Number.MAX_SAFE_INTEGER }, /rate from KWD|more than 2\^53-1/],
])('%s cannot be', (_, given, message) => {
  expect(() => figures(given)).toThrow(Contradiction)
  expect(() => figures(given)).toThrow(message)
})
