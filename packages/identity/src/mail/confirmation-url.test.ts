import fc from 'fast-check'
import { expect, test } from 'vitest'
import { confirmationUrl } from './confirmation-url.ts'

const link = { token: 'abc', type: 'signup', redirectTo: 'https://site.test/a?b=c&d=e#f' }

test.each([
  { externalUrl: 'https://auth.test', path: '/verify', place: 'https://auth.test/verify' },
  { externalUrl: 'https://auth.test/', path: 'verify', place: 'https://auth.test/verify' },
  { externalUrl: 'https://site.test/auth/v1', path: '/verify', place: 'https://site.test/auth/v1/verify' },
  { externalUrl: 'https://site.test/auth/v1/', path: '/verify', place: 'https://site.test/auth/v1/verify' },
  { externalUrl: 'https://site.test/auth/v1', path: '/auth/v1/verify', place: 'https://site.test/auth/v1/verify' },
  { externalUrl: 'https://site.test/verify', path: '/verify', place: 'https://site.test/verify/verify' },
  { externalUrl: 'https://site.test:8443/auth', path: '/authentic', place: 'https://site.test:8443/auth/authentic' },
  { externalUrl: 'https://auth.test', path: '//evil.test/verify', place: 'https://auth.test/evil.test/verify' },
  { externalUrl: 'https://auth.test', path: 'https://site.test/confirm', place: 'https://site.test/confirm' },
])('$path under $externalUrl is $place', ({ externalUrl, path, place }) => {
  const url = new URL(confirmationUrl({ ...link, externalUrl, path }))
  expect(url.origin + url.pathname).toBe(place)
})

test('a path that has a query of its own keeps it', () => {
  expect(confirmationUrl({ ...link, externalUrl: 'https://auth.test', path: '/verify?lang=de' })).toBe(
    'https://auth.test/verify?lang=de&token=abc&type=signup&redirect_to=https%3A%2F%2Fsite.test%2Fa%3Fb%3Dc%26d%3De%23f',
  )
})

test('without a destination none is named', () => {
  expect(confirmationUrl({ externalUrl: 'https://auth.test', path: '/verify', token: 'abc', type: 'invite' })).toBe(
    'https://auth.test/verify?token=abc&type=invite',
  )
})

test('whatever goes in comes out when the link is read', () => {
  const text = fc.string({ unit: 'grapheme', minLength: 1 })
  fc.assert(
    fc.property(text, text, text, (token, type, redirectTo) => {
      const url = new URL(confirmationUrl({ externalUrl: 'https://auth.test/v1', path: '/verify', token, type, redirectTo }))
      expect(Object.fromEntries(url.searchParams)).toEqual({ token, type, redirect_to: redirectTo })
    }),
  )
})
