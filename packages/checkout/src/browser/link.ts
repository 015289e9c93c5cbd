import { fill } from '../fill.ts'
import { formatAmount } from '../money.ts'
import type { PageData } from '../page-data.ts'
import { simulationOf } from '../test-outcomes.ts'
import { parseAmount } from './amount.ts'
import type { KnownNumber } from './card-form.ts'
import { checkout } from './checkout.ts'
import { element, maybeElement, setText, show } from './document.ts'
import { field } from './field.ts'
import { type Keeper, keeperFor, type Receipt, type Running } from './kept.ts'
import type { Order } from './pay.ts'
import { showReceipt } from './receipt.ts'

/** The page of a payment link: amount, card, payment, receipt. */
export function startLink(data: PageData): void {
  const { words, locale, payment } = data
  const keeper = keeperFor(location.pathname + location.search)
  const flow = checkout(data)
  const asText = (minor: number) => formatAmount({ ...payment, minor }, locale)
  let minor = payment.minor

  const settleAmount = (chosen: number) => {
    minor = chosen
    setText('amount', asText(chosen))
    element('pay').textContent = fill(words.pay, { amount: asText(chosen) })
  }

  const proceed = async (begun: Running, known?: KnownNumber): Promise<void> => {
    const ending = await flow.run(begun.running, (running) => keeper.write({ ...begun, running }))
    if ('paid' in ending)
      return finish({ id: ending.paid, minor: begun.minor, paid: new Date().toISOString(), last4: begun.last4 })
    if ('unknown' in ending) return flow.showUnknown(() => void proceed({ ...begun, running: ending.unknown }, known))
    keeper.clear()
    flow.showFailure(ending, known)
  }

  const finish = (receipt: Receipt) => {
    keeper.write({ paid: receipt })
    flow.form.empty(undefined)
    settleAmount(receipt.minor)
    showReceipt(data, receipt, { before: false, startOver: startOver(keeper, data) })
  }

  const form = element<HTMLFormElement>('card-form')
  let busy = false
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    if (busy || minor === undefined) return
    flow.hideFailure()
    const typed = flow.form.read()
    if (!typed) return
    busy = true
    const deposited = await flow.deposit(typed)
    if (deposited) {
      const { card, number } = deposited
      const begun = { running: { order: orderOf(data, minor, card), hints: [], risky: false }, minor, last4: number.last4 }
      keeper.write(begun)
      await proceed(begun, number)
    }
    busy = false
  })

  const ownAmount = maybeElement('own-amount') && amountScreen(data, settleAmount)
  element('pay').removeAttribute('disabled')

  const kept = keeper.read()
  if (!kept) {
    ownAmount?.focus()
    return
  }
  if ('paid' in kept) {
    settleAmount(kept.paid.minor)
    showReceipt(data, kept.paid, { before: true, startOver: startOver(keeper, data) })
    return
  }
  settleAmount(kept.minor)
  busy = true
  void proceed(kept).finally(() => {
    busy = false
  })
}

/** Only where the payer says how much is it likely that the same link is for another payment. */
function startOver(keeper: Keeper, { payment }: PageData): (() => void) | undefined {
  if (payment.minor !== undefined) return undefined
  return () => {
    keeper.clear()
    location.reload()
  }
}

function amountScreen({ words, payment, locale }: PageData, chosen: (minor: number) => void): HTMLInputElement {
  const example = new Intl.NumberFormat(locale, { minimumFractionDigits: payment.decimals }).format(12.5)
  const read = () => parseAmount(own.input.value, payment, locale)
  const own = field('own-amount', () => {
    const problem = read()
    return typeof problem === 'string' ? fill(words[problem], { example }) : undefined
  })
  const form = element<HTMLFormElement>('amount-form')
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    const minor = read()
    if (!own.check() || typeof minor === 'string') return own.input.focus()
    chosen(minor)
    show('card', element('number'))
  })
  element('change-amount').addEventListener('click', () => {
    setText('amount', undefined)
    show('amount', own.input)
    own.input.select()
  })
  form.querySelector('button')?.removeAttribute('disabled')
  return own.input
}

function orderOf({ merchant, payment }: PageData, minor: number, card: Order): Order {
  const { currency, decimals, reference, recurring } = payment
  const outcome = maybeElement<HTMLSelectElement>('outcome')?.value ?? ''
  return {
    integration: { key: merchant.key },
    amount: { currency, exponent: decimals, value: minor },
    card,
    ...(merchant.test ? { test: simulationOf(outcome, currency) } : {}),
    ...(reference === undefined ? {} : { custom: { reference } }),
    ...(recurring ? { unplanned: { merchant: true } } : {}),
  }
}
