import { expect, test } from 'vitest'
import { settleEmail } from './email.ts'

test.each([
  ['ann@example.com', 'ann@example.com'],
  [' Ann.O+Shop@Example.COM ', 'ann.o+shop@example.com'],
  ['ann@localhost', 'ann@localhost'],
])('%j is %s', (text, email) => {
  expect(settleEmail(text)).toBe(email)
})

test.each([
  '',
  'ann',
  'ann@',
  '@example.com',
  'ann@example.com, eve@example.com',
  'ann@example.com\r\nBcc: eve@example.com',
  'ann@exa mple.com',
  'ann\0@example.com',
  'änn@example.com',
  // The Kelvin sign, which becomes a plain k in lower case.
  '\u212Aate@example.com',
  `${'a'.repeat(250)}@example.com`,
])('%j is no address', (text) => {
  expect(settleEmail(text)).toBeUndefined()
})
