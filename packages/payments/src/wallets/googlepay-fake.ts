import { createCipheriv, createHmac, diffieHellman, generateKeyPairSync, hkdfSync, type KeyObject, sign } from 'node:crypto'

export type WireToken = {
  protocolVersion: string
  signature: string
  intermediateSigningKey: { signedKey: string; signatures: string[] }
  signedMessage: string
}

export const message = {
  gatewayMerchantId: 'some-shop',
  messageExpiration: String(Date.parse('2030-01-09T00:00:00Z')),
  messageId: 'AH2EjtcMessage',
  paymentMethod: 'CARD',
  paymentMethodDetails: {
    pan: '4200009876540000',
    expirationMonth: 12,
    expirationYear: 2032,
    authMethod: 'CRYPTOGRAM_3DS',
    cryptogram: 'AAAAAA/COBt84dnIEcwAA3gAAhgEDoLABAAhAgAABAAAALnNCLw==',
    eciIndicator: '05',
  },
}

export type Making = { content?: unknown; recipient?: string; keyExpiration?: string; signedKey?: string; signedMessage?: string }

/** Somebody who does what Google does, with keys of their own. */
export function fakeGoogle() {
  const [root, intermediate] = [newKey(), newKey()]

  function pay(recipientKey: KeyObject, making: Making = {}): WireToken {
    const {
      content = message,
      recipient = 'gateway:tollgate',
      keyExpiration = String(Date.parse('2030-01-05T00:00:00Z')),
    } = making
    const { signedKey = JSON.stringify({ keyValue: spki(intermediate.publicKey).toString('base64'), keyExpiration }) } = making
    const { signedMessage = encrypt(recipientKey, content) } = making
    return {
      protocolVersion: 'ECv2',
      signature: signText(intermediate.privateKey, ['Google', recipient, 'ECv2', signedMessage]),
      intermediateSigningKey: { signedKey, signatures: [signText(root.privateKey, ['Google', 'ECv2', signedKey])] },
      signedMessage,
    }
  }

  /** As Google publishes its keys. */
  function rootKeys(keyExpiration?: string): string {
    const others = { keyValue: spki(newKey().publicKey).toString('base64'), protocolVersion: 'ECv1' }
    const own = { keyValue: spki(root.publicKey).toString('base64'), protocolVersion: 'ECv2', keyExpiration }
    return JSON.stringify({ keys: [others, own] })
  }

  return { pay, rootKeys, rootKey: root.privateKey, intermediateKey: intermediate.privateKey }
}

function encrypt(recipientKey: KeyObject, content: unknown): string {
  const ephemeral = newKey()
  const point = spki(ephemeral.publicKey).subarray(-65)
  const shared = diffieHellman({ privateKey: ephemeral.privateKey, publicKey: recipientKey })
  const keys = Buffer.from(hkdfSync('sha256', Buffer.concat([point, shared]), '', 'Google', 64))
  const cipher = createCipheriv('aes-256-ctr', keys.subarray(0, 32), Buffer.alloc(16))
  const text = typeof content === 'string' ? content : JSON.stringify(content)
  const encryptedMessage = Buffer.concat([cipher.update(text), cipher.final()])
  const tag = createHmac('sha256', keys.subarray(32)).update(encryptedMessage).digest()
  const parts = { encryptedMessage, ephemeralPublicKey: point, tag }
  return JSON.stringify(Object.fromEntries(Object.entries(parts).map(([part, bytes]) => [part, bytes.toString('base64')])))
}

/** Whoever takes payments, and what they put into their settings. */
export function fakeRecipient() {
  const { publicKey, privateKey } = newKey()
  return { publicKey, setting: String(privateKey.export({ format: 'pem', type: 'pkcs8' })) }
}

export function signText(key: KeyObject, parts: readonly string[]): string {
  const bytes = parts.flatMap((part) => [lengthOf(part), Buffer.from(part)])
  return sign('sha256', Buffer.concat(bytes), key).toString('base64')
}

function lengthOf(part: string): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32LE(Buffer.byteLength(part))
  return length
}

export function newKey() {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' })
}

export function spki(key: KeyObject): Buffer {
  return key.export({ format: 'der', type: 'spki' })
}
