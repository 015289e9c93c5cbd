import { expect, test } from 'vitest'
import { isHeaderName, parseHeaderNames } from './header-names.ts'

test.each([
  ['X-Forwarded-For', true],
  ['cf_connecting.ip~1', true],
  ['', false],
  ['X Forwarded', false],
  ['X:Y', false],
  ['X-Größe', false],
  ['X\r\nSet-Cookie', false],
])('"%s" can be a header: %s', (text, can) => {
  expect(isHeaderName(text)).toBe(can)
})

test('a list is taken when every name in it can be a header', () => {
  expect(parseHeaderNames('X-A, X-B,')).toEqual(['X-A', 'X-B'])
  expect(parseHeaderNames('X-A, X B')).toBeUndefined()
})
