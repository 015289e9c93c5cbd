import { parseEmail } from '../rules/email.ts'
import type { Claims, ProfileEmail } from './provider.ts'

/** A text with something in it, without the blanks around it and without what PostgreSQL cannot keep. */
export function text(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  return value.replaceAll('\0', '').toWellFormed().trim() || undefined
}

/** Whether a provider really says yes: the text "false" is a no, as is whatever it may not have meant. */
export function flag(value: unknown): boolean {
  return value === true || value === 'true' || value === 1
}

/** By what the provider knows somebody, to the letter. Without it nobody may come in, or all who have none would share one account. */
export function idOf(value: unknown, provider: string): string {
  // A number past the safe ones may have been rounded to the number of somebody else; zero is what an empty field becomes in some languages.
  if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return String(value)
  // What is longer than any of them does not fit the index that finds it again.
  if (typeof value === 'string' && text(value) === value && value.length <= 255) return value
  throw new Error(`${provider}: told no id`)
}

/** The only address that a provider tells; none where it is no address. */
export function oneEmail(email: unknown, verified: boolean): ProfileEmail[] {
  return emailOf(email, { verified, primary: true })
}

/** An address in its final form, as a list of one, or of none where it is no address. */
export function emailOf(email: unknown, { verified, primary }: { verified: boolean; primary: boolean }): ProfileEmail[] {
  const parsed = parseEmail(text(email) ?? '')
  return typeof parsed === 'string' ? [{ email: parsed, verified, primary }] : []
}

/** An address of the web. What else is there, `javascript:` before all, would be waiting for the page that shows it. */
export function link(value: unknown): string | undefined {
  const address = text(value)
  if (address === undefined || !URL.canParse(address)) return undefined
  return /^https?:$/.test(new URL(address).protocol) ? address : undefined
}

/** Something with fields; one without any where the provider sent anything else. */
export function fields(value: unknown): Claims {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Claims) : {}
}

/** A list of things with fields; an empty one where the provider sent anything else. */
export function list(value: unknown): Claims[] {
  return Array.isArray(value) ? value.map(fields) : []
}

/** Names with a blank between them, as far as they are there. */
export function joined(...names: unknown[]): string | undefined {
  return names.map(text).filter(Boolean).join(' ') || undefined
}

/** The claims that say something, or nothing at all where none does. */
export function told(claims: Claims): Claims | undefined {
  const entries = Object.entries(claims).filter(([, value]) => value !== undefined)
  return entries.length > 0 ? Object.fromEntries(entries) : undefined
}
