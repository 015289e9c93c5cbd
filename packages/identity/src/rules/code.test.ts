import { createSecretKey, randomBytes } from 'node:crypto'
import { Secret } from '@tollgate/kit/secret'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hashCode, hashLinkToken, isProvedToken, mostAttempts, newCode, newLinkToken } from './code.ts'

test.each([6, 7, 8, 9, 10])('a code of %i digits has as many, also when it begins with zeros', (digits) => {
  const codes = Array.from({ length: 500 }, () => newCode(digits))
  for (const code of codes) expect(code).toMatch(new RegExp(`^\\d{${digits}}$`))
  expect(codes.some((code) => code.startsWith('0'))).toBe(true)
})

test('every digit is as frequent as any other, in every place', () => {
  const codes = Array.from({ length: 10_000 }, () => newCode(6))
  for (let place = 0; place < 6; place++) {
    for (let digit = 0; digit < 10; digit++) {
      const count = codes.filter((code) => code[place] === String(digit)).length
      // Six standard deviations: wrong once in half a billion.
      expect(Math.abs(count - 1000)).toBeLessThan(180)
    }
  }
})

test('five guesses of the shortest code leave a chance of five in a million', () => {
  expect(mostAttempts / 10 ** 6).toBeLessThanOrEqual(0.000_005)
})

test('what a link carries cannot be guessed, and tells whether a client will prove that it began', () => {
  expect(newLinkToken(false)).toMatch(/^[0-9a-f]{56}$/)
  expect(newLinkToken(true)).toMatch(/^pkce_[0-9a-f]{56}$/)
  expect([isProvedToken(newLinkToken(true)), isProvedToken(newLinkToken(false))]).toEqual([true, false])
  expect(['', 'pkce', 'PKCE_ab', ' pkce_ab'].some(isProvedToken)).toBe(false)
  expect(new Set(Array.from({ length: 1000 }, () => newLinkToken(false))).size).toBe(1000)
})

test('a link token is kept as its SHA-256', () => {
  expect(hashLinkToken('abc')).toBe('ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0')
})

const key = new Secret(createSecretKey(randomBytes(32)))

test('the hash of a code is another for another address, code or key', () => {
  fc.assert(
    fc.property(
      fc.string(),
      fc.string(),
      fc.stringMatching(/^\d{6,10}$/),
      fc.stringMatching(/^\d{6,10}$/),
      (to, else_, code, guess) => {
        expect(hashCode(key, to, code)).toBe(hashCode(new Secret(key.reveal()), to, code))
        expect(hashCode(key, to, code) === hashCode(key, else_, code)).toBe(to === else_)
        expect(hashCode(key, to, code) === hashCode(key, to, guess)).toBe(code === guess)
      },
    ),
  )
  expect(hashCode(key, 'ann@site.test', '123456')).not.toBe(
    hashCode(new Secret(createSecretKey(randomBytes(32))), 'ann@site.test', '123456'),
  )
})

test('what ends an address and begins a code cannot be moved', () => {
  expect(hashCode(key, '451234', '5678901')).not.toBe(hashCode(key, '45123456', '78901'))
})
