import { createDecipheriv, createHash, createPublicKey, diffieHellman, type KeyObject } from 'node:crypto'

/** A key for payment processing, and whose it is. */
export type ApplePayKey = { merchantId: string; privateKey: KeyObject; publicKeyHash: string }

/** The data of an `EC_v1` token; undefined where it was not encrypted for this key. */
export function decryptApplePay(key: ApplePayKey, ephemeralPublicKey: Buffer, data: Buffer): string | undefined {
  try {
    const publicKey = createPublicKey({ key: ephemeralPublicKey, format: 'der', type: 'spki' })
    const shared = diffieHellman({ privateKey: key.privateKey, publicKey })
    // Apple has an initialization vector of 16 zeros: every key is used once.
    const decipher = createDecipheriv('aes-256-gcm', symmetricKey(key.merchantId, shared), Buffer.alloc(16), {
      authTagLength: 16,
    })
    decipher.setAuthTag(data.subarray(-16))
    return Buffer.concat([decipher.update(data.subarray(0, -16)), decipher.final()]).toString('utf8')
  } catch {
    return undefined
  }
}

/** NIST SP 800-56A, section 5.8.1, of which one round of SHA-256 is enough; Apple's "Restoring the symmetric key" has the names. */
function symmetricKey(merchantId: string, shared: Buffer): Buffer {
  return createHash('sha256')
    .update(Buffer.from([0, 0, 0, 1]))
    .update(shared)
    .update('\x0did-aes256-GCM')
    .update('Apple')
    .update(createHash('sha256').update(merchantId).digest())
    .digest()
}
