import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseEmail } from './email.ts'

const invalid = { message: 'Unable to validate email address: invalid format' }

test.each([
  ['ada@example.com', 'ada@example.com'],
  ['Ada.Lovelace@EXAMPLE.com', 'ada.lovelace@example.com'],
  [' ada@example.com\n', 'ada@example.com'],
  ['a@b', 'a@b'],
  ['a+tag@b.co', 'a+tag@b.co'],
  [".!#$%&'*+/=?^_`{|}~-@b.co", ".!#$%&'*+/=?^_`{|}~-@b.co"],
  ['a..b.@b.co', 'a..b.@b.co'],
  ['a@xn--bcher-kva.example', 'a@xn--bcher-kva.example'],
  ['a@1.2.3.4', 'a@1.2.3.4'],
  ['a@b-c.d--e', 'a@b-c.d--e'],
  [`a@${'b'.repeat(63)}.co`, `a@${'b'.repeat(63)}.co`],
  [`${'a'.repeat(251)}@b.c`, `${'a'.repeat(251)}@b.c`],
])('%j is %s', (text, email) => {
  expect(parseEmail(text)).toBe(email)
})

test.each(['', ' ', '\t\n'])('%j is no address at all', (text) => {
  expect(parseEmail(text)).toEqual({ message: 'An email address is required' })
})

test('more than 255 bytes are too long, whatever they are', () => {
  const long = { message: 'An email address is too long' }
  expect(parseEmail(`${'a'.repeat(252)}@b.c`)).toEqual(long)
  expect(parseEmail('x'.repeat(256))).toEqual(long)
  expect(parseEmail('\u00fc'.repeat(128))).toEqual(long)
  expect(parseEmail('\u00fc'.repeat(127))).toEqual(invalid)
})

test.each([
  ...['ada', '@', 'a@', '@b', 'a@b@c', 'a b@c', 'a@b c', 'a@-b', 'a@b-', 'a@b-.c', 'a@b.-c', 'a@.b', 'a@b.', 'a@b..c', 'a@b_c'],
  ...[
    '"a b"@c.de',
    'a@[1.2.3.4]',
    'Ada <ada@example.com>',
    'a,b@c.de',
    'a;b@c.de',
    'a(x)@c.de',
    'a\\b@c.de',
    'a:b@c.de',
    'mailto:a@b',
  ],
  ...[
    'ad\u00e4@example.com',
    'ada@b\u00fccher.example',
    'ada@example.com\u0000',
    'ada@example.com\nbcc:x@y',
    'a\r\n@b.c',
    'a@b.c\u200b',
    `a@${'b'.repeat(64)}.co`,
  ],
  ...['\u212a@b.c', 'a@\u0130.com', 'a@b.c,d@e.f', 'a@b.c d@e.f', '\uff41@b.c', 'a@b\uff0ec', 'a@b/c', 'a@b:1', "a@b'c"],
])('%j has no valid format', (text) => {
  expect(parseEmail(text)).toEqual(invalid)
})

test('what is accepted is accepted again, unchanged', () => {
  fc.assert(
    fc.property(fc.oneof(fc.emailAddress(), fc.string()), (text) => {
      const email = parseEmail(text)
      if (typeof email === 'string') expect(parseEmail(email)).toBe(email)
    }),
  )
})

test('a text that almost fits is refused in no time', () => {
  const before = performance.now()
  for (let number = 0; number < 1000; number++) parseEmail(`a@${'b-'.repeat(120)}!`)
  parseEmail('a'.repeat(1_000_000))
  expect(performance.now() - before).toBeLessThan(500)
})
