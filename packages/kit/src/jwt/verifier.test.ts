import { createPublicKey, type JsonWebKey } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createKeys, createVerifier, parseVerifyingKeys, readPublishedKeys, type VerifyingKey } from '../jwt.ts'
import { Secret } from '../secret.ts'
import { stillClock } from '../testing.ts'
import { TokenProblem } from './problem.ts'
import { algorithmNames, base64url, besieged, hmacToken, type Jwk, makeJwk, parts, publicPart, secret } from './testing.ts'

const now = stillClock('2030-01-02T03:04:05.000Z')()
const claims = { sub: 'a', exp: now.getTime() / 1000 + 3600 }
const asymmetric = algorithmNames.filter((name) => name !== 'HS256')

function configured(...jwks: Jwk[]): readonly VerifyingKey[] {
  const keys = parseVerifyingKeys(JSON.stringify(jwks))
  if (!(keys instanceof Secret)) throw new Error(keys.expected)
  return keys.reveal()
}

const signed = (jwk: Jwk) => createKeys({ secret, jwks: [jwk] }).sign(claims)

function refusal(verify: () => unknown): string {
  try {
    return `taken: ${JSON.stringify(verify())}`
  } catch (problem) {
    if (problem instanceof TokenProblem) return problem.message
    throw problem
  }
}

describe.each(asymmetric)('%s', (algorithm) => {
  const jwk = makeJwk(algorithm, 'now')

  test('the public part of a key verifies what the key has signed, and cannot sign', () => {
    const [key] = configured(publicPart(jwk))
    expect(createVerifier({ keys: key ? [key] : [] }).verify(signed(jwk), now)).toEqual(claims)
    expect(key?.verifying.type).toBe('public')
    expect(key).not.toHaveProperty('signing')
  })

  test('of a private key nothing private is kept', () => {
    const [key] = configured(jwk)
    expect(key?.verifying.type).toBe('public')
    expect(key).not.toHaveProperty('signing')
  })

  test('its public key cannot be used as a secret', () => {
    const keys = configured(publicPart(jwk))
    const pem = createPublicKey({ key: publicPart(jwk) as JsonWebKey, format: 'jwk' }).export({ type: 'spki', format: 'pem' })
    for (const own of [undefined, secret])
      for (const header of [{ alg: 'HS256', kid: 'now' }, { alg: 'HS256' }, { alg: algorithm, kid: 'now' }])
        expect(refusal(() => createVerifier({ secret: own, keys }).verify(hmacToken(header, claims, pem), now))).not.toContain(
          'taken:',
        )
  })
})

test('a secret alone verifies HS256, whatever kid a token names, and nothing else', () => {
  const verifier = createVerifier({ secret, keys: [] })
  expect(verifier.verify(hmacToken({ alg: 'HS256', kid: 'main' }, claims), now)).toEqual(claims)
  expect(refusal(() => verifier.verify(signed(makeJwk('ES256')), now))).toContain('signing method ES256 is invalid')
  expect(refusal(() => verifier.verify(`${base64url({ alg: 'none' })}.${base64url(claims)}.`, now))).toContain('none is invalid')
})

test('without a secret no HMAC is believed, and without anything nothing at all', () => {
  const tokens = [hmacToken({ alg: 'HS256' }, claims), hmacToken({ alg: 'HS256' }, claims, ''), signed(makeJwk('EdDSA'))]
  for (const keys of [[], configured(publicPart(makeJwk('ES256')))])
    for (const token of tokens) expect(refusal(() => createVerifier({ keys }).verify(token, now))).not.toContain('taken:')
})

test('whatever the keys that sign refuse, those that verify refuse in the same words', () => {
  const { keys, jwks, genuine, admin } = besieged(now)
  const verifier = createVerifier({ secret, keys: configured(...jwks) })
  const strange = genuine.flatMap((token) => {
    const [header, spoken, signature] = parts(token)
    return [
      token,
      `${header}.${base64url(admin)}.${signature}`,
      `${header}.${spoken}.`,
      `${header}.${spoken}`,
      `${token}.x`,
      `${token}=`,
    ]
  })
  for (const token of strange) expect(refusal(() => verifier.verify(token, now))).toBe(refusal(() => keys.verify(token, now)))
})

test('times are checked, of a token that was good before, too', () => {
  const jwk = makeJwk('ES256')
  const verifier = createVerifier({ keys: configured(publicPart(jwk)) })
  const token = signed(jwk)
  expect(verifier.verify(token, now)).toEqual(claims)
  expect(refusal(() => verifier.verify(token, new Date(claims.exp * 1000)))).toBe('token has invalid claims: token is expired')
})

test('where a kid is there twice, the later key counts', () => {
  const [one, other] = [makeJwk('ES256', 'same'), makeJwk('ES256', 'same')]
  const verifier = createVerifier({ keys: [...configured(one), ...configured(other)] })
  expect(verifier.verify(signed(other), now)).toEqual(claims)
  expect(refusal(() => verifier.verify(signed(one), now))).toContain('signature is invalid')
})

test('a key is lacking where a token names a public one that is not here, and nowhere else', () => {
  const verifier = createVerifier({ secret, keys: configured(publicPart(makeJwk('ES256', 'here'))) })
  const lacking = (header: unknown) => verifier.lacksKeyOf(hmacToken(header, claims))
  expect([lacking({ alg: 'ES256', kid: 'new' }), lacking({ alg: 'RS256', kid: 'new' })]).toEqual([true, true])
  for (const header of [
    { alg: 'ES256', kid: 'here' },
    { alg: 'HS256', kid: 'new' },
    { alg: 'ES256' },
    { alg: 'ES256', kid: 7 },
    { kid: 'new' },
    'x',
    [],
  ])
    expect(lacking(header)).toBe(false)
  for (const token of ['', '.', 'é.é.é', `${base64url({ alg: 'ES256', kid: 'x'.repeat(20_000) })}.a.b`])
    expect(verifier.lacksKeyOf(token)).toBe(false)
})

describe('keys that somebody publishes', () => {
  const good = publicPart(makeJwk('ES256', 'good'))

  test.each<[string, unknown]>([
    ['of a kind that we do not know', { kty: 'EC', crv: 'P-384', kid: 'a', x: 'AA', y: 'AA' }],
    ['for encryption', { ...publicPart(makeJwk('RS256', 'a')), key_ops: undefined, use: 'enc' }],
    ['that everybody could sign with', { ...makeJwk('HS256', 'a'), key_ops: ['verify'] }],
    ['without a name', { ...good, kid: undefined }],
    ['with a name that is taken', publicPart(makeJwk('ES256', 'good'))],
    ['whose numbers make no key', { ...good, kid: 'a', x: 'AA' }],
    ['that is none', 7],
    ['that is null', null],
  ])('one %s is left aside', (_, odd) => {
    expect(readPublishedKeys({ keys: [good, odd] }).map(({ kid }) => kid)).toEqual(['good'])
  })

  test('a private part is left aside', () => {
    expect(readPublishedKeys([makeJwk('RS256', 'a')])[0]).not.toHaveProperty('signing')
  })

  test.each([undefined, null, 7, {}, { keys: {} }, { keys: [] }, []])('%j is no set', (jwks) => {
    expect(() => readPublishedKeys(jwks)).toThrow('key set')
  })
})

test.each([
  ['x', 'a JWK set in JSON'],
  ['[]', 'a usable JWK set (the key set is empty'],
  ['[{"kty":"EC","kid":"a"}]', 'key 0 (kid "a") must be of kty'],
  [JSON.stringify([{ ...publicPart(makeJwk('ES256', 'a')), use: 'enc' }]), 'must have the use "sig" or none'],
])('%s is complained about in our own words', (text, expected) => {
  expect(parseVerifyingKeys(text)).toEqual({ expected: expect.stringContaining(expected) })
})
