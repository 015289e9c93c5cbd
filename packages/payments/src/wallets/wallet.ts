import { Secret } from '@tollgate/kit/secret'
import Type, { type Static } from 'typebox'
import { exponentOf } from '../rules/currencies.ts'
import { type DeviceCode, deviceFailures } from '../rules/device-failures.ts'
import { numericOf } from '../rules/numeric-currencies.ts'
import { jsonReader } from './json.ts'

export type WalletKind = 'applepay' | 'googlepay'

/** Why something is not taken; the reason holds nothing of what is secret. */
export type Refusal<Code extends DeviceCode> = { refused: Code; reason: string }

export function wordRefusal({ refused, reason }: Refusal<DeviceCode>): string {
  return `${deviceFailures[refused][1]}: ${reason}`
}

export const CardNumber = Type.String({ pattern: '^[0-9]{10,19}$' })
export const Cryptogram = Type.String({ minLength: 1, maxLength: 256 })
export const Eci = Type.String({ pattern: '^[0-9]{0,2}$' })

const WalletShape = Type.Object({
  transactionId: Type.String(),
  /** Milliseconds since 1970. */
  expires: Type.Integer(),
  number: CardNumber,
  month: Type.Integer(),
  year: Type.Integer(),
  cryptogram: Type.Optional(Cryptogram),
  eci: Type.Optional(Eci),
  /** What the payer agreed to, where the wallet says so: a numeric currency, and minor units as ISO 4217 has them. */
  amount: Type.Optional(Type.Object({ currency: Type.String(), value: Type.Integer() })),
  /** Whom the shop said that the payment is for. */
  merchant: Type.Optional(Type.String()),
})

type Sealed = Static<typeof WalletShape>

/** The text that stands in a token of the vault. */
export function writeWallet(wallet: { [K in keyof Sealed]: Sealed[K] | undefined }): Secret {
  return new Secret(JSON.stringify(wallet))
}

const read = jsonReader(WalletShape)

export type Wallet = {
  number: Secret
  month: number
  year: number
  /** What only the payer's device could have made, for this payment alone. */
  cryptogram?: Secret
  eci?: string
  /** What the wallet calls this payment: nobody may pay twice with it. */
  transactionId: string
  amount?: { currency: string; value: number }
  tds: 'none' | 'attempt' | 'full'
}

export type Order = {
  /** In minor units of ours; undefined where the order leaves it open. */
  amount: number | undefined
  currency: string
  /** What shops may call the merchant in their dealings with a wallet. */
  merchantNames: readonly string[]
  now: Date
}

export type WalletRefusal = 'TOKEN_INVALID' | 'PAYMENT_APPLEPAY_AMOUNT_MISMATCH' | 'PAYMENT_APPLEPAY_EXPIRED'

/** What to pay with, out of the text of an opened token; or the code of what speaks against paying this order with it. */
export function readWallet(kind: WalletKind, text: string, order: Order): Wallet | WalletRefusal {
  const found = read(text)
  if ('wrong' in found) return 'TOKEN_INVALID'
  const { number, month, year, cryptogram, eci, transactionId, expires, amount, merchant } = found.value
  // A token for one shop must not pay at another, though both are served here.
  if (merchant !== undefined && !order.merchantNames.includes(merchant)) return 'TOKEN_INVALID'
  if (order.now.getTime() > expires) return kind === 'applepay' ? 'PAYMENT_APPLEPAY_EXPIRED' : 'TOKEN_INVALID'
  if (amount && !isSame(amount, order)) return 'PAYMENT_APPLEPAY_AMOUNT_MISMATCH'
  return {
    number: new Secret(number),
    month,
    year,
    ...(cryptogram !== undefined && { cryptogram: new Secret(cryptogram) }),
    ...(eci && { eci }),
    transactionId,
    ...(amount && { amount }),
    tds: cryptogram === undefined ? 'none' : tdsOf(eci),
  }
}

/** Where ISO 4217 has another minor unit than we. */
const decimalsThere: Readonly<Record<string, number>> = { ISK: 0 }

function isSame(agreed: { currency: string; value: number }, { amount, currency }: Order): boolean {
  if (amount === undefined) return true
  const exponent = exponentOf(currency)
  if (exponent === undefined || agreed.currency !== numericOf(currency)) return false
  return agreed.value * 10 ** (exponent - (decimalsThere[currency] ?? exponent)) === amount
}

/** Visa counts from 5 to 7, Mastercard from 2 to 0. Where they say nothing, the device has authenticated its owner all the same. */
function tdsOf(eci = ''): Wallet['tds'] {
  if (eci === '' || [2, 5].includes(Number(eci))) return 'full'
  return [1, 6].includes(Number(eci)) ? 'attempt' : 'none'
}
