import { findTestCard } from './test-cards.ts'

export type Scheme = 'visa' | 'mastercard'

/** As payers are told which cards they can use. */
export const supportedSchemes = 'Visa or Mastercard'

/** Networks whose cards are known, so that a payer can be told, but not taken: by how their numbers begin. */
const others: readonly (readonly [name: string, digits: RegExp])[] = [
  ['American Express', /^3[47]/],
  ['Diners Club', /^3(?:0[0-5]|[689])/],
  ['JCB', /^35(?:2[89]|[3-8])/],
  ['Discover', /^6(?:011|4[4-9]|5)/],
  ['UnionPay', /^62/],
  ['Dankort', /^5019/],
  ['Maestro', /^(?:5[06-8]|6)/],
]

/** The network of a card. Test merchants have cards besides that no network ever made. */
export function schemeOf(number: string, { test }: { test: boolean }): Scheme | { unsupported: string } | 'unknown' {
  const known = test ? findTestCard(number)?.scheme : undefined
  if (known) return known
  if (/^4/.test(number)) return 'visa'
  if (/^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/.test(number)) return 'mastercard'
  const other = others.find(([, digits]) => digits.test(number))
  return other ? { unsupported: other[0] } : 'unknown'
}
