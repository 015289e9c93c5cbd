import { makeJwk, publicPart } from '@tollgate/kit/jwt/testing'
import { expect, test } from 'vitest'
import { settings } from '../config.ts'

const database = { PAY_DB_DATABASE_URL: 'postgres://somewhere' }
const complaints = (env: Record<string, string>) => {
  try {
    settings.read({ ...database, ...env })
    return []
  } catch (problem) {
    return (problem as { complaints: string[] }).complaints
  }
}

test('people need not be let in', () => {
  const { people } = settings.read(database).config
  expect(people).toEqual({ secret: undefined, keys: undefined, keysUrl: undefined, audience: 'authenticated', issuer: undefined })
})

test('public keys are read once, and of private ones the public part', () => {
  const own = makeJwk('ES256', 'own')
  const { people } = settings.read({
    ...database,
    PAY_JWT_KEYS: JSON.stringify([own, publicPart(makeJwk('RS256', 'other'))]),
  }).config
  expect(people.keys?.reveal().map((key) => [key.kid, key.verifying.type, 'signing' in key])).toEqual([
    ['own', 'public', false],
    ['other', 'public', false],
  ])
})

test.each([
  ['no JSON', 'PAY_JWT_KEYS', 'x'],
  ['an empty set', 'PAY_JWT_KEYS', '{"keys":[]}'],
  ['a key without a kid', 'PAY_JWT_KEYS', '[{"kty":"EC"}]'],
  ['a weak secret', 'PAY_JWT_KEYS', '[{"kty":"oct","kid":"a","k":"AAAA"}]'],
  ['no address', 'PAY_JWT_JWKS_URL', 'somewhere'],
  ['an address without TLS', 'PAY_JWT_JWKS_URL', 'http://auth.example.com/keys'],
])('%s is complained about by name', (_, name, value) => {
  expect(complaints({ [name]: value })).toEqual([expect.stringMatching(new RegExp(`^${name} must`))])
})

test('a secret that can be found by trying is refused where money is real, without a letter of it', () => {
  const short = { PAY_JWT_SECRET: 'swordfish swordfish swordfish 1' }
  expect(complaints(short)).toEqual([
    expect.stringMatching(
      /^PAY_JWT_SECRET must have 32 bytes or more, not 31: whoever sees a token can find a shorter one by trying\./,
    ),
  ])
  expect(complaints(short).join()).not.toContain('swordfish')
  expect(complaints({ ...short, PAY_ENV: 'development' })).toEqual([])
  expect(complaints({ PAY_JWT_SECRET: 'x'.repeat(32) })).toEqual([])
})

test('keys may be read without TLS where private addresses are allowed', () => {
  expect(
    complaints({ PAY_JWT_JWKS_URL: 'http://127.0.0.1:8081/.well-known/jwks.json', PAY_SECURITY_ALLOW_PRIVATE_ADDRESSES: 'true' }),
  ).toEqual([])
})

test('mail needs a sender and a link as soon as there is a mail server', () => {
  expect(complaints({})).toEqual([])
  expect(complaints({ PAY_SMTP_HOST: 'smtp.test' })).toEqual([
    expect.stringContaining('PAY_SMTP_ADMIN_EMAIL is not set although PAY_SMTP_HOST is set'),
    expect.stringContaining('PAY_SITE_URL is not set although PAY_SMTP_HOST is set'),
  ])
})
