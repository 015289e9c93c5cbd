import { createHmac, type KeyObject, sign, timingSafeEqual, verify } from 'node:crypto'
import { fromDer, toDer } from './ecdsa.ts'

export type Algorithm = {
  sign(text: string, key: KeyObject): Buffer
  verify(text: string, key: KeyObject, signature: Buffer): boolean
}

export type AlgorithmName = keyof typeof algorithms

/** Every way to sign that a key of ours may have. */
export const algorithms = {
  HS256: hmac('sha256'),
  RS256: rsa('sha256'),
  RS512: rsa('sha512'),
  ES256: ecdsa('sha256', 32),
  ES512: ecdsa('sha512', 66),
  EdDSA: {
    sign: (text, key) => sign(null, bytes(text), key),
    verify: (text, key, signature) => verify(null, bytes(text), key, signature),
  },
} satisfies Record<string, Algorithm>

function hmac(hash: string): Algorithm {
  const digest = (text: string, key: KeyObject) => createHmac(hash, key).update(text).digest()
  return {
    sign: digest,
    verify(text, key, signature) {
      const expected = digest(text, key)
      return signature.length === expected.length && timingSafeEqual(signature, expected)
    },
  }
}

function rsa(hash: string): Algorithm {
  return {
    sign: (text, key) => sign(hash, bytes(text), key),
    verify: (text, key, signature) => verify(hash, bytes(text), key, signature),
  }
}

function ecdsa(hash: string, size: number): Algorithm {
  return {
    sign: (text, key) => fromDer(sign(hash, bytes(text), key), size),
    verify: (text, key, signature) => signature.length === 2 * size && verify(hash, bytes(text), key, toDer(signature)),
  }
}

/** What is signed is base64url and dots, one byte a character. */
function bytes(text: string): Buffer {
  return Buffer.from(text, 'latin1')
}
