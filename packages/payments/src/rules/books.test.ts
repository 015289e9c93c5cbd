import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type Account,
  capturePostings,
  disputeLostPostings,
  disputePostings,
  disputeWonPostings,
  type Posting,
  payoutPostings,
  refundPostings,
} from './books.ts'

/** Debits less credits, by account and currency. */
function balances(postings: readonly Posting[]): Record<string, number> {
  const sums: Record<string, number> = {}
  const add = (account: Account, currency: string, amount: number) => {
    sums[`${account} ${currency}`] = (sums[`${account} ${currency}`] ?? 0) + amount
  }
  for (const { debit, credit, currency, amount } of postings) {
    add(debit, currency, amount)
    add(credit, currency, -amount)
  }
  return Object.fromEntries(Object.entries(sums).filter(([, sum]) => sum !== 0))
}

const dollars = { amount: 500, currency: 'USD', gross: 460, funding: 'EUR' }

test('a capture in another currency goes through the exchange, and its fees are the merchant’s to pay', () => {
  expect(balances(capturePostings(dollars, { flat: 25, rate: 12 }))).toEqual({
    'acquirer USD': 500,
    'exchange USD': -500,
    'exchange EUR': 460,
    'merchant EUR': -423,
    'fees EUR': -37,
  })
})

test('a refund of all of it leaves the flat fee and nothing else', () => {
  const came = capturePostings(dollars, { flat: 25, rate: 12 })
  const went = refundPostings(dollars, { rate: 12, rounding: { gross: 0, rate: 0 } })
  expect(balances([...came, ...went])).toEqual({ 'merchant EUR': 25, 'fees EUR': -25 })
})

test('what a part is adjusted by is kept apart, and takes nothing from fees or exchange', () => {
  const went = refundPostings(dollars, { rate: 12, rounding: { gross: 1, rate: -1 } })
  expect(balances(went)).toMatchObject({ 'merchant EUR': 448, 'exchange EUR': -459, 'rounding EUR': -2, 'fees EUR': 13 })
})

test('a dispute that is won leaves no trace; one that is lost is paid from what was set aside', () => {
  const opened = disputePostings(460, 1500, 'EUR')
  expect(balances(opened)).toEqual({ 'merchant EUR': 1960, 'reserve EUR': -460, 'fees EUR': -1500 })
  expect(balances([...opened, ...disputeWonPostings(460, 1500, 'EUR')])).toEqual({})
  expect(balances([...opened, ...disputeLostPostings(dollars)])).toEqual({
    'merchant EUR': 1960,
    'fees EUR': -1500,
    'exchange EUR': -460,
    'exchange USD': 500,
    'acquirer USD': -500,
  })
})

test('a payout empties what we owe', () => {
  expect(balances(payoutPostings(700, 'EUR'))).toEqual({ 'merchant EUR': 700, 'payouts EUR': -700 })
})

test('no posting is of nothing, and all of them sum to zero in every currency', () => {
  const amount = fc.integer({ min: 0, max: 10_000 })
  fc.assert(
    fc.property(
      amount,
      amount,
      amount,
      amount,
      fc.boolean(),
      fc.integer({ min: -5, max: 5 }),
      (sum, gross, flat, rate, foreign, left) => {
        const exchanged = { amount: sum, currency: foreign ? 'USD' : 'EUR', gross: foreign ? gross : sum, funding: 'EUR' }
        const all = [
          ...capturePostings(exchanged, { flat, rate }),
          ...refundPostings(exchanged, { rate, rounding: { gross: foreign ? left : 0, rate: left } }),
          ...disputePostings(gross, flat, 'EUR'),
          ...disputeLostPostings(exchanged),
        ]
        expect(all.every(({ amount: each, debit, credit }) => each > 0 && debit !== credit)).toBe(true)
        const perCurrency: Record<string, number> = {}
        for (const [name, value] of Object.entries(balances(all))) {
          const currency = name.split(' ')[1] ?? ''
          perCurrency[currency] = (perCurrency[currency] ?? 0) + value
        }
        expect(Object.values(perCurrency).every((value) => value === 0)).toBe(true)
      },
    ),
  )
})
