import { type Html, html } from '@tollgate/kit/html'
import type { ShopFacts } from './facts.ts'
import { priceOf } from './goods.ts'
import type { Order } from './order.ts'

export function orderPage({ id, good, card, tds, answers }: Order, { service, appKey }: ShopFacts): Html {
  const authority = `curl -u :${appKey} ${service}/transactions/${id}`
  const form = `-d 'currency=EUR&amount=${good.price}'`
  const rows: [string, string | Html][] = [
    ['Ordered', good.name],
    ['Paid', `${priceOf(good.price)} with ${card}`],
    ['3-D Secure', secured[tds] ?? tds],
    ...answers,
    ['Transaction', html`<code id="transaction">${id}</code>`],
  ]
  return html`<div class="order">
<svg class="tick" viewBox="0 0 56 56" aria-hidden="true"><circle cx="28" cy="28" r="28" fill="#2f5d4a"/><path d="M17 29l8 8 15-17" fill="none" stroke="#fff" stroke-width="4" stroke-linecap="round" stroke-linejoin="round"/></svg>
<h1>Thank you</h1>
<p class="quiet">The shop has looked the transaction up and found that what it costs was paid. Only then does it say so.</p>
<dl>${rows.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
<h2>Look it up yourself</h2>
<pre class="command" tabindex="0">${authority}</pre>
<h2>Take the money when the parcel leaves</h2>
<p class="quiet">So far the amount is reserved on the card.</p>
<pre class="command" tabindex="0">${authority}/captures ${form}</pre>
<p class="back"><a class="button plain" href="/shop">Back to the shop</a></p>
</div>`
}

const secured: Record<string, string> = {
  full: 'The bank has made sure who paid',
  attempt: 'The bank could not be asked',
  none: 'Not asked for',
}

/** A transaction that is not there, failed, or was of another amount. */
export function noOrderPage(): Html {
  return html`<div class="order"><h1>No such order</h1>
<p class="quiet">There is no payment for it, or not of what it costs. Nothing will be sent.</p>
<p class="back"><a class="button plain" href="/shop">Back to the shop</a></p></div>`
}
