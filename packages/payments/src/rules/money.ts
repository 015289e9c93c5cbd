import type { Money } from '../acquirers/acquirer.ts'
import { exponentOf } from './currencies.ts'

/** An amount as people write it, without zeros at its end: 250 EUR is 2.5, 300 JPY is 300. */
export function majorText(amount: number, currency: string): string {
  const exponent = decimalsOf(currency)
  if (!Number.isSafeInteger(amount)) throw new Error(`an amount must be a whole number of at most 2^53-1, not ${amount}`)
  const digits = String(Math.abs(amount)).padStart(exponent + 1, '0')
  const point = digits.length - exponent
  const fraction = digits.slice(point).replace(/0+$/, '')
  const text = fraction === '' ? digits.slice(0, point) : `${digits.slice(0, point)}.${fraction}`
  return amount < 0 ? `-${text}` : text
}

/** Minor units of what somebody wrote; half of one is rounded up. Undefined for what is no amount, or too large for one. */
export function parseMajor(text: string, currency: string): number | undefined {
  const exponent = decimalsOf(currency)
  const [, whole, fraction = ''] = /^(\d{1,16})(?:\.(\d{1,32}))?$/.exec(text) ?? []
  if (whole === undefined) return undefined
  const kept = BigInt(whole + fraction.slice(0, exponent).padEnd(exponent, '0'))
  const amount = Number(fraction.charAt(exponent) >= '5' ? kept + 1n : kept)
  return Number.isSafeInteger(amount) ? amount : undefined
}

/** Minor units of value / 10^exponent; what is finer than they are is rounded up. Undefined for what is no currency, or too large for an amount. */
export function minorOf({ currency, exponent, value }: Money): number | undefined {
  const decimals = exponentOf(currency)
  if (decimals === undefined) return undefined
  const finer = 10n ** BigInt(Math.max(exponent - decimals, 0))
  const coarser = 10n ** BigInt(Math.max(decimals - exponent, 0))
  const amount = Number((BigInt(value) * coarser + finer - 1n) / finer)
  return Number.isSafeInteger(amount) ? amount : undefined
}

function decimalsOf(currency: string): number {
  const exponent = exponentOf(currency)
  if (exponent === undefined) throw new Error(`${currency} is not a currency`)
  return exponent
}
