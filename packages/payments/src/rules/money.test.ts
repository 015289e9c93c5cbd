import fc from 'fast-check'
import { expect, test } from 'vitest'
import { majorText, parseMajor } from './money.ts'

test.each([
  [300, 'EUR', '3'],
  [250, 'EUR', '2.5'],
  [995, 'EUR', '9.95'],
  [5, 'EUR', '0.05'],
  [0, 'GBP', '0'],
  [10_000, 'EUR', '100'],
  [300, 'JPY', '300'],
  [0, 'JPY', '0'],
  [1500, 'KWD', '1.5'],
  [1, 'KWD', '0.001'],
  [12_345, 'ISK', '123.45'],
  [-250, 'EUR', '-2.5'],
  [Number.MAX_SAFE_INTEGER, 'EUR', '90071992547409.91'],
])('%i %s is written %s', (amount, currency, text) => {
  expect(majorText(amount, currency)).toBe(text)
})

test.each([
  ['9.95', 'EUR', 995],
  ['9.9', 'EUR', 990],
  ['9', 'EUR', 900],
  ['09.50', 'EUR', 950],
  ['300', 'JPY', 300],
  ['300.00', 'JPY', 300],
  ['1.5', 'KWD', 1500],
  // Multiplied as floats, these two come out one too small.
  ['1.005', 'EUR', 101],
  ['8.165', 'EUR', 817],
  ['1.0049999', 'EUR', 100],
  ['0.4', 'JPY', 0],
  ['90071992547409.91', 'EUR', Number.MAX_SAFE_INTEGER],
  ['90071992547409.92', 'EUR', undefined],
  ['90071992547409.915', 'EUR', undefined],
  ['9007199254740991', 'KWD', undefined],
  ['99999999999999999', 'JPY', undefined],
  ['', 'EUR', undefined],
  ['.5', 'EUR', undefined],
  ['5.', 'EUR', undefined],
  ['-1', 'EUR', undefined],
  ['+1', 'EUR', undefined],
  ['1e3', 'EUR', undefined],
  ['1,50', 'EUR', undefined],
  ['1 000', 'EUR', undefined],
  [' 1', 'EUR', undefined],
  ['1\n', 'EUR', undefined],
  ['0x10', 'EUR', undefined],
  ['NaN', 'EUR', undefined],
  ['١', 'EUR', undefined],
])('%j in %s is %s', (text, currency, amount) => {
  expect(parseMajor(text, currency)).toBe(amount)
})

test('what is written is read back as it was', () => {
  const amounts = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER })
  fc.assert(
    fc.property(amounts, fc.constantFrom('EUR', 'JPY', 'KWD'), (amount, currency) => {
      expect(parseMajor(majorText(amount, currency), currency)).toBe(amount)
    }),
  )
})

test('neither can be asked of something that is no currency or no amount', () => {
  expect(() => majorText(1, 'XXX')).toThrow('XXX is not a currency')
  expect(() => parseMajor('1', 'XXX')).toThrow('XXX is not a currency')
  expect(() => majorText(1.5, 'EUR')).toThrow('not 1.5')
})
