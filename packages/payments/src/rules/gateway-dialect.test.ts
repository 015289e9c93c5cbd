import { expect, test } from 'vitest'
import { fail, unfit } from '../errors.ts'
import { declined } from '../operations/refuse-payment.ts'
import { isForGateway, reasonOf } from './gateway-dialect.ts'

test.each([
  ['/transactions', true],
  ['/transactions/', true],
  ['/cards', true],
  ['/cards/0123456789abcdef01234567', false],
  ['/transactions/0123456789abcdef01234567/captures', false],
  ['/merchants/0123456789abcdef01234567/transactions', false],
  ['/', false],
])('whether %s is a call of old integrations: %s', (path, is) => {
  expect(isForGateway(path)).toBe(is)
})

test('the field that is wrong is told in the first line', () => {
  expect(reasonOf(unfit('custom', 'Must be an object'))).toBe('custom: Must be an object')
  expect(reasonOf(fail('bad_json', { message: 'unexpected end of JSON input' }))).toBe('unexpected end of JSON input')
})

test('no line break and no letter that HTTP has none for gets into the first line', () => {
  const reason = reasonOf(unfit('custom', `ø\r\nSet-Cookie: a=b${'x'.repeat(300)}`))
  expect(reason).toMatch(/^custom: \?\?\?Set-Cookie: a=bx+$/)
  expect(reason).toHaveLength(200)
})

test('a processing error, and whatever is no 400, keeps the phrase that it has', () => {
  expect(reasonOf(declined(7))).toBeUndefined()
  expect(reasonOf(fail('unavailable'))).toBeUndefined()
  expect(reasonOf(fail('not_found'))).toBeUndefined()
})
