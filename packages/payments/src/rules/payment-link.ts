import { exponentOf, isChargeable } from './currencies.ts'
import { parseMajor } from './money.ts'

/** What a payment link asks for, once it is known whom it pays. */
export type PaymentLink = {
  currency: string
  /** Minor units; undefined where the payer enters the amount. */
  amount: number | undefined
  reference: string | undefined
  text: string | undefined
  redirect: string | undefined
  recurring: boolean
}

/** Why a link cannot be followed. */
export type LinkProblem = 'test missing' | 'test unexpected' | 'currency' | 'amount' | 'redirect' | 'text'

type Asked = { readonly [name: string]: string | undefined }

/** The parameters of a query as it came: an empty one is as good as none, and of several the last counts. No text here holds a NUL. */
export function readParameters(query: string): Asked {
  const pairs = [...new URLSearchParams(query)].map(([name, value]) => [name, value.replaceAll('\0', '') || undefined] as const)
  return Object.assign(Object.create(null), Object.fromEntries(pairs))
}

export function readLink(asked: Asked, payee: { test: boolean; currency: string }): PaymentLink | { problem: LinkProblem } {
  const { currency = payee.currency, reference, text } = asked
  if (payee.test && !isTest(asked)) return { problem: 'test missing' }
  if (!payee.test && isTest(asked)) return { problem: 'test unexpected' }
  if (!isChargeable(currency)) return { problem: 'currency' }
  const amount = readAmount(asked, currency)
  if (amount === 'unreadable') return { problem: 'amount' }
  const redirect = asked.redirect === undefined ? undefined : parseRedirect(asked.redirect, payee)
  if (asked.redirect !== undefined && redirect === undefined) return { problem: 'redirect' }
  if ([reference, text].some((each) => each !== undefined && each.length > longestText)) return { problem: 'text' }
  return { currency, amount, reference, text, redirect, recurring: asked.recurring === 'y' }
}

/** Characters of a reference, and of a text. */
export const longestText = 1024

/** Anything but 1 is a mistake that somebody should see: `test=true` is taken for what it means, and refused where it does not belong. */
function isTest({ test }: Asked): boolean {
  return test !== undefined && test !== '0'
}

function readAmount({ value, amount }: Asked, currency: string): number | undefined | 'unreadable' {
  if (value !== undefined) return positive(parseMajor(value, currency))
  // Older links have it in minor units.
  if (amount !== undefined) return positive(/^\d{1,16}$/.test(amount) ? Number(amount) : undefined)
  return undefined
}

function positive(amount: number | undefined): number | 'unreadable' {
  return amount !== undefined && amount > 0 && Number.isSafeInteger(amount) ? amount : 'unreadable'
}

/**
 * Where a payer may be sent after paying: a web address, and for real payments a safe one. Undefined for anything else, such as what a
 * browser would run or hand to an app, and for addresses that look like they lead to somebody else.
 */
export function parseRedirect(text: string, { test }: { test: boolean }): string | undefined {
  if (text.length > 2048 || /[\s\p{Cc}\\]/u.test(text) || !/^https?:\/\/[^/]/i.test(text)) return undefined
  // What stands before an @ names a user even where it is empty, which a parser drops without a word.
  if (/^[^:]*:\/\/[^/?#]*@/.test(text)) return undefined
  const url = URL.parse(text)
  if (!url) return undefined
  const safe = url.protocol === 'https:' || test || isLoopback(url.hostname)
  return safe ? url.href : undefined
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || host === '127.0.0.1' || host === '[::1]'
}

/** Decimals of an amount in this currency, which has been found to be one. */
export function decimalsOf(currency: string): number {
  return exponentOf(currency) ?? 2
}
