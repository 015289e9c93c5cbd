import type { Amount } from '../money.ts'

/** More than anybody pays by card; more is a slip of the finger. */
const largest = 999_999_999

export type AmountProblem = 'amountMissing' | 'amountInvalid' | 'amountTooLarge'

type Currency = Pick<Amount, 'currency' | 'decimals'>

/**
 * What somebody typed, in minor units. Comma and point are both taken for decimals, whatever the locale, unless they can only be meant to
 * group thousands; what could be read in two ways is refused.
 */
export function parseAmount(text: string, { decimals }: Currency, locale: string): number | AmountProblem {
  // Spaces of all kinds, apostrophes, and the sign of the currency in front or behind.
  const bare = text.replace(/[\s'’]/gu, '').replace(/^[^\d.,-]+|[^\d.,]+$/gu, '')
  if (bare === '') return /\d/.test(text) || text.trim() !== '' ? 'amountInvalid' : 'amountMissing'
  const parts = splitDecimals(bare, locale)
  if (!parts || parts.fraction.length > decimals) return 'amountInvalid'
  const minor = Number(parts.whole + parts.fraction.padEnd(decimals, '0'))
  if (minor > largest) return 'amountTooLarge'
  return minor > 0 ? minor : 'amountInvalid'
}

function splitDecimals(bare: string, locale: string): { whole: string; fraction: string } | undefined {
  if (/^\d+$/.test(bare)) return { whole: bare, fraction: '' }
  const last = Math.max(bare.lastIndexOf('.'), bare.lastIndexOf(','))
  const mark = bare.charAt(last)
  const [before, after] = [bare.slice(0, last), bare.slice(last + 1)]
  const groups = ungroup(bare, mark)
  const isGroup = groups !== undefined && (before.includes(mark) || mark !== decimalMark(locale))
  if (isGroup) return { whole: groups, fraction: '' }
  const whole = /^\d*$/.test(before) ? before : ungroup(before, mark === '.' ? ',' : '.')
  return whole !== undefined && /^\d+$/.test(after) ? { whole: whole || '0', fraction: after } : undefined
}

/** `1.234.567` without its marks; undefined when it is not grouped by thousands. */
function ungroup(text: string, mark: string): string | undefined {
  const parts = text.split(mark)
  const [first = '', ...rest] = parts
  const grouped = /^[1-9]\d{0,2}$/.test(first) && rest.length > 0 && rest.every((part) => /^\d{3}$/.test(part))
  return grouped ? parts.join('') : undefined
}

function decimalMark(locale: string): string {
  return new Intl.NumberFormat(locale).formatToParts(0.5).find(({ type }) => type === 'decimal')?.value ?? '.'
}
