import fc from 'fast-check'
import { expect, test } from 'vitest'
import { majorText, minorOf, parseMajor } from './money.ts'

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

test.each([
  [{ currency: 'EUR', exponent: 0, value: 1 }, 100],
  [{ currency: 'EUR', exponent: 2, value: 1995 }, 1995],
  [{ currency: 'EUR', exponent: 3, value: 1855 }, 186],
  [{ currency: 'EUR', exponent: 3, value: 1850 }, 185],
  [{ currency: 'EUR', exponent: 30, value: 1 }, 1],
  [{ currency: 'EUR', exponent: 2, value: 0 }, 0],
  [{ currency: 'JPY', exponent: 0, value: 300 }, 300],
  [{ currency: 'JPY', exponent: 2, value: 30_001 }, 301],
  [{ currency: 'KWD', exponent: 0, value: 1 }, 1000],
  [{ currency: 'KWD', exponent: 2, value: 15 }, 150],
  [{ currency: 'ISK', exponent: 0, value: 123 }, 12_300],
  [{ currency: 'EUR', exponent: 2, value: Number.MAX_SAFE_INTEGER }, Number.MAX_SAFE_INTEGER],
  [{ currency: 'EUR', exponent: 1, value: Number.MAX_SAFE_INTEGER }, undefined],
  [{ currency: 'KWD', exponent: 3, value: Number.MAX_SAFE_INTEGER }, Number.MAX_SAFE_INTEGER],
  // As a float this one is rounded to a whole number before anything is rounded up.
  [{ currency: 'EUR', exponent: 17, value: 9_007_199_254_740_991 }, 10],
  [{ currency: 'XXX', exponent: 2, value: 1 }, undefined],
])('%j is %s in minor units', (money, amount) => {
  expect(minorOf(money)).toBe(amount)
})

test('more decimals never make an amount smaller, nor larger by a whole minor unit', () => {
  const values = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })
  fc.assert(
    fc.property(values, fc.integer({ min: 2, max: 30 }), (value, exponent) => {
      const amount = BigInt(minorOf({ currency: 'EUR', exponent, value }) as number)
      const scale = 10n ** BigInt(exponent - 2)
      expect(amount * scale).toBeGreaterThanOrEqual(BigInt(value))
      expect((amount - 1n) * scale).toBeLessThan(BigInt(value))
    }),
  )
})
