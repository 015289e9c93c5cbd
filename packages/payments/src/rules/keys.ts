import { createHash } from 'node:crypto'

/** A key is 122 random bits, so one plain hash is enough: there is nothing to guess or to look up in a table. */
export function hashKey(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}
