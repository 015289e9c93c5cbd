import type { Secret } from '@tollgate/kit/secret'
import Type, { type Static } from 'typebox'
import { decryptGooglePay } from './googlepay-cipher.ts'
import { faultOf, Milliseconds } from './googlepay-signature.ts'
import { Base64, jsonReader } from './json.ts'
import { CardNumber, Cryptogram, Eci, type Refusal, writeWallet } from './wallet.ts'
import type { WalletSettings } from './wallet-settings.ts'

/** Google, "Payment data cryptography for merchants": https://developers.google.com/pay/api/web/guides/resources/payment-data-cryptography */

const Version = Type.Object({ protocolVersion: Type.String() })

const Token = Type.Object({
  signature: Base64,
  intermediateSigningKey: Type.Object({
    signedKey: Type.String({ maxLength: 4096 }),
    // Each is checked with each of the root keys, which is work.
    signatures: Type.Array(Base64, { minItems: 1, maxItems: 5 }),
  }),
  signedMessage: Type.String(),
})

const Encrypted = Type.Object({ encryptedMessage: Base64, ephemeralPublicKey: Base64, tag: Base64 })

const Message = Type.Object({
  messageId: Type.String({ minLength: 1, maxLength: 256 }),
  messageExpiration: Milliseconds,
  gatewayMerchantId: Type.Optional(Type.String({ maxLength: 256 })),
  paymentMethod: Type.Enum(['CARD']),
  paymentMethodDetails: Type.Object({
    pan: CardNumber,
    expirationMonth: Type.Integer({ minimum: 1, maximum: 12 }),
    expirationYear: Type.Integer({ minimum: 2000, maximum: 2099 }),
    authMethod: Type.Enum(['PAN_ONLY', 'CRYPTOGRAM_3DS']),
    cryptogram: Type.Optional(Cryptogram),
    eciIndicator: Type.Optional(Eci),
  }),
})

const [readVersion, readToken, readEncrypted, readMessage] = [
  jsonReader(Version),
  jsonReader(Token),
  jsonReader(Encrypted),
  jsonReader(Message),
]

type Code = 'GOOGLEPAY_TOKEN_INVALID' | 'GOOGLEPAY_CONFIGURATION_INVALID' | 'GOOGLEPAY_DECODING_ERROR'

/** What Google Pay has encrypted for us, checked, as the text that stands in a token of the vault. */
export function openGooglePay(
  text: string,
  { keys, rootKeys, recipient }: WalletSettings['googlePay'],
  now: Date,
): { wallet: Secret } | Refusal<Code> {
  if (!keys || recipient === undefined)
    return refuse('GOOGLEPAY_CONFIGURATION_INVALID', 'Google Pay is not set up here: PAY_GOOGLEPAY_KEYS is missing')
  const unexpired = rootKeys.filter(({ expires }) => expires === undefined || expires > now.getTime())
  if (unexpired.length === 0) return refuse('GOOGLEPAY_CONFIGURATION_INVALID', 'all of PAY_GOOGLEPAY_ROOT_KEYS have expired')

  const version = readVersion(text)
  if ('wrong' in version) return refuse('GOOGLEPAY_TOKEN_INVALID', version.wrong)
  if (version.value.protocolVersion !== 'ECv2')
    return refuse('GOOGLEPAY_TOKEN_INVALID', 'protocolVersion: Must be ECv2, no other is supported')
  const token = readToken(text)
  if ('wrong' in token) return refuse('GOOGLEPAY_TOKEN_INVALID', token.wrong)
  const fault = faultOf(token.value, { rootKeys: unexpired, recipient, now })
  if (fault !== undefined) return refuse('GOOGLEPAY_TOKEN_INVALID', fault)

  const encrypted = readEncrypted(token.value.signedMessage)
  if ('wrong' in encrypted) return refuse('GOOGLEPAY_DECODING_ERROR', `in its signedMessage, ${encrypted.wrong}`)
  const decrypted = keys.reveal().map((key) => decryptGooglePay(key, encrypted.value))
  const opened = decrypted.find((each) => each !== undefined)
  if (opened === undefined) return refuse('GOOGLEPAY_DECODING_ERROR', 'it was not encrypted for any of the keys here')
  const message = readMessage(opened)
  if ('wrong' in message) return refuse('GOOGLEPAY_DECODING_ERROR', `in its message, ${message.wrong}`)
  const { authMethod, cryptogram } = message.value.paymentMethodDetails
  if (authMethod === 'CRYPTOGRAM_3DS' && cryptogram === undefined)
    return refuse('GOOGLEPAY_DECODING_ERROR', 'in its message, paymentMethodDetails.cryptogram: Required')
  if (Number(message.value.messageExpiration) <= now.getTime()) return refuse('GOOGLEPAY_TOKEN_INVALID', 'it has expired')
  return { wallet: wallet(message.value) }
}

function wallet({ messageId, messageExpiration, gatewayMerchantId, paymentMethodDetails: card }: Static<typeof Message>): Secret {
  return writeWallet({
    transactionId: messageId,
    expires: Number(messageExpiration),
    merchant: gatewayMerchantId,
    number: card.pan,
    month: card.expirationMonth,
    year: card.expirationYear,
    ...(card.authMethod === 'CRYPTOGRAM_3DS' && { cryptogram: card.cryptogram, eci: card.eciIndicator }),
  })
}

function refuse(refused: Code, reason: string): Refusal<Code> {
  return { refused, reason }
}
