import { expect, test } from 'vitest'
import { signToken } from './jwt.ts'
import { Secret } from './secret.ts'

test('a token is the one that every other library makes', () => {
  const claims = { sub: '1234567890', name: 'John Doe', iat: 1516239022 }
  expect(signToken(claims, new Secret('your-256-bit-secret'))).toBe(
    'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c',
  )
})

test('claims may hold any character', () => {
  const [, claims = ''] = signToken({ name: 'Zoë 🦊' }, new Secret('x')).split('.')
  expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toEqual({ name: 'Zoë 🦊' })
})
