import { algorithms } from './jwt/algorithms.ts'
import type { Claims } from './jwt/claims.ts'
import { encode, type Members } from './jwt/encoding.ts'
import { type PublicJwk, secretKey, type VerifyingKey } from './jwt/key.ts'
import { readKeySet } from './jwt/key-set.ts'
import { KeyProblem } from './jwt/problem.ts'
import { createVerifying, headerOf } from './jwt/verifying.ts'
import type { Secret } from './secret.ts'

export type { Claims } from './jwt/claims.ts'
export type { PublicJwk, VerifyingKey } from './jwt/key.ts'
export { parseKeySet, parseVerifyingKeys, readPublishedKeys } from './jwt/key-set.ts'
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

/** Signs and verifies tokens. Other keys are another value: what these have verified is forgotten with them. Throws a `KeyProblem`. */
export function createKeys({ secret, keyId, jwks, algorithms: wanted }: KeySettings): Keys {
  if (secret.reveal() === '') throw new KeyProblem('the secret is empty')
  const fallback = secretKey(secret.reveal(), keyId || undefined)
  const set = jwks === undefined ? { keys: [], signer: fallback } : readKeySet(jwks)
  if (set.keys.some(({ kid }) => kid === fallback.kid)) throw new KeyProblem(`a key has the kid of the secret, ${quote(keyId)}`)
  const all = [fallback, ...set.keys]
  const accepted = new Set<string>(all.map(({ algorithm }) => algorithm).filter((name) => !wanted || wanted.includes(name)))
  if (!accepted.has(set.signer.algorithm)) throw new KeyProblem(`${set.signer.algorithm} signs but is not among the accepted`)

  const published = Object.freeze({ keys: Object.freeze(set.keys.flatMap(({ published }) => published ?? [])) })
  const signerHeader = headerOf(set.signer)
  const { verify } = createVerifying({ keys: set.keys, fallback, accepted })

  return {
    sign(claims) {
      const { algorithm, signing } = set.signer
      const signed = `${signerHeader}.${encode(claims)}`
      return `${signed}.${algorithms[algorithm].sign(signed, signing).toString('base64url')}`
    },

    verify,
    publicJwks: () => published,
  }
}

export type Verifier = Pick<Keys, 'verify'> & {
  /** Whether a token names a public key that is not here: newer keys might make a difference to it. */
  lacksKeyOf(token: string): boolean
}

/** Verifies the tokens of somebody else, with their secret, their keys, or both: where a kid is there twice, the later key counts. */
export function createVerifier({ secret, keys }: { secret?: Secret | undefined; keys: readonly VerifyingKey[] }): Verifier {
  const fallback = secret && secretKey(secret.reveal(), undefined)
  const accepted = new Set<string>([...(fallback ? [fallback] : []), ...keys].map(({ algorithm }) => algorithm))
  return createVerifying({ keys, fallback, accepted })
}

/** Signs claims with HS256. */
export function signToken(claims: Members, secret: Secret): string {
  return createKeys({ secret }).sign(claims)
}

function quote(kid: string | undefined): string {
  return JSON.stringify(kid?.slice(0, 64))
}
