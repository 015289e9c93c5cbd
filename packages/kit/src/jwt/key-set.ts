import { Secret } from '../secret.ts'
import type { Members } from './encoding.ts'
import { type Key, readKey, type SigningKey, type VerifyingKey } from './key.ts'
import { KeyProblem } from './problem.ts'

export type KeySet = { keys: readonly Key[]; signer: SigningKey }

/** The text of a JWK set as a setting's value, or what it should have been. */
export function parseKeySet(text: string): Secret<unknown> | { expected: string } {
  try {
    const jwks: unknown = JSON.parse(text)
    readKeySet(jwks)
    return new Secret(jwks)
  } catch (problem) {
    // The parser's own words quote the text, and with it the key.
    return { expected: problem instanceof KeyProblem ? `a usable JWK set (${problem.message})` : 'a JWK set in JSON' }
  }
}

/** The text of a JWK set of somebody else as a setting's value, or what it should have been. Private parts are left behind. */
export function parseVerifyingKeys(text: string): Secret<readonly VerifyingKey[]> | { expected: string } {
  try {
    const kids = new Set<string>()
    const read = (jwk: unknown) => {
      const kid = readKid(jwk, kids)
      isMeantToSign(jwk)
      return withoutPrivatePart(readKey(jwk as Members, kid))
    }
    return new Secret(listOf(JSON.parse(text)).map((jwk, index) => named(nameOf(jwk, index), () => read(jwk))))
  } catch (problem) {
    return { expected: problem instanceof KeyProblem ? `a usable JWK set (${problem.message})` : 'a JWK set in JSON' }
  }
}

/**
 * Those keys of a set that somebody publishes which we can use: others may be for other purposes, or of kinds that we do not know. Never a
 * symmetric one, for whoever reads it could sign with it.
 */
export function readPublishedKeys(jwks: unknown): readonly VerifyingKey[] {
  const kids = new Set<string>()
  return listOf(jwks).flatMap((jwk) => {
    try {
      const kid = readKid(jwk, kids)
      isMeantToSign(jwk)
      const key = withoutPrivatePart(readKey(jwk as Members, kid))
      return key.published ? [key] : []
    } catch (problem) {
      if (problem instanceof KeyProblem) return []
      throw problem
    }
  })
}

function withoutPrivatePart({ signing: _, ...key }: Key): VerifyingKey {
  return key
}

/** The keys of a JWK set, all of which verify, and the one that signs. */
export function readKeySet(jwks: unknown): KeySet {
  const members = listOf(jwks)
  const kids = new Set<string>()
  const signers: { name: string; key: SigningKey }[] = []
  const keys = members.map((jwk, index) => {
    const name = nameOf(jwk, index)
    return named(name, () => {
      const kid = readKid(jwk, kids)
      const signs = isMeantToSign(jwk)
      const { signing, ...key } = readKey(jwk as Members, kid)
      if (signs && !signing) throw new KeyProblem('is meant to sign but has no private part')
      if (signs && signing) signers.push({ name, key: { ...key, signing } })
      return key
    })
  })
  const [signer, second] = signers
  if (!signer) throw new KeyProblem('no key signs: give one private key the key_ops ["sign", "verify"]')
  if (second) {
    throw new KeyProblem(`${signer.name} and ${second.name} both sign: leave one and give the other the key_ops ["verify"]`)
  }
  return { keys, signer: signer.key }
}

/** What is wrong with a key is told as of the key. */
function named<T>(name: string, read: () => T): T {
  try {
    return read()
  } catch (problem) {
    if (problem instanceof KeyProblem) throw new KeyProblem(`${name} ${problem.message}`)
    throw problem
  }
}

function listOf(jwks: unknown): readonly unknown[] {
  const list = isMembers(jwks) ? jwks.keys : jwks
  if (!Array.isArray(list)) throw new KeyProblem('the key set must be an array of JWKs or an object with such an array in keys')
  if (list.length === 0) throw new KeyProblem('the key set is empty: leave it out to sign with the secret alone')
  return list
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function nameOf(jwk: unknown, index: number): string {
  const kid = isMembers(jwk) ? jwk.kid : undefined
  return typeof kid === 'string' && kid !== '' ? `key ${index} (kid ${JSON.stringify(kid.slice(0, 64))})` : `key ${index}`
}

function readKid(jwk: unknown, taken: Set<string>): string {
  if (!isMembers(jwk)) throw new KeyProblem('must be a JSON object')
  const { kid } = jwk
  if (typeof kid !== 'string' || kid === '') throw new KeyProblem('needs a kid: a token says by it which key has signed')
  if (taken.has(kid)) throw new KeyProblem('has the kid of an earlier key')
  taken.add(kid)
  return kid
}

/** `key_ops` decides; without it, a key with a private part that is for signatures signs. */
function isMeantToSign(jwk: unknown): boolean {
  const { use, key_ops: operations, d, k } = jwk as Members
  if (use !== undefined && use !== 'sig') throw new KeyProblem('must have the use "sig" or none')
  if (operations === undefined) return use === 'sig' && (d !== undefined || k !== undefined)
  if (!Array.isArray(operations) || operations.length === 0 || operations.some((each) => each !== 'sign' && each !== 'verify')) {
    throw new KeyProblem('must have nothing but "sign" and "verify" in key_ops')
  }
  return operations.includes('sign')
}
