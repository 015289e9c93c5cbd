/** An amount in minor units. */
export type Amount = { minor: number; currency: string; decimals: number }

/** As people of the locale write it. The decimals are those of the currency here, which browsers do not always agree with. */
export function formatAmount({ minor, currency, decimals }: Amount, locale: string): string {
  const format = new Intl.NumberFormat(locale, {
    style: 'currency',
    currency,
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  })
  return format.format(majorText({ minor, decimals }) as Intl.StringNumericLiteral)
}

/** In major units, as programs write it: `12.34`. */
export function majorText({ minor, decimals }: Pick<Amount, 'minor' | 'decimals'>): string {
  const digits = String(minor).padStart(decimals + 1, '0')
  return decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
}
