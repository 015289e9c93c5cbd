import { expect, test } from 'vitest'
import { personOf } from './person.ts'

const claims = {
  sub: '11111111-1111-4111-8111-111111111111',
  exp: 2_000_000_000,
  aud: 'authenticated',
  role: 'authenticated',
  email: 'ann@example.com',
  is_anonymous: false,
}
const expected = { audience: 'authenticated', issuer: undefined }

test('a person is known by their address in lower case', () => {
  expect(personOf({ ...claims, email: 'Ann@Example.com' }, expected)).toEqual({ email: 'ann@example.com', name: null })
})

test.each([
  [{ full_name: 'Ann O', name: 'Annie' }, 'Ann O'],
  [{ full_name: ' ', name: 'Annie' }, 'Annie'],
  [{ name: ' Ann\r\n\0O ' }, 'Ann O'],
  [{ name: 'x'.repeat(300) }, 'x'.repeat(200)],
  [{ name: '🦊'.repeat(201) }, '🦊'.repeat(200)],
  [{ name: '\ud800' }, '\ufffd'],
  [{ name: { first: 'Ann' } }, null],
  [{ name: 7 }, null],
  [null, null],
  ['Ann', null],
  [undefined, null],
])('whoever says %j is called %j', (metadata, name) => {
  expect(personOf({ ...claims, user_metadata: metadata }, expected)).toMatchObject({ name })
})

test.each([
  ['expires never', { exp: undefined }, 'expires'],
  ['is for another audience', { aud: 'shop' }, 'audience'],
  ['is for other audiences', { aud: ['shop', 'authenticated '] }, 'audience'],
  ['has no audience', { aud: undefined }, 'audience'],
  ['is a service key', { role: 'service_role' }, 'role'],
  ['is an admin', { role: 'supabase_admin' }, 'role'],
  ['is the public key of a site', { role: 'anon' }, 'role'],
  ['has no role', { role: undefined }, 'role'],
  ['has a role of another type', { role: ['authenticated'] }, 'role'],
  ['is anonymous', { is_anonymous: true }, 'has not said who'],
  ['is oddly anonymous', { is_anonymous: 'false' }, 'has not said who'],
  ['has no address', { email: undefined }, 'email'],
  ['has an empty address', { email: '' }, 'email'],
  ['has several addresses', { email: ['ann@example.com'] }, 'email'],
  ['has an address that only looks like one', { email: '\u212Aate@example.com' }, 'email'],
])('a token that %s gives nobody access', (_, changed, reason) => {
  expect(personOf({ ...claims, ...changed }, expected)).toEqual({ refused: expect.stringContaining(reason) })
})

test('one of several audiences is enough, and an issuer counts where one is expected', () => {
  expect(personOf({ ...claims, aud: ['shop', 'authenticated'] }, expected)).toMatchObject({ email: 'ann@example.com' })
  const strict = { ...expected, issuer: 'https://auth.test' }
  expect(personOf({ ...claims, iss: 'https://auth.test' }, strict)).toMatchObject({ email: 'ann@example.com' })
  for (const iss of [undefined, 'https://auth.test/', 'https://evil.test'])
    expect(personOf({ ...claims, iss }, strict)).toEqual({ refused: expect.stringContaining('issuer') })
})
