import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto'
import { Secret } from '@tollgate/kit/secret'

/**
 * A key for one purpose, derived from the secret that signs access tokens: all nodes have the same one, nobody has to keep another secret,
 * and what one purpose gives away is of no use for another.
 */
export function derivedKey(
  secret: Secret,
  purpose: 'refresh tokens' | 'codes' | 'messages' | 'recipients' | 'decoys' | 'flows',
): Secret<KeyObject> {
  // As an object of the library's own, which saves it from taking the bytes in anew for every hash.
  return new Secret(createSecretKey(Buffer.from(hkdfSync('sha256', secret.reveal(), '', `tollgate ${purpose}`, 32))))
}
