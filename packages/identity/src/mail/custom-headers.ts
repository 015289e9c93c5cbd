import { isHeaderName } from '@tollgate/kit/header-names'
import type { MailHeader } from '@tollgate/kit/smtp'
import type { MailKind } from './kinds.ts'

/** What a mail is and whom it goes to is said by the mail alone. */
const reserved = /^(from|to|cc|bcc|date|subject|message-id|mime-version|content-.*)$/i

/** The operator's headers, in whose values `$messageType` is the kind of the mail. */
export function customHeaders(headers: Readonly<Record<string, readonly string[]>>, kind: MailKind): MailHeader[] {
  return Object.entries(headers)
    .filter(([key]) => isHeaderName(key) && !reserved.test(key))
    .flatMap(([key, values]) => values.map((value) => ({ key, value: oneLine(value.replaceAll('$messageType', kind)) })))
    .filter(({ value }) => value !== '')
}

/** A line break would begin another header. */
function oneLine(value: string): string {
  return value
    .toWellFormed()
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
}

/** JSON of names and lists of values, as the setting has them. */
export function parseMailHeaders(text: string): Readonly<Record<string, readonly string[]>> | { expected: string } {
  const expected = { expected: 'JSON of header names and lists of texts' }
  try {
    const headers: unknown = JSON.parse(text)
    if (typeof headers !== 'object' || headers === null || Array.isArray(headers)) return expected
    const entries = Object.entries(headers)
    const fits = entries.every(
      ([name, values]) => isHeaderName(name) && Array.isArray(values) && values.every((value) => typeof value === 'string'),
    )
    return fits ? Object.fromEntries(entries) : expected
  } catch {
    return expected
  }
}
