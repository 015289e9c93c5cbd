/** The longest number that a card may have. */
const longest = 19

export function digitsOf(text: string): string {
  return text.replace(/\D/g, '')
}

/** Which cards are told apart while their number is typed, so that whoever has another one learns it early. */
export type Scheme = 'visa' | 'mastercard' | 'other'

export function schemeOf(digits: string): Scheme | undefined {
  if (/^4/.test(digits)) return 'visa'
  if (/^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/.test(digits)) return 'mastercard'
  if (/^(?:3|6|5[06-9])/.test(digits)) return 'other'
  return undefined
}

/** In groups as on the card: of four, or as American Express prints them. */
export function groupDigits(digits: string): string {
  const kept = digits.slice(0, longest)
  const groups = /^3[47]/.test(kept) ? /^(\d{0,4})(\d{0,6})(\d{0,9})/.exec(kept)?.slice(1) : kept.match(/\d{1,4}/g)
  return (groups ?? []).filter((group) => group !== '').join(' ')
}

export type Typed = { text: string; caret: number }

/** What somebody typed, in groups, with the caret behind the same digit as before. */
export function groupTyped({ text, caret }: Typed): Typed {
  const grouped = groupDigits(digitsOf(text))
  return { text: grouped, caret: caretAfter(grouped, digitsOf(text.slice(0, caret)).length) }
}

/** Where the caret stands behind so many digits; past the space when there is a digit to come, as if it had been typed. */
function caretAfter(grouped: string, digits: number): number {
  let passed = 0
  let place = 0
  while (place < grouped.length && passed < digits) if (/\d/.test(grouped.charAt(place++))) passed++
  return grouped.charAt(place) === ' ' && passed > 0 ? place + 1 : place
}

/** Without the digit before or behind the caret, where there is a space to jump over: otherwise nobody could delete across it. */
export function deleteAcross({ text, caret }: Typed, key: 'Backspace' | 'Delete'): Typed | undefined {
  const over = key === 'Backspace' ? caret - 1 : caret
  if (text.charAt(over) !== ' ') return undefined
  const digit = key === 'Backspace' ? over - 1 : over + 1
  const digits = digitsOf(text.slice(0, digit)) + digitsOf(text.slice(digit + 1))
  const grouped = groupDigits(digits)
  return { text: grouped, caret: caretAfter(grouped, digitsOf(text.slice(0, digit)).length) }
}

export type NumberProblem = 'numberMissing' | 'numberIncomplete' | 'numberInvalid' | 'schemeUnsupported'

/** Test cards are no real numbers, so that their check digit says nothing. */
export function numberProblem(digits: string, { test }: { test: boolean }): NumberProblem | undefined {
  if (digits === '') return 'numberMissing'
  const scheme = schemeOf(digits)
  if (scheme === 'other') return 'schemeUnsupported'
  if (digits.length < (scheme === 'visa' ? 13 : 16)) return 'numberIncomplete'
  if (test) return undefined
  if (scheme === undefined) return 'schemeUnsupported'
  return hasCheckDigit(digits) ? undefined : 'numberInvalid'
}

/** https://en.wikipedia.org/wiki/Luhn_algorithm */
function hasCheckDigit(digits: string): boolean {
  const sum = [...digits].reverse().reduce((before, digit, index) => {
    const value = Number(digit) * (index % 2 === 0 ? 1 : 2)
    return before + (value > 9 ? value - 9 : value)
  }, 0)
  return sum % 10 === 0
}
