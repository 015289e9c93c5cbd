import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto'
import type { Secret } from '@tollgate/kit/secret'

const algorithm = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16

/** What only we can read again, and only where it belongs: `place` has to be the same at both ends. */
export function seal(key: Secret<KeyObject>, place: string, value: unknown): Buffer {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv(algorithm, key.reveal(), nonce).setAAD(Buffer.from(place))
  const content = Buffer.concat([cipher.update(JSON.stringify(value), 'utf8'), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), content])
}

/** Throws where it was sealed with another key, for another place, or touched since. */
export function unseal<T>(key: Secret<KeyObject>, place: string, sealed: Uint8Array): T {
  const bytes = Buffer.from(sealed)
  const decipher = createDecipheriv(algorithm, key.reveal(), bytes.subarray(0, nonceBytes), { authTagLength: tagBytes })
  decipher.setAAD(Buffer.from(place)).setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes))
  const content = Buffer.concat([decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()])
  return JSON.parse(content.toString('utf8')) as T
}
