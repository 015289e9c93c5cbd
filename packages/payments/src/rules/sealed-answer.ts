import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import type { Claim } from '../store/idempotency.ts'

/**
 * An answer may hold a secret that is kept nowhere else, such as the key of an app. It is sealed with the caller's own Idempotency-Key, so
 * that whoever asks again can be told and whoever reads the table learns nothing that they did not know.
 */
export function sealAnswer(claim: Claim, answer: unknown): Buffer {
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', sealingKey(claim), iv)
  return Buffer.concat([iv, cipher.update(JSON.stringify(answer), 'utf8'), cipher.final(), cipher.getAuthTag()])
}

export function unsealAnswer(claim: Pick<Claim, 'key' | 'ownerId'>, sealed: Buffer): unknown {
  const decipher = createDecipheriv('aes-256-gcm', sealingKey(claim), sealed.subarray(0, 12))
  decipher.setAuthTag(sealed.subarray(-16))
  return JSON.parse(Buffer.concat([decipher.update(sealed.subarray(12, -16)), decipher.final()]).toString('utf8'))
}

function sealingKey({ ownerId, key }: Pick<Claim, 'key' | 'ownerId'>): Buffer {
  return Buffer.from(hkdfSync('sha256', key, ownerId, 'tollgate idempotent answer', 32))
}
