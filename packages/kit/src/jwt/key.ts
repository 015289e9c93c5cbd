import { createPrivateKey, createPublicKey, createSecretKey, type JsonWebKey, type KeyObject } from 'node:crypto'
import { type AlgorithmName, algorithms } from './algorithms.ts'
import { bytesOf, type Members } from './encoding.ts'
import { KeyProblem } from './problem.ts'

/** What others need to verify our tokens. */
export type PublicJwk = Readonly<Record<string, string | readonly string[]>> & { readonly kid: string }

export type Key = {
  kid?: string | undefined
  algorithm: AlgorithmName
  verifying: KeyObject
  /** Missing where we have only the public part. */
  signing?: KeyObject | undefined
  /** Missing for a symmetric key: whoever can verify with it can sign with it. */
  published?: PublicJwk
}

/** A key that nothing can be signed with. */
export type VerifyingKey = Omit<Key, 'signing'>

export type SigningKey = Key & { signing: KeyObject }

type Kind = { algorithms: readonly [AlgorithmName, ...AlgorithmName[]]; open: readonly string[]; hidden: readonly string[] }

const kinds: Readonly<Record<string, Kind>> = {
  RSA: { algorithms: ['RS256', 'RS512'], open: ['n', 'e'], hidden: ['d', 'p', 'q', 'dp', 'dq', 'qi'] },
  'EC P-256': { algorithms: ['ES256'], open: ['x', 'y'], hidden: ['d'] },
  'EC P-521': { algorithms: ['ES512'], open: ['x', 'y'], hidden: ['d'] },
  'OKP Ed25519': { algorithms: ['EdDSA'], open: ['x'], hidden: ['d'] },
  oct: { algorithms: ['HS256'], open: [], hidden: ['k'] },
}

const minimumRsaBits = 2048
const minimumRsaExponent = 65_537n
/** HS256 needs a key as long as its digest (RFC 7518, 3.2). */
const minimumSecretBytes = 32

export function secretKey(secret: string | Buffer, kid: string | undefined): SigningKey {
  const key = createSecretKey(typeof secret === 'string' ? Buffer.from(secret) : secret)
  return { kid, algorithm: 'HS256', verifying: key, signing: key }
}

/** The key that a JWK with this kid holds. Throws what is wrong with it as the rest of a sentence that begins with the key's name. */
export function readKey(jwk: Members, kid: string): Key {
  const kind = kindOf(jwk)
  const algorithm = kind.algorithms.find((name) => name === (jwk.alg ?? kind.algorithms[0]))
  if (!algorithm) throw new KeyProblem(`must have the alg ${kind.algorithms.join(' or ')}`)
  if (jwk.kty === 'oct') return readSecret(jwk, kid)

  const open = { kty: jwk.kty, ...(jwk.kty === 'RSA' ? {} : { crv: jwk.crv }), ...take(jwk, kind.open) }
  const verifying = load(() => createPublicKey({ key: open as JsonWebKey, format: 'jwk' }))
  if (jwk.kty === 'RSA') checkStrength(verifying)
  const signing = readPrivate(jwk, kind, open)
  const key = { kid, algorithm, verifying, signing, published: publish(verifying, kid, algorithm) }
  if (signing && !isPair(key, jwk)) throw new KeyProblem('has a private part that does not belong to its public part')
  return key
}

function kindOf({ kty, crv }: Members): Kind {
  const name = kty === 'EC' || kty === 'OKP' ? `${kty} ${crv}` : String(kty)
  const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined
  if (!kind) throw new KeyProblem('must be of kty RSA, EC (crv P-256 or P-521), OKP (crv Ed25519) or oct')
  return kind
}

function readSecret(jwk: Members, kid: string): Key {
  const bytes = Buffer.from(take(jwk, ['k']).k ?? '', 'base64url')
  if (bytes.length < minimumSecretBytes) throw new KeyProblem(`is weak: k must hold at least ${minimumSecretBytes} bytes`)
  return secretKey(bytes, kid)
}

function readPrivate(jwk: Members, kind: Kind, open: object): KeyObject | undefined {
  if (!kind.hidden.some((name) => name in jwk)) return undefined
  const key = { ...open, ...take(jwk, kind.hidden) }
  return load(() => createPrivateKey({ key: key as JsonWebKey, format: 'jwk' }))
}

/** Only the members that the kind knows, so that nothing else in the JWK can change what the key is. */
function take(jwk: Members, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.map((name) => {
      const value = jwk[name]
      if (value === undefined) throw new KeyProblem(`lacks the member ${name}`)
      if (typeof value !== 'string' || value === '' || !bytesOf(value)) throw new KeyProblem(`must have base64url in ${name}`)
      return [name, value]
    }),
  )
}

function load(make: () => KeyObject): KeyObject {
  try {
    return make()
  } catch {
    throw new KeyProblem('has numbers that make no key of its kind')
  }
}

function checkStrength({ asymmetricKeyDetails: { modulusLength = 0, publicExponent = 0n } = {} }: KeyObject): void {
  if (modulusLength < minimumRsaBits) throw new KeyProblem(`is weak: an RSA key must have at least ${minimumRsaBits} bits`)
  if (publicExponent < minimumRsaExponent) throw new KeyProblem(`is weak: e must be at least ${minimumRsaExponent}`)
}

/** OpenSSL takes the two parts on trust, so the proof is that one verifies what the other signs. */
function isPair({ algorithm, verifying, signing }: Key, jwk: Members): boolean {
  const proof = 'proof'
  try {
    const { sign, verify } = algorithms[algorithm]
    return signing !== undefined && verify(proof, verifying, sign(proof, signing)) && (jwk.kty !== 'RSA' || isRsaPair(jwk))
  } catch {
    return false
  }
}

/** RSA signs with the factors and never looks at d, so its proof says nothing about that. */
function isRsaPair(jwk: Members): boolean {
  const [n, e, d, p, q] = ['n', 'e', 'd', 'p', 'q'].map((name) => numberOf(String(jwk[name]))) as [
    bigint,
    bigint,
    bigint,
    bigint,
    bigint,
  ]
  return p * q === n && (e * d) % (p - 1n) === 1n && (e * d) % (q - 1n) === 1n
}

function numberOf(text: string): bigint {
  return BigInt(`0x${Buffer.from(text, 'base64url').toString('hex')}`)
}

function publish(key: KeyObject, kid: string, algorithm: AlgorithmName): PublicJwk {
  const { kty, ...numbers } = key.export({ format: 'jwk' }) as Record<string, string>
  return Object.freeze({ kty: String(kty), kid, alg: algorithm, use: 'sig', key_ops: Object.freeze(['verify']), ...numbers })
}
