import { algorithms } from './algorithms.ts'
import { type Claims, checkTimes, readClaims } from './claims.ts'
import { decodeBytes, encode, type Members, readMembers } from './encoding.ts'
import type { Key } from './key.ts'
import { TokenProblem } from './problem.ts'
import { createVerified } from './verified.ts'

/** No header that an HTTP server lets in is longer. */
const longest = 16 * 1024

/** The names that JWA registers for signatures. One that is none of them is not worth repeating to the caller. */
const registered = /^(none|EdDSA|(HS|RS|ES|PS)(256|384|512))$/

/** What verifies tokens: by the key that a token names, or else by the fallback where the token is signed in its way. */
export function createVerifying({
  keys,
  fallback,
  accepted,
}: {
  keys: readonly Key[]
  fallback: Key | undefined
  accepted: ReadonlySet<string>
}) {
  const all = [...(fallback ? [fallback] : []), ...keys]
  const byKid = new Map(all.flatMap((key) => (key.kid === undefined ? [] : [[key.kid, key] as const])))
  // Nearly every token that comes in is one of ours, whose header we know by heart.
  const byHeader = new Map(all.filter(({ algorithm }) => accepted.has(algorithm)).map((key) => [headerOf(key), key]))
  const verified = createVerified()

  function keyFor({ alg, kid, ...rest }: Members): Key {
    // An extension that must be understood and is not: RFC 7515, 4.1.11. All else in the header (jwk, jku, x5c) is not even looked at.
    if ('crit' in rest) throw new TokenProblem('unverifiable', 'critical header parameters are not supported')
    if (typeof alg !== 'string') throw new TokenProblem('unverifiable', 'signing method (alg) is unspecified')
    if (!registered.test(alg)) throw new TokenProblem('unverifiable', 'signing method (alg) is unavailable')
    if (!accepted.has(alg)) throw new TokenProblem('signature', `signing method ${alg} is invalid`)
    if (kid !== undefined && typeof kid !== 'string') throw new TokenProblem('malformed', 'kid is not a string')
    const named = kid === undefined ? undefined : byKid.get(kid)
    // The key says how it is used, never the token: a public key must not be taken for the secret of an HMAC.
    if (named && named.algorithm !== alg) throw new TokenProblem('signature', 'key is of invalid type')
    if (named) return named
    if (fallback && alg === fallback.algorithm) return fallback
    const reason = `unrecognized JWT kid ${kid?.slice(0, 64) ?? '<nil>'} for algorithm ${alg}`
    throw new TokenProblem('unverifiable', `error while executing keyfunc: ${reason}`)
  }

  function open(token: string): Claims {
    const [header = '', claims = '', signature, ...more] = token.split('.', 4)
    if (signature === undefined || more.length > 0) {
      throw new TokenProblem('malformed', 'token contains an invalid number of segments')
    }
    const key = byHeader.get(header) ?? keyFor(readMembers(decodeBytes(header, 'header'), 'header'))
    const spoken = decodeBytes(claims, 'claim')
    const proof = decodeBytes(signature, 'signature')
    const signed = token.slice(0, header.length + 1 + claims.length)
    // Before the claims are parsed, so that nobody but the holder of a key can feed the parser.
    if (!algorithms[key.algorithm].verify(signed, key.verifying, proof))
      throw new TokenProblem('signature', 'signature is invalid')
    return readClaims(spoken)
  }

  return {
    verify(token: string, now: Date): Claims {
      if (token.length > longest) throw new TokenProblem('malformed', `token is longer than ${longest} characters`)
      const known = verified.find(token)
      const claims = known ?? open(token)
      try {
        checkTimes(claims, now)
      } catch (problem) {
        verified.drop(token)
        throw problem
      }
      if (!known) verified.keep(token, claims)
      return claims
    },

    lacksKeyOf(token: string): boolean {
      const [header = ''] = token.split('.', 1)
      if (token.length > longest || byHeader.has(header)) return false
      try {
        const { alg, kid } = readMembers(decodeBytes(header, 'header'), 'header')
        return typeof kid === 'string' && !byKid.has(kid) && typeof alg === 'string' && /^(RS|ES|PS|EdDSA)/.test(alg)
      } catch {
        return false
      }
    },
  }
}

export function headerOf({ algorithm, kid }: Key): string {
  return encode({ alg: algorithm, typ: 'JWT', ...(kid === undefined ? {} : { kid }) })
}
