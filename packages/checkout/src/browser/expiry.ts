export type Expiry = { month: number; year: number }

/** `04 / 29`: the slash comes by itself once the month is known, and goes when it is deleted. */
export function formatExpiry(text: string, { deleting }: { deleting: boolean }): string {
  const [, month = '', separator = '', rest = ''] = /^(\d{0,2})(\D*)(.*)$/s.exec(text.replace(/^\D+/, '')) ?? []
  const year = rest.replace(/\D/g, '').slice(0, 4)
  if (month === '') return ''
  const whole = month.length === 1 && (Number(month) > 1 || /[/.\-\s]/.test(separator)) ? `0${month}` : month
  if (year !== '') return `${whole} / ${year}`
  if (whole.length < 2) return whole
  // Who deletes the slash means the digit before it.
  if (deleting) return separator === '' || separator.includes('/ ') ? whole : whole.slice(0, 1)
  return `${whole} / `
}

/** What stands there, however it is written: 4/29, 04 / 2029, 0429. */
export function parseExpiry(text: string): Expiry | undefined {
  const [, month = '', year = ''] =
    /^\s*(\d{1,2})\s*[/.\-\s]\s*(\d{2}|\d{4})\s*$/.exec(text) ?? /^\s*(\d{2})(\d{2}|\d{4})\s*$/.exec(text) ?? []
  const parsed = { month: Number(month), year: year.length === 2 ? 2000 + Number(year) : Number(year) }
  return parsed.month >= 1 && parsed.month <= 12 && parsed.year >= 2000 && parsed.year <= 2099 ? parsed : undefined
}

export type ExpiryProblem = 'expiryMissing' | 'expiryInvalid' | 'expiryPast'

/** A card is good to the end of its month, wherever on earth that is. */
export function expiryProblem(text: string, now: Date): ExpiryProblem | undefined {
  if (text.trim() === '') return 'expiryMissing'
  const expiry = parseExpiry(text)
  if (!expiry) return 'expiryInvalid'
  return Date.UTC(expiry.year, expiry.month, 1, 12) <= now.getTime() ? 'expiryPast' : undefined
}
