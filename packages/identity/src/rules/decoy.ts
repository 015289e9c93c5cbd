import { createHmac, type KeyObject } from 'node:crypto'
import type { Secret } from '@tollgate/kit/secret'

/**
 * The id of somebody who does not exist, or whose existence is nobody's business: a keyed hash of the address, so that asking
 * again gives it again, in the form of the random ids that real users have. What else needs a made-up id has another `part`.
 */
export function decoyId(key: Secret<KeyObject>, address: string, part: 'user' | 'identity' = 'user'): string {
  const hash = createHmac('sha256', key.reveal()).update(`${part}\0${address}`).digest()
  hash.writeUInt8((hash.readUInt8(6) & 0x0f) | 0x40, 6)
  hash.writeUInt8((hash.readUInt8(8) & 0x3f) | 0x80, 8)
  return hash.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
