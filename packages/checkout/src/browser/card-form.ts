import type { Words } from '../languages/words.ts'
import { deleteAcross, digitsOf, groupTyped, numberProblem, schemeOf } from './card-number.ts'
import { element, maybeElement } from './document.ts'
import { type Expiry, expiryProblem, formatExpiry, parseExpiry } from './expiry.ts'
import { type Field, field, firstWrong } from './field.ts'

/** A number that the vault knows already, so that the payer need not type it again. */
export type KnownNumber = { token: object; last4: string }

export type TypedCard = { number: string | KnownNumber; code: string; expiry: Expiry }

export type CardForm = {
  /** What was typed; undefined when something is wrong, which is then shown. */
  read(): TypedCard | undefined
  /** Takes what is secret out of the page, and remembers a number by what the vault calls it. */
  empty(known: KnownNumber | undefined): void
  /** Marks what the payer has to type anew, or leads to where they go on. */
  mark(wrong: 'number' | 'expiry' | 'code' | undefined, text: string): void
  last4(): string
}

export function cardForm(words: Words, { test }: { test: boolean }): CardForm {
  let known: KnownNumber | undefined
  const isKnown = () => number.input.value === '' && known !== undefined
  const number = field('number', (text) => (isKnown() ? undefined : wordOf(numberProblem(digitsOf(text), { test }))))
  const expiry = field('expiry', (text) => wordOf(expiryProblem(text, new Date())))
  const code = field('code', (text) => wordOf(text === '' ? 'codeMissing' : /^\d{3}$/.test(text) ? undefined : 'codeInvalid'))
  const wordOf = (problem: keyof Words | undefined) => problem && words[problem]
  formatNumber(number)
  formatExpiryField(expiry.input)
  code.input.addEventListener('input', () => {
    const digits = digitsOf(code.input.value)
    if (digits !== code.input.value) code.input.value = digits
  })
  maybeElement('fill-in')?.addEventListener('click', () => fillIn([number, expiry, code]))
  return {
    read() {
      if (firstWrong([number, expiry, code])) return undefined
      const parsed = parseExpiry(expiry.input.value)
      const typed = isKnown() ? known : digitsOf(number.input.value)
      return parsed && typed ? { number: typed, code: code.input.value, expiry: parsed } : undefined
    },
    empty(remembered) {
      known = remembered
      number.input.value = ''
      code.input.value = ''
      number.input.placeholder = remembered ? `•••• ${remembered.last4}` : ''
      number.input.dispatchEvent(new Event('input'))
    },
    mark(wrong, text) {
      const marked = { number, expiry, code }
      if (wrong) marked[wrong].complain(text)
      marked[wrong ?? (known ? 'code' : 'number')].input.focus()
    },
    last4: () => (isKnown() ? (known?.last4 ?? '') : digitsOf(number.input.value).slice(-4)),
  }
}

function formatNumber({ input }: Field): void {
  const put = ({ text, caret }: { text: string; caret: number }) => {
    if (text !== input.value) input.value = text
    if (document.activeElement === input) input.setSelectionRange(caret, caret)
    element('number')
      .closest<HTMLElement>('.box')
      ?.setAttribute('data-scheme', schemeOf(digitsOf(text)) ?? '')
  }
  input.addEventListener('input', () => put(groupTyped({ text: input.value, caret: input.selectionStart ?? input.value.length })))
  input.addEventListener('keydown', (event) => {
    const { selectionStart: caret, selectionEnd: end } = input
    if ((event.key !== 'Backspace' && event.key !== 'Delete') || caret === null || caret !== end) return
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const shorter = deleteAcross({ text: input.value, caret }, event.key)
    if (!shorter) return
    event.preventDefault()
    put(shorter)
  })
}

function formatExpiryField(input: HTMLInputElement): void {
  input.addEventListener('input', (event) => {
    const atEnd = input.selectionStart === null || input.selectionStart === input.value.length
    const deleting = event instanceof InputEvent && event.inputType.startsWith('delete')
    // In the middle of it nobody wants to be helped; what is meant is read all the same.
    if (atEnd) input.value = formatExpiry(input.value, { deleting })
  })
  input.addEventListener('blur', () => {
    const { month, year } = parseExpiry(input.value) ?? {}
    if (month && year) input.value = `${String(month).padStart(2, '0')} / ${String(year).slice(-2)}`
  })
}

function fillIn([number, expiry, code]: readonly [Field, Field, Field]): void {
  const year = String(new Date().getFullYear() + 3).slice(-2)
  const values: readonly [Field, string][] = [
    [number, '4100000000000000'],
    [expiry, `12 / ${year}`],
    [code, '123'],
  ]
  for (const [each, value] of values) {
    each.input.value = value
    each.input.dispatchEvent(new Event('input'))
    each.clear()
  }
  element('pay').focus()
}
