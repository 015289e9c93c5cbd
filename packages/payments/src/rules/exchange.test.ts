import fc from 'fast-check'
import { expect, test } from 'vitest'
import { exponentOf } from './currencies.ts'
import { convert, isStale, type Rate, type RateSet, rateBetween } from './exchange.ts'

const largest = Number.MAX_SAFE_INTEGER

function rateOf(from: string, to: string, rate: string): Rate {
  return { from, to, rate, source: 'test', day: '2030-01-01' }
}

test.each([
  // The capture and the refund of the recordings.
  [500, 'EUR', 'DKK', '7.324', 3662],
  [333, 'EUR', 'DKK', '7.324', 2439],
  // Exponents of 0 and 3.
  [1000, 'EUR', 'JPY', '171.94', 1719],
  [1719, 'JPY', 'EUR', '0.00581598', 1000],
  [1000, 'EUR', 'KWD', '0.3298', 3298],
  [1500, 'KWD', 'JPY', '512.345', 769],
  [1, 'JPY', 'KWD', '0.001952', 2],
  // Two decimals here, whatever it has elsewhere.
  [100, 'EUR', 'ISK', '148.90', 14_890],
  // Half a unit goes away from zero, on both sides of it.
  [1, 'EUR', 'USD', '0.5', 1],
  [3, 'EUR', 'USD', '0.5', 2],
  [-1, 'EUR', 'USD', '0.5', -1],
  [1, 'EUR', 'USD', '0.499999999999', 0],
  [-1, 'EUR', 'USD', '0.4', 0],
  [0, 'EUR', 'USD', '1.07', 0],
  // 1.005 is less than itself as a float.
  [100, 'EUR', 'USD', '1.005', 101],
  [largest, 'EUR', 'EUR', '1', largest],
  [largest, 'JPY', 'EUR', '0.01', largest],
])('%i %s in %s at %s is %i', (amount, from, to, rate, result) => {
  expect(convert(amount, rateOf(from, to, rate))).toBe(result)
})

test('what becomes too large to be exact is refused', () => {
  expect(() => convert(largest, rateOf('EUR', 'USD', '1.0000000000000002'))).toThrow('more than 2^53-1')
  expect(() => convert(largest, rateOf('EUR', 'KWD', '0.3'))).toThrow(RangeError)
  expect(() => convert(-largest, rateOf('EUR', 'JPY', '171.94'))).toThrow('more than 2^53-1')
})

test.each([1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])('%s is no amount', (amount) => {
  expect(() => convert(amount, rateOf('EUR', 'USD', '1'))).toThrow('must be a whole number')
})

test.each(['', '-1', '1e3', '1.', '.5', '1,07', ' 1', 'NaN', '0x1'])('%j is no rate', (rate) => {
  expect(() => convert(1, rateOf('EUR', 'USD', rate))).toThrow('is not a rate')
})

test('what is no currency cannot be exchanged', () => {
  expect(() => convert(1, rateOf('EUR', 'XXX', '1'))).toThrow('XXX is not a currency')
})

const currencies = fc.constantFrom('EUR', 'USD', 'JPY', 'KWD', 'ISK', 'IDR')

/** Between 0.01 and 20000, as the real ones are. */
const perEuro = fc.integer({ min: 10_000, max: 20_000_000_000 }).map((millionths) => (millionths / 1_000_000).toFixed(6))

const set: fc.Arbitrary<RateSet> = fc.tuple(perEuro, perEuro, perEuro, perEuro, perEuro).map(([usd, jpy, kwd, isk, idr]) => ({
  source: 'test',
  day: '2030-01-01',
  perEuro: new Map([
    ['USD', usd],
    ['JPY', jpy],
    ['KWD', kwd],
    ['ISK', isk],
    ['IDR', idr],
  ]),
}))

const rate = fc.tuple(set, currencies, currencies).map((given) => rateBetween(...given) as Rate)
const amount = fc.integer({ min: 0, max: 1_000_000 })

/** Minor units of the one for a minor unit of the other, as exactly as a float can. */
function minorRate({ from, to, rate: text }: Rate): number {
  return (Number(text) * 10 ** (exponentOf(to) ?? 0)) / 10 ** (exponentOf(from) ?? 0)
}

/** Both sides of `result = amount × rate` in whole numbers of the same, very small unit, so that they can be compared exactly. */
function exactly(given: number, { from, to, rate: text }: Rate, result: number): { wanted: bigint; got: bigint; unit: bigint } {
  const [whole = '', fraction = ''] = text.split('.')
  const unit = 10n ** BigInt(fraction.length + (exponentOf(from) ?? 0))
  return {
    wanted: BigInt(given) * BigInt(whole + fraction) * 10n ** BigInt(exponentOf(to) ?? 0),
    got: BigInt(result) * unit,
    unit,
  }
}

test('no whole number is nearer to the truth than the one that comes out', () => {
  fc.assert(
    fc.property(rate, amount, (between, given) => {
      const { wanted, got, unit } = exactly(given, between, convert(given, between))
      const off = 2n * (got - wanted)
      expect(off > -unit && off <= unit).toBe(true)
    }),
  )
})

test('there and back is the same but for what was rounded', () => {
  fc.assert(
    fc.property(set, currencies, currencies, amount, (known, from, to, given) => {
      const there = rateBetween(known, from, to) as Rate
      const back = convert(convert(given, there), rateBetween(known, to, from) as Rate)
      expect(Math.abs(back - given)).toBeLessThanOrEqual(0.5 / minorRate(there) + 0.5 + 1e-3)
    }),
  )
})

test('more is never less afterwards', () => {
  fc.assert(
    fc.property(rate, amount, amount, (between, one, other) => {
      const [less, more] = [Math.min(one, other), Math.max(one, other)]
      expect(convert(less, between)).toBeLessThanOrEqual(convert(more, between))
    }),
  )
})

test('parts and their sum differ by one at most', () => {
  fc.assert(
    fc.property(rate, amount, amount, (between, one, other) => {
      const apart = convert(one, between) + convert(other, between)
      expect(Math.abs(apart - convert(one + other, between))).toBeLessThanOrEqual(1)
    }),
  )
})

test('what is owed is exchanged like what is owned', () => {
  fc.assert(
    fc.property(rate, amount, (between, given) => {
      expect(convert(-given, between) + convert(given, between)).toBe(0)
    }),
  )
})

const known: RateSet = {
  source: 'test',
  day: '2024-06-28',
  perEuro: new Map([
    ['USD', '1.0705'],
    ['JPY', '171.94'],
    ['IDR', '17487.21'],
    ['DKK', '7.4500'],
    ['SEK', '14.9'],
  ]),
}

test.each([
  ['EUR', 'USD', '1.0705'],
  ['USD', 'EUR', '0.9341429238673517'],
  ['USD', 'JPY', '160.61653432975245'],
  ['JPY', 'USD', '0.006226009072932418'],
  ['IDR', 'EUR', '0.00005718465095346828'],
  ['EUR', 'EUR', '1'],
  ['USD', 'USD', '1'],
  ['EUR', 'BGN', '1.95583'],
  ['HRK', 'EUR', '0.1327228084146261'],
  ['DKK', 'SEK', '2'],
])('%s in %s is %s', (from, to, rate) => {
  expect(rateBetween(known, from, to)).toEqual({ from, to, rate, source: 'test', day: '2024-06-28' })
})

test('rates through the euro are right to fifteen digits', () => {
  fc.assert(
    fc.property(set, currencies, currencies, (given, from, to) => {
      const of = (currency: string) => scaled(currency === 'EUR' ? '1' : (given.perEuro.get(currency) ?? ''))
      const off = scaled((rateBetween(given, from, to) as Rate).rate) * of(from) - of(to) * scaled('1')
      expect((off < 0n ? -off : off) * 10n ** 15n <= of(to) * scaled('1')).toBe(true)
    }),
  )
})

/** With forty decimals, none of which is ever used up. */
function scaled(text: string): bigint {
  const [whole = '', fraction = ''] = text.split('.')
  return BigInt(whole + fraction.padEnd(40, '0'))
}

test('a currency that the set does not have has no rate', () => {
  expect(rateBetween(known, 'EUR', 'KWD')).toBeUndefined()
  expect(rateBetween(known, 'KWD', 'EUR')).toBeUndefined()
  expect(rateBetween(known, 'KWD', 'KWD')).toBeUndefined()
  expect(rateBetween(known, 'XXX', 'EUR')).toBeUndefined()
})

test.each([
  ['2030-01-01T00:00:00Z', 7, false],
  ['2030-01-08T23:59:59Z', 7, false],
  ['2030-01-09T00:00:00Z', 7, true],
  ['2029-12-31T00:00:00Z', 7, false],
  ['2030-01-02T23:59:59Z', 1, false],
  ['2030-01-03T00:00:00Z', 1, true],
  ['2050-01-01T00:00:00Z', 0, false],
])('on %s, with %i days allowed, a rate of the first of January is stale: %s', (now, maxAge, stale) => {
  expect(isStale(rateOf('EUR', 'USD', '1.07'), new Date(now), maxAge)).toBe(stale)
})

test('what stays in its currency is never stale', () => {
  expect(isStale(rateOf('EUR', 'EUR', '1'), new Date('2050-01-01T00:00:00Z'), 7)).toBe(false)
})
