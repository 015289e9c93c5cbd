import { exponentOf } from './currencies.ts'

/** How many units of `to`, as decimal text, one unit of `from` was worth on a day. Units are major ones: euros, not cents. */
export type Rate = { from: string; to: string; rate: string; source: string; day: string }

/** What one euro was worth on a day. */
export type RateSet = { source: string; day: string; perEuro: ReadonlyMap<string, string> }

/** The latest known rate, however old; undefined where one of the two currencies has none. */
export type Rates = { find(from: string, to: string): Rate | undefined }

const largest = BigInt(Number.MAX_SAFE_INTEGER)

/** Digits that a rate through the euro has at least. */
const precision = 16

const dayLength = 24 * 60 * 60 * 1000

/** Minor units into minor units; half a unit is rounded away from zero. What is too large to be exact is a `RangeError`. */
export function convert(amount: number, rate: Rate): number {
  if (!Number.isSafeInteger(amount)) throw new Error(`an amount must be a whole number of at most 2^53-1, not ${amount}`)
  const { digits, scale } = decimal(rate.rate)
  const above = BigInt(Math.abs(amount)) * digits * 10n ** exponent(rate.to)
  const below = 10n ** (exponent(rate.from) + scale)
  const result = (2n * above + below) / (2n * below)
  if (result > largest) throw new RangeError(`${amount} ${rate.from} in ${rate.to} is more than 2^53-1`)
  return amount < 0 ? -Number(result) || 0 : Number(result)
}

/** Whether a rate is of a day too long ago to be used. What is not exchanged at all is never. */
export function isStale(rate: Rate, now: Date, maxAgeDays: number): boolean {
  return rate.from !== rate.to && isLongAgo(rate.day, now, maxAgeDays)
}

/** Whether a day is more than so many days ago; 0 is no limit. */
export function isLongAgo(day: string, now: Date, maxAgeDays: number): boolean {
  const today = Date.parse(now.toISOString().slice(0, 10))
  return maxAgeDays !== 0 && today - Date.parse(day) > maxAgeDays * dayLength
}

/** A rate that a set holds, the other way round or through the euro where need be. */
export function rateBetween(set: RateSet, from: string, to: string): Rate | undefined {
  const fromPerEuro = perEuro(set, from)
  const toPerEuro = perEuro(set, to)
  if (fromPerEuro === undefined || toPerEuro === undefined) return undefined
  return { from, to, rate: from === to ? '1' : quotient(toPerEuro, fromPerEuro), source: set.source, day: set.day }
}

/** What has become the euro keeps its last rate by law, and is published no more. */
const becameEuro: ReadonlyMap<string, string> = new Map([
  ['EUR', '1'],
  ['HRK', '7.5345'],
  ['BGN', '1.95583'],
])

function perEuro(set: RateSet, currency: string): string | undefined {
  return set.perEuro.get(currency) ?? becameEuro.get(currency)
}

function exponent(currency: string): bigint {
  const found = exponentOf(currency)
  if (found === undefined) throw new Error(`${currency} is not a currency`)
  return BigInt(found)
}

/** A number such as 1.95583 as 195583 and the five decimals that it has. */
function decimal(text: string): { digits: bigint; scale: bigint } {
  const [, whole, fraction = ''] = /^(\d+)(?:\.(\d+))?$/.exec(text) ?? []
  if (whole === undefined) throw new Error(`"${text}" is not a rate`)
  return { digits: BigInt(whole + fraction), scale: BigInt(fraction.length) }
}

function quotient(above: string, below: string): string {
  if (below === '1') return above
  const dividend = decimal(above)
  const divisor = decimal(below)
  const most = dividend.digits * 10n ** divisor.scale
  const least = divisor.digits * 10n ** dividend.scale
  // As many decimals as leave the wanted number of digits, however small the rate is.
  const scale = Math.max(0, precision + String(least).length - String(most).length)
  const digits = (2n * most * 10n ** BigInt(scale) + least) / (2n * least)
  return plain(digits, scale)
}

function plain(digits: bigint, scale: number): string {
  if (scale === 0) return String(digits)
  const text = String(digits).padStart(scale + 1, '0')
  return `${text.slice(0, -scale)}.${text.slice(-scale)}`.replace(/\.?0+$/, '')
}
