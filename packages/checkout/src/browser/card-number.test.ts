import { expect, test } from 'vitest'
import { deleteAcross, digitsOf, groupDigits, groupTyped, numberProblem, schemeOf } from './card-number.ts'

/** `4100 0|` is a text with its caret. */
const typed = (picture: string) => ({ text: picture.replace('|', ''), caret: picture.indexOf('|') })
const picture = ({ text, caret }: { text: string; caret: number }) => `${text.slice(0, caret)}|${text.slice(caret)}`

test.each([
  ['4100000000000000', '4100 0000 0000 0000'],
  ['41000000000000001234', '4100 0000 0000 0000 123'],
  ['378282246310005', '3782 822463 10005'],
  ['41', '41'],
  ['', ''],
])('%s is written %s', (digits, grouped) => {
  expect(groupDigits(digits)).toBe(grouped)
})

test.each([
  ['4|', '4|'],
  ['4100|', '4100|'],
  ['41000|', '4100 0|'],
  ['4100 9|000 1', '4100 9|000 1'],
  ['4100 99|000 1', '4100 99|00 01'],
  ['4|1000', '4|100 0'],
  ['|41000', '|4100 0'],
  ['41005| 0000', '4100 5|000 0'],
  ['410|0 0', '410|0 0'],
  ['4100-0000-0000-0000|', '4100 0000 0000 0000|'],
  ['  4100.0000\t0000 0000|  ', '4100 0000 0000 0000|'],
  ['card: 4100|', '4100|'],
])('after typing %s stands %s', (before, after) => {
  expect(picture(groupTyped(typed(before)))).toBe(after)
})

test.each([
  ['4100 |0000', 'Backspace', '410|0 000'],
  ['4100| 1234', 'Delete', '4100 |234'],
])('%s and %s leaves %s', (before, key, after) => {
  expect(picture(deleteAcross(typed(before), key as 'Delete') ?? { text: '', caret: 0 })).toBe(after)
})

test('deleting a digit is left to the browser', () => {
  expect(deleteAcross(typed('4100 1|'), 'Backspace')).toBeUndefined()
  expect(deleteAcross(typed('|4100'), 'Delete')).toBeUndefined()
})

test.each([
  ['4', 'visa'],
  ['51', 'mastercard'],
  ['2221', 'mastercard'],
  ['2720', 'mastercard'],
  ['2721', undefined],
  ['34', 'other'],
  ['6011', 'other'],
  ['1000', undefined],
])('%s is %s', (digits, scheme) => {
  expect(schemeOf(digits)).toBe(scheme)
})

test.each([
  ['', 'numberMissing'],
  ['4100', 'numberIncomplete'],
  ['378282246310005', 'schemeUnsupported'],
  ['4111111111111112', 'numberInvalid'],
  ['4111111111111111', undefined],
  ['5555555555554444', undefined],
  ['1000000000000000', 'schemeUnsupported'],
])('the number %j of a real card: %s', (digits, problem) => {
  expect(numberProblem(digits, { test: false })).toBe(problem)
})

test('test cards need no check digit', () => {
  expect(['4100000000000000', '1000000000000000'].map((each) => numberProblem(each, { test: true }))).toEqual([
    undefined,
    undefined,
  ])
})

test('whatever is no digit is no part of a number', () => {
  expect(digitsOf('4100\u00a00000–x')).toBe('41000000')
})
