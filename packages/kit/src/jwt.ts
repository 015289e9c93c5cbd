import { algorithms } from './jwt/algorithms.ts'
import { type Claims, checkTimes, readClaims } from './jwt/claims.ts'
import { decodeBytes, encode, type Members, readMembers } from './jwt/encoding.ts'
import { type Key, type PublicJwk, secretKey } from './jwt/key.ts'
import { readKeySet } from './jwt/key-set.ts'
import { KeyProblem, TokenProblem } from './jwt/problem.ts'
import { createVerified } from './jwt/verified.ts'
import type { Secret } from './secret.ts'

export type { Claims } from './jwt/claims.ts'
export type { PublicJwk } from './jwt/key.ts'
export { parseKeySet } from './jwt/key-set.ts'
export { KeyProblem, type TokenFault, TokenProblem } from './jwt/problem.ts'

export type KeySettings = {
  /** Signs with HS256 when there is no set; verifies HS256 tokens that name no key of the set, always. */
  secret: Secret
  /** The secret's kid. */
  keyId?: string | undefined
  /** A JWK set, or the array in it: one key signs, the others go on verifying what they signed before. */
  jwks?: unknown
  /** Accept only these; otherwise those of all keys and the secret's. */
  algorithms?: readonly string[] | undefined
}

export type Keys = {
  sign(claims: Members): string
  /** What the token says, frozen; or throws a `TokenProblem`, and never anything else. */
  verify(token: string, now: Date): Claims
  /** For `/.well-known/jwks.json`. */
  publicJwks(): { readonly keys: readonly PublicJwk[] }
}

/** No header that an HTTP server lets in is longer. */
const longest = 16 * 1024

/** The names that JWA registers for signatures. One that is none of them is not worth repeating to the caller. */
const registered = /^(none|EdDSA|(HS|RS|ES|PS)(256|384|512))$/

/** Signs and verifies tokens. Other keys are another value: what these have verified is forgotten with them. Throws a `KeyProblem`. */
export function createKeys({ secret, keyId, jwks, algorithms: wanted }: KeySettings): Keys {
  if (secret.reveal() === '') throw new KeyProblem('the secret is empty')
  const fallback = secretKey(secret.reveal(), keyId || undefined)
  const set = jwks === undefined ? { keys: [], signer: fallback } : readKeySet(jwks)
  if (set.keys.some(({ kid }) => kid === fallback.kid)) throw new KeyProblem(`a key has the kid of the secret, ${quote(keyId)}`)
  const all = [fallback, ...set.keys]
  const accepted = new Set<string>(all.map(({ algorithm }) => algorithm).filter((name) => !wanted || wanted.includes(name)))
  if (!accepted.has(set.signer.algorithm)) throw new KeyProblem(`${set.signer.algorithm} signs but is not among the accepted`)

  const byKid = new Map(all.flatMap((key) => (key.kid === undefined ? [] : [[key.kid, key] as const])))
  // Nearly every token that comes in is one of ours, whose header we know by heart.
  const byHeader = new Map(all.filter(({ algorithm }) => accepted.has(algorithm)).map((key) => [headerOf(key), key]))
  const published = Object.freeze({ keys: Object.freeze(set.keys.flatMap(({ published }) => published ?? [])) })
  const signerHeader = headerOf(set.signer)
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
    if (alg === fallback.algorithm) return fallback
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
    sign(claims) {
      const { algorithm, signing } = set.signer
      const signed = `${signerHeader}.${encode(claims)}`
      return `${signed}.${algorithms[algorithm].sign(signed, signing).toString('base64url')}`
    },

    verify(token, now) {
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

    publicJwks: () => published,
  }
}

/** Signs claims with HS256. */
export function signToken(claims: Members, secret: Secret): string {
  return createKeys({ secret }).sign(claims)
}

function headerOf({ algorithm, kid }: Key): string {
  return encode({ alg: algorithm, typ: 'JWT', ...(kid === undefined ? {} : { kid }) })
}

function quote(kid: string | undefined): string {
  return JSON.stringify(kid?.slice(0, 64))
}
