import { approvedStatus, codeByStatus } from './gateway-status.ts'
import type { ProcessingCode } from './processing-errors.ts'

/** What the simulator makes of payments with a card. `by amount`: the amount says, see `codeByAmount`. */
export type Fate = 'approved' | 'by amount' | ProcessingCode

export type TestCard = { number: string; scheme: 'visa' | 'mastercard'; fate: Fate }

/**
 * The cards that test merchants can be paid with. The simulator sees the first six and the last four digits alone, so no two cards of
 * different fates share these. Numbers of ours fail the check digit: nobody can have been given such a card.
 */
export const testCards: readonly TestCard[] = [
  { number: '4100000000000000', scheme: 'visa', fate: 'approved' },
  // These two begin like no network's cards. They have to be of one.
  { number: '1000000000000000', scheme: 'visa', fate: 'approved' },
  { number: '1000100010001000', scheme: 'visa', fate: 'approved' },
  { number: '5100000000000000', scheme: 'mastercard', fate: 'approved' },

  // The last two digits are the processing error.
  { number: '4100000000000003', scheme: 'visa', fate: 3 },
  { number: '4100000000000004', scheme: 'visa', fate: 4 },
  { number: '4100000000000005', scheme: 'visa', fate: 5 },
  { number: '4100000000000006', scheme: 'visa', fate: 6 },
  { number: '4100000000000007', scheme: 'visa', fate: 7 },
  { number: '4100000000000008', scheme: 'visa', fate: 8 },
  { number: '4100000000000009', scheme: 'visa', fate: 9 },
  { number: '4100000000000010', scheme: 'visa', fate: 10 },
  { number: '4100000000000011', scheme: 'visa', fate: 11 },
  { number: '4100000000000012', scheme: 'visa', fate: 12 },
  { number: '4100000000000025', scheme: 'visa', fate: 25 },
  { number: '4100000000000029', scheme: 'visa', fate: 29 },
  { number: '4100000000000030', scheme: 'visa', fate: 30 },
  { number: '4100000000000031', scheme: 'visa', fate: 31 },

  // Published as test cards by others, so it does not matter that their check digits are right.
  { number: '4012111111111111', scheme: 'visa', fate: 'approved' },
  { number: '4200000000000000', scheme: 'visa', fate: 'by amount' },
  { number: '5555555555554444', scheme: 'mastercard', fate: 'by amount' },
]

/** Families of test cards: first six and last four digits. What stands between is free, as long as the check digit is wrong. */
const families = [
  { bin: '420000', last4: '0000', scheme: 'visa' },
  { bin: '555555', last4: '4444', scheme: 'mastercard' },
] as const

const byNumber: ReadonlyMap<string, TestCard> = new Map(testCards.map((card) => [card.number, card]))

const fates: ReadonlyMap<string, Fate> = new Map([
  ...testCards.map(({ number, fate }) => [number.slice(0, 6) + number.slice(-4), fate] as const),
  ...families.map(({ bin, last4 }) => [bin + last4, 'by amount'] as const),
])

/** The test card of a number, in which spaces do not matter. Undefined for every other number: it may be somebody's real one. */
export function findTestCard(written: string): TestCard | undefined {
  const number = written.replaceAll(' ', '')
  const listed = byNumber.get(number)
  if (listed) return listed
  const family = families.find(({ bin, last4 }) => number.startsWith(bin) && number.endsWith(last4))
  if (!family || !/^[0-9]{16}$/.test(number) || hasRightCheckDigit(number)) return undefined
  return { number, scheme: family.scheme, fate: 'by amount' }
}

/** First six and last four digits of the cards that may be declined for what they are. */
export const oddCards: readonly string[] = [...fates].flatMap(([digits, fate]) => (fate === 'approved' ? [] : [digits]))

/** What becomes of payments with a card of which we know no more than this. Cards that are not in the list are good. */
export function fateOf({ bin, last4 }: { bin: string; last4: string }): Fate {
  return fates.get(bin + last4) ?? 'approved'
}

/** Of cards whose fate is the amount: it is read as a status, of which 20000 alone is an approval. Undefined: approved. */
export function codeByAmount(amount: number): ProcessingCode | undefined {
  return amount === approvedStatus ? undefined : (codeByStatus[amount] ?? 3)
}

/** Luhn's: every second digit from the right counts twice, and the digits of all that add up to a multiple of ten. */
export function hasRightCheckDigit(number: string): boolean {
  const digits = Array.from(number, Number).reverse()
  const sum = digits.reduce((sum, digit, place) => sum + (place % 2 === 0 ? digit : digit < 5 ? 2 * digit : 2 * digit - 9), 0)
  return sum % 10 === 0
}
