import { createDecipheriv, createECDH, createHmac, hkdfSync, type KeyObject, timingSafeEqual } from 'node:crypto'

type GooglePayEncrypted = { encryptedMessage: Buffer; ephemeralPublicKey: Buffer; tag: Buffer }

/** ECIES with HKDF-SHA256, AES-256-CTR and HMAC-SHA256; undefined where the message was not encrypted for this key. */
export function decryptGooglePay(key: KeyObject, message: GooglePayEncrypted): string | undefined {
  const shared = sharedSecret(key, message.ephemeralPublicKey)
  if (!shared) return undefined
  const keys = Buffer.from(hkdfSync('sha256', Buffer.concat([message.ephemeralPublicKey, shared]), Buffer.alloc(0), 'Google', 64))
  const [encryptionKey, macKey] = [keys.subarray(0, 32), keys.subarray(32)]
  const tag = createHmac('sha256', macKey).update(message.encryptedMessage).digest()
  if (tag.length !== message.tag.length || !timingSafeEqual(tag, message.tag)) return undefined
  // Google starts at zero: every key is used once.
  const decipher = createDecipheriv('aes-256-ctr', encryptionKey, Buffer.alloc(16))
  return Buffer.concat([decipher.update(message.encryptedMessage), decipher.final()]).toString('utf8')
}

/** Undefined for what is no point on the curve. */
function sharedSecret(key: KeyObject, ephemeralPublicKey: Buffer): Buffer | undefined {
  try {
    const exchange = createECDH('prime256v1')
    exchange.setPrivateKey(Buffer.from(key.export({ format: 'jwk' }).d ?? '', 'base64url'))
    return exchange.computeSecret(ephemeralPublicKey)
  } catch {
    return undefined
  }
}
