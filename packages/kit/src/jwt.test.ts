import { inspect } from 'node:util'
import fc from 'fast-check'
import { importJWK, jwtVerify, SignJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import { algorithmNames, hmacToken, type Jwk, makeJwk, publicPart, reasonOf as reasonAt, retired, secret } from './jwt/testing.ts'
import { createKeys, type Keys, signToken } from './jwt.ts'
import { Secret } from './secret.ts'
import { stillClock } from './testing.ts'

const clock = stillClock('2030-01-02T03:04:05.000Z')
const now = clock()
const seconds = now.getTime() / 1000
const claims = { sub: 'a', role: 'authenticated', iat: seconds, exp: seconds + 3600, user_metadata: { name: 'Zoë 🦊: "x"' } }

function reasonOf(keys: Keys, token: string, moment = now): string {
  return reasonAt(keys, token, moment)
}

function headerOf(token: string): unknown {
  return JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString())
}

const unknownKid = 'token is unverifiable: error while executing keyfunc: unrecognized JWT kid'

test('a token is the one that every other library makes', () => {
  const john = { sub: '1234567890', name: 'John Doe', iat: 1516239022 }
  const known =
    'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c'
  expect(signToken(john, new Secret('your-256-bit-secret'))).toBe(known)
  expect(createKeys({ secret: new Secret('your-256-bit-secret') }).verify(known, now)).toEqual(john)
})

test('whatever JSON the claims hold comes back as it went in', () => {
  const keys = createKeys({ secret })
  fc.assert(
    fc.property(fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 5 }), (given) => {
      const { exp, nbf, iat, ...rest } = given
      const token = keys.sign(rest)
      expect(keys.verify(token, now)).toEqual(JSON.parse(JSON.stringify(rest)))
    }),
  )
})

describe.each(algorithmNames)('%s', (algorithm) => {
  const jwk = makeJwk(algorithm, 'now')
  const keys = createKeys({ secret, jwks: { keys: [jwk] } })

  test('a token that is signed is valid and names its key', () => {
    const token = keys.sign(claims)
    expect(headerOf(token)).toEqual({ alg: algorithm, typ: 'JWT', kid: 'now' })
    expect([keys.verify(token, now), keys.verify(token, now)]).toEqual([claims, claims])
  })

  test('jose verifies our tokens, with the published key where there is one', async () => {
    const [published = jwk] = keys.publicJwks().keys
    const { key_ops: _, ...key } = published as Jwk
    for (let round = 0; round < 20; round++) {
      const token = keys.sign({ ...claims, round })
      const { payload } = await jwtVerify(token, await importJWK(key, algorithm), { currentDate: now, algorithms: [algorithm] })
      expect(payload).toEqual({ ...claims, round })
    }
  })

  test('we verify the tokens of jose', async () => {
    const { key_ops: _, ...key } = jwk
    for (let round = 0; round < 20; round++) {
      const header = { alg: algorithm, kid: 'now', extra: { nested: true } }
      const token = await new SignJWT({ ...claims, round }).setProtectedHeader(header).sign(await importJWK(key, algorithm))
      expect(keys.verify(token, now)).toEqual({ ...claims, round })
    }
  })

  test('once another key signs, the old tokens stay valid, with or without the private part; once the key is gone, they do not', () => {
    const token = keys.sign(claims)
    const next = makeJwk('ES256', 'next')
    expect(reasonOf(createKeys({ secret, jwks: [next, retired(jwk)] }), token)).toBe('valid')
    if (algorithm !== 'HS256') expect(reasonOf(createKeys({ secret, jwks: [publicPart(jwk), next] }), token)).toBe('valid')
    // The keys that had verified it remember it; the new ones remember nothing.
    expect(reasonOf(keys, token)).toBe('valid')
    expect(reasonOf(createKeys({ secret, jwks: [next] }), token)).not.toBe('valid')
  })

  test('another key of the same kid and kind does not do', () => {
    const stranger = createKeys({ secret, jwks: [makeJwk(algorithm, 'now')] })
    expect(reasonOf(keys, stranger.sign(claims))).toBe('token signature is invalid: signature is invalid')
  })
})

describe('which key', () => {
  const es = makeJwk('ES256', 'es')
  const keys = createKeys({ secret, keyId: 'main', jwks: [es, retired(makeJwk('HS256', 'hs'))] })

  test.each<[string, string, string]>([
    ['the secret by its kid', hmacToken({ alg: 'HS256', kid: 'main' }, claims), 'valid'],
    ['the secret without kid', hmacToken({ alg: 'HS256' }, claims), 'valid'],
    ['the secret when the kid is unknown', hmacToken({ alg: 'HS256', kid: 'gone' }, claims), 'valid'],
    [
      'the secret under the kid of another symmetric key',
      hmacToken({ alg: 'HS256', kid: 'hs' }, claims),
      'token signature is invalid: signature is invalid',
    ],
    ['an unknown kid', hmacToken({ alg: 'ES256', kid: 'gone' }, claims), `${unknownKid} gone for algorithm ES256`],
    ['no kid', hmacToken({ alg: 'ES256' }, claims), `${unknownKid} <nil> for algorithm ES256`],
    [
      'an endless kid',
      hmacToken({ alg: 'ES256', kid: 'x'.repeat(999) }, claims),
      `${unknownKid} ${'x'.repeat(64)} for algorithm ES256`,
    ],
  ])('%s', (_, token, reason) => {
    expect(reasonOf(keys, token)).toBe(reason)
  })

  test('the secret signs under its kid when there is no set', () => {
    expect(headerOf(createKeys({ secret, keyId: 'main' }).sign(claims))).toEqual({ alg: 'HS256', typ: 'JWT', kid: 'main' })
    expect(headerOf(createKeys({ secret, keyId: '' }).sign(claims))).toEqual({ alg: 'HS256', typ: 'JWT' })
  })

  test('an algorithm that is not accepted is refused although its key is known', () => {
    const strict = createKeys({ secret, jwks: [es], algorithms: ['ES256'] })
    expect(reasonOf(strict, signToken(claims, secret))).toBe('token signature is invalid: signing method HS256 is invalid')
    expect(reasonOf(strict, strict.sign(claims))).toBe('valid')
  })
})

describe('time', () => {
  const expired = 'token has invalid claims: token is expired'
  const early = 'token has invalid claims: token is not valid yet'
  const unissued = 'token has invalid claims: token used before issued'

  test.each<[string, Record<string, unknown>, string]>([
    ['no moments at all', { role: 'service_role' }, 'valid'],
    ['exp a second ahead', { exp: seconds + 1 }, 'valid'],
    ['exp a millisecond ahead', { exp: seconds + 0.001 }, 'valid'],
    ['exp now', { exp: seconds }, expired],
    ['exp a second ago', { exp: seconds - 1 }, expired],
    ['exp zero', { exp: 0 }, expired],
    ['exp in milliseconds by mistake', { exp: seconds * 1000 }, 'valid'],
    ['nbf now', { nbf: seconds }, 'valid'],
    ['nbf a second ahead', { nbf: seconds + 1 }, early],
    ['iat of a clock five minutes ahead', { iat: seconds + 300 }, 'valid'],
    ['iat of a clock further ahead', { iat: seconds + 301 }, unissued],
    ['expired and early', { exp: seconds, nbf: seconds + 1 }, expired],
    ['exp as text', { exp: String(seconds + 9) }, 'token is malformed: could not JSON decode claim: exp is not a number'],
    ['exp null', { exp: null }, 'token is malformed: could not JSON decode claim: exp is not a number'],
    ['nbf as a list', { nbf: [] }, 'token is malformed: could not JSON decode claim: nbf is not a number'],
    ['iat as a flag', { iat: true }, 'token is malformed: could not JSON decode claim: iat is not a number'],
  ])('%s', (_, given, reason) => {
    const keys = createKeys({ secret })
    const token = keys.sign(given)
    expect([reasonOf(keys, token), reasonOf(keys, token)]).toEqual([reason, reason])
  })

  test('a number beyond all numbers is none', () => {
    const token = hmacToken({ alg: 'HS256' }, '{"exp":1e999}')
    expect(reasonOf(createKeys({ secret }), token)).toBe('token is malformed: could not JSON decode claim: exp is not a number')
  })

  test('a token that was valid a moment ago expires on time, and is new when the clock is set back', () => {
    const keys = createKeys({ secret })
    const token = keys.sign({ nbf: seconds, exp: seconds + 10 })
    const at = (milliseconds: number) => reasonOf(keys, token, new Date(now.getTime() + milliseconds))
    expect([at(0), at(9_999), at(10_000), at(10_001), at(0), at(-1), at(0)]).toEqual([
      'valid',
      'valid',
      expired,
      expired,
      'valid',
      early,
      'valid',
    ])
  })

  test('a date that is none makes no token valid that has a moment', () => {
    const keys = createKeys({ secret })
    const nowhen = new Date(Number.NaN)
    expect(reasonOf(keys, keys.sign({ exp: seconds }), nowhen)).toBe(expired)
    expect(reasonOf(keys, keys.sign({ nbf: 0 }), nowhen)).toBe(early)
  })
})

test('claims cannot be changed for those who bring the same token later', () => {
  const keys = createKeys({ secret })
  const token = keys.sign(claims)
  const first = keys.verify(token, now) as { user_metadata: { name: string } }
  expect(() => {
    first.user_metadata.name = 'Eve'
  }).toThrow(TypeError)
  expect(keys.verify(token, now)).toEqual(claims)
})

test('claims may be nested as deep as a token is long', () => {
  const keys = createKeys({ secret })
  const token = hmacToken({ alg: 'HS256' }, `{"deep":${'['.repeat(5000)}${']'.repeat(5000)}}`)
  expect(reasonOf(keys, token)).toBe('valid')
})

describe('the published set', () => {
  test('has the public part of every asymmetric key and nothing else', () => {
    const made = algorithmNames.map((name, index) => (index === 3 ? makeJwk(name) : retired(makeJwk(name))))
    const { keys } = createKeys({ secret, keyId: 'main', jwks: made }).publicJwks()
    expect(keys.map(({ kid, alg, use, key_ops }) => [kid, alg, use, key_ops])).toEqual(
      ['RS256', 'RS512', 'ES256', 'ES512', 'EdDSA'].map((name) => [name, name, 'sig', ['verify']]),
    )
    const names = new Set(keys.flatMap((key) => Object.keys(key)))
    expect([...names].sort()).toEqual(['alg', 'crv', 'e', 'key_ops', 'kid', 'kty', 'n', 'use', 'x', 'y'])
  })

  test('is empty with the secret alone', () => {
    expect(createKeys({ secret, keyId: 'main' }).publicJwks()).toEqual({ keys: [] })
  })
})

test('nothing of a key shows when keys or their problems are printed', () => {
  const made = algorithmNames.map((name, index) => (index === 0 ? makeJwk(name) : retired(makeJwk(name))))
  const keys = createKeys({ secret, jwks: made })
  const problem = (() => {
    try {
      return keys.verify(`${signToken(claims, secret)}x`, now)
    } catch (thrown) {
      return thrown
    }
  })()
  const shown = inspect([keys, problem], { showHidden: true, depth: 99, getters: true }) + JSON.stringify([keys, problem])
  const material = made.flatMap(({ d, p, q, k }) => [d, p, q, k]).filter((part) => part !== undefined)
  for (const part of [secret.reveal(), ...material.map(String)]) expect(shown).not.toContain(part.slice(0, 12))
})
