import { createHmac, generateKeyPairSync, randomBytes } from 'node:crypto'
import { createKeys, type Keys } from '../jwt.ts'
import { Secret } from '../secret.ts'
import { type AlgorithmName, algorithms } from './algorithms.ts'
import { TokenProblem } from './problem.ts'

export type Jwk = Record<string, unknown>

export const algorithmNames = Object.keys(algorithms) as AlgorithmName[]
export const secret = new Secret('a-secret-of-the-tests-with-more-than-32-bytes')

const makers: Record<AlgorithmName, () => object> = {
  HS256: () => ({ kty: 'oct', k: randomBytes(32).toString('base64url') }),
  RS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' }),
  RS512: () => generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' }),
  ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' }),
  ES512: () => generateKeyPairSync('ec', { namedCurve: 'P-521' }).privateKey.export({ format: 'jwk' }),
  EdDSA: () => generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }),
}

/** A key that signs, as an operator would write it into the set. */
export function makeJwk(algorithm: AlgorithmName, kid: string = algorithm): Jwk {
  return { ...makers[algorithm](), alg: algorithm, kid, key_ops: ['sign', 'verify'] }
}

/** The same key once another one signs. */
export function retired(jwk: Jwk): Jwk {
  return { ...jwk, key_ops: ['verify'] }
}

export function publicPart(jwk: Jwk): Jwk {
  const hidden = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k']
  return { ...Object.fromEntries(Object.entries(jwk).filter(([name]) => !hidden.includes(name))), key_ops: ['verify'] }
}

export function base64url(part: unknown): string {
  return Buffer.from(typeof part === 'string' ? part : JSON.stringify(part)).toString('base64url')
}

/** A token with any header and claims, signed with HMAC, whatever its header says. */
export function hmacToken(header: unknown, claims: unknown, key: string | Buffer = secret.reveal(), hash = 'sha256'): string {
  const signed = `${base64url(header)}.${base64url(claims)}`
  return `${signed}.${createHmac(hash, key).update(signed).digest('base64url')}`
}

/** Why a token is refused, or `valid`. Whatever is thrown but a problem of the token is a bug. */
export function reasonOf(keys: Keys, token: string, now: Date): string {
  try {
    keys.verify(token, now)
  } catch (problem) {
    if (problem instanceof TokenProblem) return problem.message
    throw problem
  }
  return 'valid'
}

/** Keys of every algorithm, one genuine token of each, and what a forger would like to say. */
export function besieged(now: Date) {
  const claims = { sub: 'a', role: 'authenticated', exp: Math.floor(now.getTime() / 1000) + 3600 }
  const jwks = algorithmNames.map((name) => retired(makeJwk(name)))
  const keys = createKeys({ secret, keyId: 'main', jwks: [...jwks, makeJwk('ES256', 'signer')] })
  const genuine = [
    hmacToken({ alg: 'HS256', kid: 'main' }, claims),
    ...jwks.map((jwk) => createKeys({ secret, jwks: [{ ...jwk, key_ops: ['sign'] }] }).sign(claims)),
  ]
  return { claims, admin: { ...claims, role: 'service_role' }, jwks, keys, genuine }
}

export function parts(token: string): [header: string, claims: string, signature: string] {
  return token.split('.') as [string, string, string]
}
