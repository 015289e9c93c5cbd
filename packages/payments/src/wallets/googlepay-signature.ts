import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import Type from 'typebox'
import { Base64, jsonReader } from './json.ts'

type GooglePaySigned = {
  signature: Buffer
  intermediateSigningKey: { signedKey: string; signatures: readonly Buffer[] }
  signedMessage: string
}

/** One of the keys that Google publishes. */
export type GooglePayRootKey = { keyValue: string; expires: number | undefined }

const sender = 'Google'
const protocol = 'ECv2'

/** Milliseconds since 1970, as text. */
export const Milliseconds = Type.String({ pattern: '^[0-9]{1,15}$' })

const readSignedKey = jsonReader(Type.Object({ keyValue: Base64, keyExpiration: Milliseconds }))

type Trust = { rootKeys: readonly GooglePayRootKey[]; recipient: string; now: Date }

/** What speaks against this having been written by Google, for us; undefined where nothing does. */
export function faultOf(signed: GooglePaySigned, { rootKeys, recipient, now }: Trust): string | undefined {
  const { signedKey, signatures } = signed.intermediateSigningKey
  const vouched = signedText(sender, protocol, signedKey)
  const roots = rootKeys.map(({ keyValue }) => publicKeyOf(Buffer.from(keyValue, 'base64')))
  if (!roots.some((root) => root && signatures.some((signature) => verify('sha256', vouched, root, signature))))
    return 'its intermediateSigningKey is not signed by Google'
  const intermediate = readSignedKey(signedKey)
  if ('wrong' in intermediate) return `in its intermediateSigningKey.signedKey, ${intermediate.wrong}`
  if (Number(intermediate.value.keyExpiration) <= now.getTime()) return 'its intermediateSigningKey has expired'
  const key = publicKeyOf(intermediate.value.keyValue)
  const text = signedText(sender, recipient, protocol, signed.signedMessage)
  return key && verify('sha256', text, key, signed.signature)
    ? undefined
    : 'its signature is of something else, or for somebody else'
}

/** Each of them behind its length, so that no two lists are the same bytes. */
function signedText(...parts: readonly string[]): Buffer {
  return Buffer.concat(
    parts.flatMap((part) => {
      const bytes = Buffer.from(part)
      const length = Buffer.alloc(4)
      length.writeUInt32LE(bytes.length)
      return [length, bytes]
    }),
  )
}

/** A key on the curve that the protocol prescribes. */
export function publicKeyOf(bytes: Buffer): KeyObject | undefined {
  try {
    const key = createPublicKey({ key: bytes, format: 'der', type: 'spki' })
    return key.asymmetricKeyDetails?.namedCurve === 'prime256v1' ? key : undefined
  } catch {
    return undefined
  }
}
