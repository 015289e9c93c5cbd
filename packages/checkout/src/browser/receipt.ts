import { fill } from '../fill.ts'
import { formatAmount } from '../money.ts'
import type { PageData } from '../page-data.ts'
import { announce, element, setText, show } from './document.ts'
import type { Receipt } from './kept.ts'
import { returnAddress } from './return-address.ts'

/** Milliseconds in which a payer can see that they have paid before they are taken back. */
const glance = 1500

/** `before`: it was paid on an earlier visit, so that nobody is taken anywhere by surprise. */
export function showReceipt(
  data: PageData,
  receipt: Receipt,
  { before, startOver }: { before: boolean; startOver: (() => void) | undefined },
): void {
  const { words, locale, merchant, payment } = data
  const amount = formatAmount({ ...payment, minor: receipt.minor }, locale)
  const say = (text: string) => fill(text, { amount, merchant: merchant.name })
  fillIn({
    amount,
    merchant: merchant.name,
    date: new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeStyle: 'short' }).format(new Date(receipt.paid)),
    card: `•••• ${receipt.last4}`,
    reference: payment.reference,
    id: receipt.id,
  })
  setText('paid-more', say(before ? words.alreadyPaid : words.paidExplained))
  element('print').onclick = () => print()
  const again = element('again')
  again.hidden = startOver === undefined
  again.onclick = startOver ?? null
  if (payment.redirect !== undefined)
    leadBack(returnAddress(payment.redirect, receipt.id), before ? undefined : say(words.returning))
  show('paid', element('paid'))
  announce(words.paid)
}

function fillIn(values: Readonly<Record<string, string | undefined>>): void {
  for (const place of element('receipt').querySelectorAll<HTMLElement>('[data-of]')) {
    const value = values[place.dataset.of ?? '']
    place.textContent = value ?? ''
    if (place.parentElement) place.parentElement.hidden = value === undefined
  }
}

function leadBack(address: string, returning: string | undefined): void {
  const link = element<HTMLAnchorElement>('return')
  link.href = address
  link.hidden = false
  if (returning === undefined) return
  setText('returning', returning)
  setTimeout(() => location.assign(address), glance)
}
