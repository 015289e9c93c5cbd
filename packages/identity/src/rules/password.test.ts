import fc from 'fast-check'
import { expect, test } from 'vitest'
import { breached, isOverlong, overlongPassword, parseForbiddenWords, passwordProblems, weaknessReport } from './password.ts'

const lower = 'abcdefghijklmnopqrstuvwxyz'
const digits = '0123456789'
const policy = { minLength: 6, requiredCharacters: [], forbiddenWords: [] }

test.each([
  ['', 0, [], ['length']],
  ['12345', 0, [], ['length']],
  ['123456', 0, [], []],
  ['123456', 6, [], []],
  ['1234567', 8, [], ['length']],
  ['12345678', 8, [], []],
  ['ééé', 6, [], []],
  ['éé', 6, [], ['length']],
  ['abcdef1', 6, [lower, digits], []],
  ['abcdefg', 6, [lower, digits], ['characters']],
  ['ABCDEFG', 6, [lower, digits], ['characters']],
  ['A', 6, [lower, digits], ['length', 'characters']],
  ['abcdef:', 6, [':!'], []],
  ['abcdef', 6, [''], []],
  ['pass😀word', 6, ['😀'], []],
  // They share their first half with the one that is asked for.
  ['pass😁word', 6, ['😀'], ['characters']],
])('%j with at least %i of %j: %j', (password, minLength, requiredCharacters, reasons) => {
  expect(passwordProblems(password, { ...policy, minLength, requiredCharacters }).map(({ reason }) => reason)).toEqual(reasons)
})

test('the messages are those that clients know, and a report joins them', () => {
  const problems = passwordProblems('x', { ...policy, minLength: 10, requiredCharacters: ['abc', ':!', digits] })
  expect(weaknessReport([...problems, breached])).toEqual({
    message:
      'Password should be at least 10 characters. Password should contain at least one character of each: abc, :!, 0123456789. ' +
      'Password is known to be weak and easy to guess, please choose a different one.',
    reasons: ['length', 'characters', 'pwned'],
  })
})

test.each([
  ['ILoveRockets', true],
  ['rOCKETeer77', true],
  ['rock-et-science', false],
  ['Ångström-1', true],
])('a word that is forbidden anywhere in a password, in capitals or not, refuses it: %s', (password, refused) => {
  const forbiddenWords = parseForbiddenWords(' Rocket , ångström,,') as string[]
  const reasons = passwordProblems(password, { ...policy, forbiddenWords }).map(({ reason }) => reason)
  expect(reasons).toEqual(refused ? ['words'] : [])
})

test('a forbidden word that almost every password has is a mistake', () => {
  expect(parseForbiddenWords('rocket,a')).toEqual({ expected: 'words of at least 3 letters, divided by commas' })
  expect(parseForbiddenWords('')).toEqual([])
})

test('a minimum below six is six, in the message, too', () => {
  expect(passwordProblems('12345', { ...policy, minLength: 1 })).toEqual([
    { reason: 'length', message: 'Password should be at least 6 characters.' },
  ])
})

test('72 bytes are the most, however many characters they are', () => {
  expect(
    ['x'.repeat(72), 'x'.repeat(73), 'é'.repeat(36), 'é'.repeat(37), '😀'.repeat(18), '😀'.repeat(19)].map(isOverlong),
  ).toEqual([false, true, false, true, false, true])
  expect(overlongPassword).toBe('Password cannot be longer than 72 characters')
})

test('a password that holds one character of each set lacks none', () => {
  const sets = fc.array(fc.string({ minLength: 1, unit: 'grapheme' }), { minLength: 1, maxLength: 5 })
  fc.assert(
    fc.property(sets, fc.string(), (requiredCharacters, rest) => {
      const password = requiredCharacters.map((set) => [...set].at(-1)).join('') + rest
      const reasons = passwordProblems(password, { ...policy, requiredCharacters }).map(({ reason }) => reason)
      expect(reasons).not.toContain('characters')
    }),
  )
})
