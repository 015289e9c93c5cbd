import { majorText } from './money.ts'
import { type LinkProblem, longestText, type PaymentLink, readLink } from './payment-link.ts'
import { longestInQr } from './qr.ts'

export type LinkWishes = {
  currency?: string | undefined
  /** In minor units. */
  amount?: number | undefined
  /** In major units, as people write it. */
  value?: string | undefined
  reference?: string | undefined
  text?: string | undefined
  redirect?: string | undefined
  locale?: string | undefined
  recurring?: boolean | undefined
}

type Payee = { key: string; test: boolean; currency: string; name: string | null; website: string }

/** `label` says what the link is for to whoever cannot see its QR code. */
export type MadeLink = { url: string; label: string }

export type UnfitLink = { field: keyof LinkWishes; message: string }

/** The address of the hosted page for what is wished: read by the very rules of that page, so that none is made that it refuses. */
export function makeLink(posUrl: string, payee: Payee, wishes: LinkWishes): MadeLink | UnfitLink {
  const { amount, value, locale } = wishes
  if (amount !== undefined && value !== undefined) return { field: 'value', message: 'Cannot be there together with amount' }
  if (locale !== undefined && !/^[a-z]{2,3}([_-][a-z]{2,4})?$/i.test(locale))
    return { field: 'locale', message: 'Must be a language, such as da, or one with a country, such as en_US' }
  const link = readLink({ ...textsOf(wishes), test: payee.test ? '1' : undefined }, payee)
  if ('problem' in link) return unfitOf(link.problem, wishes, payee)
  const url = addressOf(posUrl, payee, wishes, link)
  if (url.length > longestInQr) return tooLong(url, wishes)
  return { url, label: labelOf(payee, link) }
}

function textsOf({ currency, amount, value, reference, text, redirect, recurring }: LinkWishes) {
  const minor = amount === undefined ? undefined : String(amount)
  return { currency, amount: minor, value, reference, text, redirect, recurring: recurring ? 'y' : undefined }
}

function addressOf(posUrl: string, { key, test }: Payee, { currency, locale }: LinkWishes, link: PaymentLink): string {
  const url = new URL(posUrl)
  const parameters = {
    key,
    test: test ? '1' : undefined,
    // With an amount it is said, so that nobody has to know what the merchant is paid in.
    currency: link.amount === undefined ? currency : link.currency,
    value: link.amount === undefined ? undefined : majorText(link.amount, link.currency),
    reference: link.reference,
    text: link.text,
    redirect: link.redirect,
    locale,
    recurring: link.recurring ? 'y' : undefined,
  }
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) url.searchParams.append(name, value)
  return url.href
}

function unfitOf(problem: LinkProblem, { amount, reference }: LinkWishes, { test }: Payee): UnfitLink {
  switch (problem) {
    case 'currency':
      return { field: 'currency', message: 'Must be the code of a currency that payments can be made in' }
    case 'amount':
      if (amount !== undefined) return { field: 'amount', message: 'Must be a whole number of at least 1' }
      return { field: 'value', message: 'Must be an amount in major units with a point before its decimals, such as 12.50' }
    case 'redirect':
      return { field: 'redirect', message: `Must be a web address that begins with https://${test ? ' or http://' : ''}` }
    case 'text':
      return { field: isLong(reference) ? 'reference' : 'text', message: `Must be at most ${longestText} characters long` }
    case 'test missing':
    case 'test unexpected':
      throw new Error(`a link was made for the wrong kind of merchant: ${problem}`)
  }
}

function isLong(text: string | undefined): boolean {
  return text !== undefined && text.length > longestText
}

/** What takes the most room is what has to be shortened. */
function tooLong(url: string, wishes: LinkWishes): UnfitLink {
  const room = (field: keyof LinkWishes) => encodeURIComponent(String(wishes[field] ?? '')).length
  const [field = 'text'] = (['text', 'reference', 'redirect'] as const).toSorted((one, other) => room(other) - room(one))
  const most = `a QR code holds ${longestInQr} characters, and the whole address would have ${url.length}`
  return { field, message: `Must be shorter: ${most}` }
}

function labelOf({ name, website }: Payee, { amount, currency }: PaymentLink): string {
  const whom = `Pay ${name ?? website}`
  return amount === undefined ? whom : `${whom}: ${currency} ${majorText(amount, currency)}`
}
