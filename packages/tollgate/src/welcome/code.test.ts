import { expect, test } from 'vitest'
import { findCode, visibleText } from './code.ts'

test.each([
  ['Your code is 123456', '123456'],
  ['1234567890 is your code', '1234567890'],
  ['Code:123456.', '123456'],
  ['(012345)', '012345'],
  ['Enter this:\n\n654321\n', '654321'],
  ['验证码123456，请勿泄露', '123456'],
  ['Follow https://example.com/verify?token=111111 or enter 222222.', '222222'],
  ['Dear +4520304050, enter 222222', '222222'],
])('of %j the code is %s', (text, code) => {
  expect(findCode(text)).toBe(code)
})

test.each([
  'No code here',
  '12345',
  '12345678901',
  'Call +4520304050',
  'https://example.com/123456',
  'example.com/123456',
  'ann.123456@example.com',
  '123456@example.com',
  'Paid 1,234567.50',
  'Paid 123456.50',
  'a1b2c3-123456-d4',
  'Order A123456',
  'color: #123456',
  '&#123456;',
])('%j brings no code', (text) => {
  expect(findCode(text)).toBeUndefined()
})

test('of HTML only what a reader sees counts', () => {
  const html = `<title>111111</title><style>p { order: 222222 }</style><script>333333</script>
<a href="/x?444444" data-number="555555">Go</a><p>Enter <b>666666</b></p>`
  expect(findCode(visibleText(html))).toBe('666666')
})

test('tags that are opened a hundred thousand times and never closed take no time', () => {
  const started = performance.now()
  for (const tag of ['<', '<style', '<a href="', '</style']) findCode(visibleText(tag.repeat(100_000)))
  expect(performance.now() - started).toBeLessThan(1_000)
})
