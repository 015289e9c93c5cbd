import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { codeByAmount, fateOf, findTestCard, testCards } from './test-cards.ts'

/** Written another way than the rule itself: what a doubled digit adds up to, looked up. */
function passesLuhn(number: string): boolean {
  const doubled = [0, 2, 4, 6, 8, 1, 3, 5, 7, 9]
  let sum = 0
  for (let place = number.length - 1, twice = false; place >= 0; place--, twice = !twice) {
    const digit = Number(number[place])
    sum += twice ? (doubled[digit] as number) : digit
  }
  return sum % 10 === 0
}

const published = ['4012111111111111', '4200000000000000', '5555555555554444']

test('a test card fails the check digit, unless others have published it as one', () => {
  expect(['4111111111111111', '4242424242424242'].every(passesLuhn)).toBe(true)
  expect(testCards.map(({ number }) => number).filter(passesLuhn)).toEqual(published)
})

test.each([['4100 0000 0000 0000'], ['1000 0000 0000 0000'], ['1000 1000 1000 1000'], ['4012 1111 1111 1111']])(
  '%s always succeeds',
  (number) => {
    expect(findTestCard(number)).toMatchObject({ scheme: 'visa', fate: 'approved' })
  },
)

test('there is a card for every way in which a card can be declined', () => {
  const codes = testCards.map(({ fate }) => fate).filter((fate) => typeof fate === 'number')
  expect(codes).toEqual([3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 25, 29, 30, 31])
  for (const { number, fate } of testCards) if (typeof fate === 'number') expect(Number(number.slice(-2))).toBe(fate)
})

test('six digits and four tell every test card’s fate', () => {
  for (const { number, fate } of testCards) expect(fateOf({ bin: number.slice(0, 6), last4: number.slice(-4) })).toBe(fate)
  expect(fateOf({ bin: '411111', last4: '1111' })).toBe('approved')
})

test.each([
  ['a real-looking number', '4111111111111111'],
  ['one of the family with a right check digit', '4200001000080000'],
  ['one of the family that is too short', '4200000000'],
  ['one of the family that is too long', '42000012340000000'],
  ['letters', '420000abcdef0000'],
  ['digits of another script', '420000١٢٣٤٥٦0000'],
  ['dashes', '4100-0000-0000-0000'],
  ['a line break', '4100000000000000\n'],
  ['nothing', ''],
  ['spaces', '   '],
])('%s is no test card', (_, number) => {
  expect(findTestCard(number)).toBeUndefined()
})

test('whatever is taken for a test card fails the check digit or is in the list', () => {
  const middle = fc.stringMatching(/^[0-9]{6}$/)
  const ends = fc.constantFrom(['420000', '0000'], ['555555', '4444'], ['410000', '0000'], ['550000', '0004'])
  fc.assert(
    fc.property(ends, middle, ([bin, last4], digits) => {
      const number = `${bin}${digits}${last4}`
      const card = findTestCard(number)
      if (card) expect(published.includes(number) || !passesLuhn(number)).toBe(true)
      if (bin === '420000' || bin === '555555') expect(card !== undefined || passesLuhn(number)).toBe(true)
      else expect(card === undefined || testCards.includes(card)).toBe(true)
    }),
  )
})

describe('where the amount decides', () => {
  test.each([
    ['4200 0000 0000 0000', 'visa'],
    ['4200 0012 3456 0000', 'visa'],
    ['5555 5555 5555 4444', 'mastercard'],
    ['5555 5500 0000 4444', 'mastercard'],
  ])('%s is such a card', (number, scheme) => {
    expect(findTestCard(number)).toMatchObject({ fate: 'by amount', scheme })
  })

  test.each([
    [40000, 12],
    [40110, 3],
    [40111, 29],
    [40120, 4],
    [40130, 5],
    [40135, 6],
    [40140, 1],
    [40150, 13],
    [40200, 11],
    [40300, 30],
    [40310, 31],
    [40400, 12],
    [40410, 8],
    [40411, 9],
    [40412, 10],
    [40413, 7],
    [40414, 11],
    [40415, 25],
    [40416, 30],
    [40420, 10],
    [50000, 12],
    [20000, undefined],
    [1, 3],
    [40417, 3],
    [Number.MAX_SAFE_INTEGER, 3],
  ])('%d gives %s', (amount, code) => {
    expect(codeByAmount(amount)).toBe(code)
  })
})
