import { expect, test } from 'vitest'
import { schemeOf } from './card-scheme.ts'

test.each([
  ['4111111111111111', 'visa'],
  ['5105105105105100', 'mastercard'],
  ['2221000000000009', 'mastercard'],
  ['2720990000000000', 'mastercard'],
  ['2220990000000000', 'unknown'],
  ['2721000000000000', 'unknown'],
  ['378282246310005', { unsupported: 'American Express' }],
  ['30569309025904', { unsupported: 'Diners Club' }],
  ['3530111333300000', { unsupported: 'JCB' }],
  ['6011111111111117', { unsupported: 'Discover' }],
  ['6200000000000005', { unsupported: 'UnionPay' }],
  ['5019717010103742', { unsupported: 'Dankort' }],
  ['6759649826438453', { unsupported: 'Maestro' }],
  ['9999999999999999', 'unknown'],
  ['1000000000000000', 'unknown'],
])('%s is of %j', (number, scheme) => {
  expect(schemeOf(number, { test: false })).toEqual(scheme)
})

test('test merchants know cards that no network made', () => {
  expect(schemeOf('1000000000000000', { test: true })).toBe('visa')
})
