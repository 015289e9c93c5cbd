import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseCodeChallenge, verifierMatches } from './code-challenge.ts'

const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'
const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'

describe('what is asked for', () => {
  const both = 'PKCE flow requires code_challenge_method and code_challenge'
  const length = 'code challenge has to be between 43 and 128 characters'
  const letters = 'code challenge can only contain alphanumeric characters, hyphens, periods, underscores and tildes'

  test('nothing', () => {
    expect([parseCodeChallenge(), parseCodeChallenge('', ''), parseCodeChallenge(undefined, '')]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })

  test.each(['s256', 'S256', 'plain', 'PLAIN', 'Plain'])('the method %s', (method) => {
    expect(parseCodeChallenge(challenge, method)).toEqual({ challenge, method: method.toLowerCase() })
  })

  test.each([43, 128])('a challenge of %d characters', (count) => {
    expect(parseCodeChallenge('a'.repeat(count), 's256')).toEqual({ challenge: 'a'.repeat(count), method: 's256' })
  })

  test.each([
    [challenge, '', both],
    ['', 's256', both],
    ['short', '', both],
    ['short', 's256', length],
    ['!', 'md5', length],
    ['a'.repeat(42), 's256', length],
    ['a'.repeat(129), 's256', length],
    [`${'a'.repeat(43)}=`, 's256', letters],
    [`${'a'.repeat(43)}+`, 's256', letters],
    [`${'a'.repeat(43)} `, 'md5', letters],
    [`${'a'.repeat(43)}\n`, 's256', letters],
    [`${'a'.repeat(43)}\u00e9`, 's256', letters],
    [challenge, 'md5', 'Invalid code_challenge_method'],
    [challenge, ' s256', 'Invalid code_challenge_method'],
  ])('%j by %j: %s', (given, method, message) => {
    expect(parseCodeChallenge(given, method)).toEqual({ message })
  })
})

describe('the proof', () => {
  test('is the one of the standard', () => {
    expect(verifierMatches({ challenge, method: 's256' }, verifier)).toBe(true)
  })

  test('of a plain challenge is the challenge', () => {
    expect(verifierMatches({ challenge, method: 'plain' }, challenge)).toBe(true)
    expect(verifierMatches({ challenge, method: 'plain' }, verifier)).toBe(false)
  })

  test('is not the challenge itself, an empty text, or a changed verifier', () => {
    for (const wrong of [challenge, '', `${verifier}x`, verifier.slice(1), verifier.toUpperCase()])
      expect(verifierMatches({ challenge, method: 's256' }, wrong)).toBe(false)
  })

  test('holds for the verifier that the challenge was made of, and for no other', () => {
    const text = fc.stringMatching(/^[A-Za-z0-9._~-]{43,128}$/)
    fc.assert(
      fc.property(text, text, (own, other) => {
        const made = { challenge: createHash('sha256').update(own).digest('base64url'), method: 's256' as const }
        expect(verifierMatches(made, own)).toBe(true)
        expect(verifierMatches(made, other)).toBe(own === other)
      }),
    )
  })
})
