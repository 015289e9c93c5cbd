import { expect, test } from 'vitest'
import { changedPaths } from './changed-paths.ts'

const kept = {
  currency: 'EUR',
  test: false,
  bank: {},
  company: { country: 'DK', number: '7' },
  pricing: { flat: { amount: 25 } },
}

test.each([
  [{}, []],
  [{ currency: 'EUR', test: false, company: { country: 'DK' }, bank: {}, pricing: { flat: { amount: 25 } } }, []],
  [{ currency: 'DKK', test: true }, ['currency', 'test']],
  [{ company: { country: 'SE', number: '7' } }, ['company.country']],
  [{ bank: { iban: 'DK5000400440116243' } }, ['bank.iban']],
  [{ pricing: { flat: { amount: 24 } } }, ['pricing.flat.amount']],
  [{ company: 'DK' }, ['company']],
  [{ currency: { country: 'DK' } }, ['currency']],
  [{ constructor: Object, toString: 1 }, ['constructor', 'toString']],
])('%j differs in %j', (given, paths) => {
  expect(changedPaths(given, kept)).toEqual(paths)
})
