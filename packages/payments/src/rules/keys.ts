import { createHash, randomBytes } from 'node:crypto'

/** A new key of an app: 128 random bits, in the form that such keys have always had, which leaves a UUID's own six bits to chance as well. */
export function newKey(): string {
  return randomBytes(16)
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** One plain hash is enough: there is nothing to guess or to look up in a table. */
export function hashKey(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}
