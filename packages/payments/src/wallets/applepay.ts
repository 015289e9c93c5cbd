import type { Secret } from '@tollgate/kit/secret'
import Type, { type Static } from 'typebox'
import { decryptApplePay } from './applepay-cipher.ts'
import { signingTime } from './applepay-signature.ts'
import { Base64, Hexadecimal, jsonReader } from './json.ts'
import { CardNumber, Cryptogram, Eci, type Refusal, writeWallet } from './wallet.ts'
import type { WalletSettings } from './wallet-settings.ts'

/**
 * Apple, "Payment token format reference": https://developer.apple.com/documentation/passkit/payment-token-format-reference
 * and "Restoring the symmetric key": https://developer.apple.com/documentation/passkit/restoring-the-symmetric-key
 */

const Version = Type.Object({ version: Type.String() })

const Token = Type.Object({
  data: Base64,
  signature: Base64,
  header: Type.Object({
    ephemeralPublicKey: Base64,
    publicKeyHash: Type.String(),
    transactionId: Hexadecimal,
    applicationData: Type.Optional(Hexadecimal),
  }),
})

const Payment = Type.Object({
  applicationPrimaryAccountNumber: CardNumber,
  applicationExpirationDate: Type.String({ pattern: '^[0-9]{2}(0[1-9]|1[0-2])[0-9]{2}$' }),
  currencyCode: Type.String({ pattern: '^[0-9]{3}$' }),
  transactionAmount: Type.Integer({ minimum: 0 }),
  paymentDataType: Type.Enum(['3DSecure']),
  paymentData: Type.Object({ onlinePaymentCryptogram: Cryptogram, eciIndicator: Type.Optional(Eci) }),
})

const [readOuter, readVersion, readToken, readPayment] = [
  jsonReader(Type.Object({ paymentData: Type.Optional(Type.Unknown()) })),
  jsonReader(Version),
  jsonReader(Token),
  jsonReader(Payment),
]

/** What Apple Pay has encrypted for us, checked, as the text that stands in a token of the vault. */
export function openApplePay(
  text: string,
  { keys, root, maxAge }: WalletSettings['applePay'],
  now: Date,
): { wallet: Secret } | Refusal<'APPLEPAY_TOKEN_INVALID' | 'APPLEPAY_CONFIGURATION_INVALID'> {
  if (!keys || root === undefined) return misconfigured('Apple Pay is not set up here: PAY_APPLEPAY_KEYS is missing')
  const inner = paymentDataOf(text)
  const version = readVersion(inner)
  if ('wrong' in version) return invalid(version.wrong)
  if (version.value.version !== 'EC_v1') return invalid('version: Must be EC_v1, no other is supported')
  const token = readToken(inner)
  if ('wrong' in token) return invalid(token.wrong)
  const { header, data } = token.value

  const key = keys.reveal().find(({ publicKeyHash }) => publicKeyHash === header.publicKeyHash)
  if (!key) return misconfigured('there is no key for the header.publicKeyHash of this token')
  const signed = signingTime(token.value, { root, now })
  if ('wrong' in signed) return invalid(signed.wrong)
  if (Math.abs(now.getTime() - signed.getTime()) > maxAge * 1000) return invalid('it was signed too long ago, or ahead of time')

  const decrypted = decryptApplePay(key, header.ephemeralPublicKey, data)
  if (decrypted === undefined) return invalid('its data cannot be decrypted')
  const payment = readPayment(decrypted)
  if ('wrong' in payment) return invalid(`in its data, ${payment.wrong}`)
  const expires = signed.getTime() + maxAge * 1000
  return { wallet: wallet(payment.value, { transactionId: header.transactionId.toString('hex'), expires }) }
}

/** Clients send the payment data, or all of what it stands in. */
function paymentDataOf(text: string): string {
  const outer = readOuter(text)
  return 'wrong' in outer || outer.value.paymentData === undefined ? text : JSON.stringify(outer.value.paymentData)
}

function wallet(payment: Static<typeof Payment>, told: { transactionId: string; expires: number }): Secret {
  const [, year, month] = /^(..)(..)/.exec(payment.applicationExpirationDate) ?? []
  return writeWallet({
    ...told,
    number: payment.applicationPrimaryAccountNumber,
    month: Number(month),
    year: 2000 + Number(year),
    cryptogram: payment.paymentData.onlinePaymentCryptogram,
    eci: payment.paymentData.eciIndicator,
    amount: { currency: payment.currencyCode, value: payment.transactionAmount },
  })
}

function invalid(reason: string) {
  return { refused: 'APPLEPAY_TOKEN_INVALID', reason } as const
}

function misconfigured(reason: string) {
  return { refused: 'APPLEPAY_CONFIGURATION_INVALID', reason } as const
}
