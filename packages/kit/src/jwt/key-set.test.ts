import { generateKeyPairSync } from 'node:crypto'
import { inspect } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createKeys } from '../jwt.ts'
import { Secret } from '../secret.ts'
import { parseKeySet, readKeySet } from './key-set.ts'
import { KeyProblem } from './problem.ts'
import { algorithmNames, type Jwk, makeJwk, publicPart, retired, secret } from './testing.ts'

const made = Object.fromEntries(algorithmNames.map((name) => [name, makeJwk(name)])) as Record<string, Jwk>
const { HS256 = {}, RS256 = {}, ES256 = {}, ES512 = {}, EdDSA = {} } = made
const other = { RS256: makeJwk('RS256'), ES256: makeJwk('ES256'), EdDSA: makeJwk('EdDSA') }

function rsa(modulusLength: number, publicExponent = 65_537): Jwk {
  return { ...generateKeyPairSync('rsa', { modulusLength, publicExponent }).privateKey.export({ format: 'jwk' }), kid: 'weak' }
}

function without(jwk: Jwk, name: string): Jwk {
  return Object.fromEntries(Object.entries(jwk).filter(([each]) => each !== name))
}

function complaint(jwks: unknown): string {
  try {
    readKeySet(jwks)
  } catch (problem) {
    if (problem instanceof KeyProblem) return problem.message
    throw problem
  }
  return 'no complaint'
}

describe('a set is taken', () => {
  test.each<[string, unknown]>([
    ['as an array', [ES256]],
    ['as an object', { keys: [ES256] }],
    ['with a key that is for signatures instead of key_ops', [{ ...without(ES256, 'key_ops'), use: 'sig' }]],
    ['without alg', [without(ES256, 'alg')]],
    ['with members that we do not know', [{ ...ES256, x5t: 'abc', ext: true }]],
    ['with the private part of a key that no longer signs', [ES256, retired(EdDSA)]],
    ['with public parts alone beside the one that signs', [publicPart(EdDSA), ES256, publicPart(RS256)]],
  ])('%s', (_, jwks) => {
    expect(readKeySet(jwks).signer.kid).toBe('ES256')
  })

  test('and an RSA key without alg signs with RS256', () => {
    expect(readKeySet([without(RS256, 'alg')]).signer.algorithm).toBe('RS256')
  })
})

describe('a set is refused with the key and what is wrong with it', () => {
  test.each<[string, unknown, string]>([
    ['no list', 'ES256', 'the key set must be an array of JWKs or an object with such an array in keys'],
    ['null', null, 'the key set must be an array of JWKs or an object with such an array in keys'],
    ['a lone key', ES256, 'the key set must be an array of JWKs or an object with such an array in keys'],
    ['an empty list', { keys: [] }, 'the key set is empty: leave it out to sign with the secret alone'],
    ['no object', [ES256, 7], 'key 1 must be a JSON object'],
    ['no kid', [without(ES256, 'kid')], 'key 0 needs a kid: a token says by it which key has signed'],
    ['an empty kid', [{ ...ES256, kid: '' }], 'key 0 needs a kid: a token says by it which key has signed'],
    ['a kid twice', [ES256, retired({ ...EdDSA, kid: 'ES256' })], 'key 1 (kid "ES256") has the kid of an earlier key'],
    ['nobody signs', [retired(ES256)], 'no key signs: give one private key the key_ops ["sign", "verify"]'],
    [
      'two sign',
      [ES256, RS256],
      'key 0 (kid "ES256") and key 1 (kid "RS256") both sign: leave one and give the other the key_ops ["verify"]',
    ],
    [
      'a public key signs',
      [{ ...publicPart(ES256), key_ops: ['sign'] }],
      'key 0 (kid "ES256") is meant to sign but has no private part',
    ],
    ['for encryption', [{ ...ES256, use: 'enc' }], 'key 0 (kid "ES256") must have the use "sig" or none'],
    [
      'odd key_ops',
      [{ ...ES256, key_ops: ['sign', 'encrypt'] }],
      'key 0 (kid "ES256") must have nothing but "sign" and "verify" in key_ops',
    ],
    [
      'key_ops as text',
      [{ ...ES256, key_ops: 'sign' }],
      'key 0 (kid "ES256") must have nothing but "sign" and "verify" in key_ops',
    ],
    [
      'another curve',
      [{ ...ES256, crv: 'P-384' }],
      'key 0 (kid "ES256") must be of kty RSA, EC (crv P-256 or P-521), OKP (crv Ed25519) or oct',
    ],
    [
      'a kty from the prototype',
      [{ ...ES256, kty: 'constructor' }],
      'key 0 (kid "ES256") must be of kty RSA, EC (crv P-256 or P-521), OKP (crv Ed25519) or oct',
    ],
    ["another kind's alg", [{ ...ES256, alg: 'RS256' }], 'key 0 (kid "ES256") must have the alg ES256'],
    ['an alg we lack', [{ ...RS256, alg: 'PS256' }], 'key 0 (kid "RS256") must have the alg RS256 or RS512'],
    ['HS256 on a public key', [{ ...publicPart(RS256), alg: 'HS256' }], 'key 0 (kid "RS256") must have the alg RS256 or RS512'],
    ['a missing member', [without(ES256, 'y')], 'key 0 (kid "ES256") lacks the member y'],
    ['a missing factor', [without(RS256, 'p')], 'key 0 (kid "RS256") lacks the member p'],
    ['a number as member', [{ ...ES256, d: 5 }], 'key 0 (kid "ES256") must have base64url in d'],
    ['padding', [{ ...ES256, x: `${ES256.x}=` }], 'key 0 (kid "ES256") must have base64url in x'],
    ['a point off the curve', [{ ...ES256, y: other.ES256.y }], 'key 0 (kid "ES256") has numbers that make no key of its kind'],
    ['a short point', [{ ...EdDSA, x: 'AAAA' }], 'key 0 (kid "EdDSA") has numbers that make no key of its kind'],
    [
      'a point of P-521 on P-256',
      [{ ...ES512, crv: 'P-256', alg: 'ES256' }],
      'key 0 (kid "ES512") has numbers that make no key of its kind',
    ],
    [
      "another's EC private part",
      [{ ...ES256, d: other.ES256.d }],
      'key 0 (kid "ES256") has a private part that does not belong to its public part',
    ],
    [
      "another's Ed25519 private part",
      [{ ...EdDSA, d: other.EdDSA.d }],
      'key 0 (kid "EdDSA") has a private part that does not belong to its public part',
    ],
    [
      "another's RSA modulus",
      [{ ...RS256, n: other.RS256.n }],
      'key 0 (kid "RS256") has a private part that does not belong to its public part',
    ],
    [
      "another's RSA exponent",
      [{ ...RS256, d: other.RS256.d }],
      'key 0 (kid "RS256") has a private part that does not belong to its public part',
    ],
    ['RSA with 1024 bits', [rsa(1024)], 'key 0 (kid "weak") is weak: an RSA key must have at least 2048 bits'],
    ['RSA with a small exponent', [rsa(2048, 3)], 'key 0 (kid "weak") is weak: e must be at least 65537'],
    ['RSA with exponent one', [{ ...publicPart(RS256), e: 'AQ' }], 'key 0 (kid "RS256") is weak: e must be at least 65537'],
    ['a short secret', [{ ...HS256, k: 'c2hvcnQ' }], 'key 0 (kid "HS256") is weak: k must hold at least 32 bytes'],
    ['a secret without its secret', [without(HS256, 'k')], 'key 0 (kid "HS256") lacks the member k'],
  ])('%s', (_, jwks, sentence) => {
    expect(complaint(jwks)).toBe(sentence)
  })
})

test('the secret keeps its kid to itself, is not empty, and the key that signs is among the accepted', () => {
  expect(() => createKeys({ secret, keyId: 'ES256', jwks: [ES256] })).toThrow(
    new KeyProblem('a key has the kid of the secret, "ES256"'),
  )
  expect(() => createKeys({ secret: new Secret('') })).toThrow(new KeyProblem('the secret is empty'))
  expect(() => createKeys({ secret, jwks: [ES256], algorithms: ['HS256'] })).toThrow(
    new KeyProblem('ES256 signs but is not among the accepted'),
  )
})

test('as a setting, a good set is a secret and a bad one is told what it should be', () => {
  const good = parseKeySet(JSON.stringify([ES256]))
  expect(good instanceof Secret && good.reveal()).toEqual([ES256])
  expect(inspect(good)).toBe('[secret]')
  expect(parseKeySet(`${JSON.stringify([ES256])}x`)).toEqual({ expected: 'a JWK set in JSON' })
  expect(parseKeySet('[]')).toEqual({
    expected: 'a usable JWK set (the key set is empty: leave it out to sign with the secret alone)',
  })
})

test('whatever is wrong with a set, the complaint is a sentence of ours that holds nothing of a key', () => {
  const jwk = fc.constantFrom(...Object.values(made))
  const value = fc.oneof(fc.jsonValue(), fc.constantFrom('', 'AA', 'AQAB', 'sig', 'RSA', 'EC', 'OKP', 'oct', 'P-256', 'Ed25519'))
  const name = fc.constantFrom('kty', 'crv', 'alg', 'use', 'key_ops', 'n', 'e', 'd', 'p', 'q', 'dp', 'dq', 'qi', 'x', 'y', 'k')
  const material = Object.values(made).flatMap(({ d, p, q, dp, dq, qi, k, x, y, n }) => [d, p, q, dp, dq, qi, k, x, y, n])
  fc.assert(
    fc.property(fc.array(fc.tuple(jwk, name, value), { minLength: 1, maxLength: 2 }), (changes) => {
      const set = changes.map(([key, member, to]) => ({ ...key, [member]: to }))
      try {
        createKeys({ secret, jwks: set })
      } catch (problem) {
        expect(problem).toBeInstanceOf(KeyProblem)
        const shown = inspect(problem, { showHidden: true, depth: 9 })
        for (const part of material) if (typeof part === 'string') expect(shown).not.toContain(part.slice(0, 12))
      }
    }),
    { numRuns: 400 },
  )
})
