import { exponentOf } from './currencies.ts'
import { convert, type Rate, rateBetween } from './exchange.ts'
import { captureFees, type Price, returnFees, type Standing } from './fees.ts'
import { shippedRates } from './shipped-rates.ts'

/** Something in a seed file that cannot be true, in words for whoever wrote it. */
export class Contradiction extends Error {}

/** A movement of money as far as a file gives it. */
export type Given = {
  kind: 'capture' | 'refund' | 'dispute'
  amount: number
  currency: string
  balance: number | undefined
  /** Both fees, or only what they come to together, as a line tells it. */
  fee: { flat: number; rate: number } | number | undefined
}

export type Figures = { gross: number; feeFlat: number; feeRate: number; balance: number; rate: Rate | undefined }

type Context = { funding: string; price: Price; standing: Standing; day: string }

/** What a movement does to the merchant's balance: what is given holds, the rest follows from it or from the price. */
export function figuresOf(given: Given, context: Context): Figures {
  const sign = given.kind === 'capture' ? 1 : -1
  const gross = grossOf(given, context, sign)
  if (given.currency === context.funding && gross !== given.amount)
    throw new Contradiction(`its balance and fees make ${gross}, but its amount is ${given.amount} of the same currency`)
  if (!Number.isSafeInteger(gross) || gross < 0) throw new Contradiction('its balance and fees do not make an amount')
  const [feeFlat, feeRate] = feesOf(given, context, { gross, sign })
  const balance = sign * gross - feeFlat - feeRate
  if (!Number.isSafeInteger(balance)) throw new Contradiction('its balance is more than can be held')
  return { gross, feeFlat, feeRate, balance, rate: rateOf(given, context, gross) }
}

function totalOf(fee: Given['fee']): number | undefined {
  return typeof fee === 'object' ? fee.flat + fee.rate : fee
}

function grossOf(given: Given, { funding, price, standing }: Context, sign: number): number {
  const fees = totalOf(given.fee)
  if (given.balance !== undefined && fees !== undefined) return sign * (given.balance + fees) || 0
  if (given.kind === 'capture') return exchangeShipped(given.amount, given.currency, funding).amount
  return returnFees(standing, given.amount, price.rate).gross
}

type Moved = { gross: number; sign: number }

function feesOf(given: Given, context: Context, { gross, sign }: Moved): [flat: number, rate: number] {
  if (typeof given.fee === 'object') return [given.fee.flat, given.fee.rate]
  const total = given.fee ?? (given.balance === undefined ? undefined : sign * gross - given.balance)
  const { price, funding, standing } = context
  if (given.kind === 'refund') return [0, total ?? (-returnFees(standing, given.amount, price.rate).rate || 0)]
  if (given.kind === 'dispute') return [total ?? exchangeShipped(price.dispute.amount, price.dispute.currency, funding).amount, 0]
  const flat = exchangeShipped(price.flat.amount, price.flat.currency, funding).amount
  if (total === undefined) return [flat, captureFees(gross, { rate: price.rate, flat }).rate]
  if (total < 0) throw new Contradiction(`its balance is more than the ${gross} that it is about; give its fee as well`)
  return [Math.min(flat, total), total - Math.min(flat, total)]
}

/** The set of rates that is always there: what a seed file makes does not depend on the day on which it is loaded. */
function exchangeShipped(amount: number, from: string, to: string): { amount: number; rate: Rate | undefined } {
  if (from === to) return { amount, rate: undefined }
  const rate = rateBetween(shippedRates, from, to)
  if (!rate) throw new Contradiction(`there is no rate from ${from} to ${to} to exchange it by; give its balance and fee`)
  try {
    return { amount: convert(amount, rate), rate }
  } catch (problem) {
    throw new Contradiction((problem as Error).message)
  }
}

function rateOf({ kind, amount, currency, balance, fee }: Given, { funding, day }: Context, gross: number): Rate | undefined {
  if (kind !== 'capture' || currency === funding) return undefined
  const computed = balance === undefined || fee === undefined ? exchangeShipped(amount, currency, funding).rate : undefined
  return computed ?? impliedRate({ amount, currency, gross, funding, day })
}

const decimals = 12

/** What an amount must have been exchanged by to become what it became. */
function impliedRate(sum: { amount: number; currency: string; gross: number; funding: string; day: string }): Rate {
  const { amount, currency, gross, funding, day } = sum
  const [fromExponent = 0, toExponent = 0] = [exponentOf(currency), exponentOf(funding)]
  const above = BigInt(gross) * 10n ** BigInt(fromExponent + decimals)
  const digits = String(above / (BigInt(amount) * 10n ** BigInt(toExponent))).padStart(decimals + 1, '0')
  return { from: currency, to: funding, rate: `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`, source: 'seed', day }
}
