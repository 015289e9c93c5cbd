import { Html, html } from '@tollgate/kit/html'
import { type LinkWishes, makeLink } from '@tollgate/payments/rules/link-address'
import { qrPicture } from '@tollgate/payments/rules/qr'
import type { ShopFacts } from './facts.ts'
import { type Good, giftCard, goods, paymentFor, paymentForSubscription, priceOf, shopName, subscription } from './goods.ts'
import { pictureOf } from './pictures.ts'

export function catalogue(facts: ShopFacts, now: Date): Html {
  return html`<div class="wide">
<div class="lead"><h1>Things for a quiet house</h1>
<p>Six of them, and each is in stock. To pay, use the test card <code>4100 0000 0000 0000</code> with any date to come and any three digits.</p></div>
<ul class="goods">${goods.map(
    (good) => html`<li class="good">${pictureOf(good.id)}<div>
<h2>${good.name}</h2><p class="quiet">${good.about}</p>
<div class="buy"><span class="price">${priceOf(good.price)}</span>${buyButton(good, paymentFor(good), 'Buy')}</div>
</div></li>`,
  )}</ul>
<div class="ways">${monthly(now)}${byLink(facts)}</div>
${behindTheCounter(facts)}
</div>`
}

function buyButton({ name }: Good, payment: object, word: string): Html {
  // Enabled by the script, without which it would do nothing.
  return html`<button type="button" data-payment="${JSON.stringify(payment)}" aria-label="${word} ${name}" disabled>${word}</button>`
}

function monthly(now: Date): Html {
  return html`<section class="way">${pictureOf(subscription.id)}<div>
<h2>${subscription.name}</h2><p class="quiet">${subscription.about}. The first one is paid today, the next ones are agreed to: a <code>plan</code>.</p>
<div class="buy">${buyButton(subscription, paymentForSubscription(now), 'Subscribe')}<span class="price">${priceOf(subscription.price)} a month</span></div>
</div></section>`
}

function byLink(facts: ShopFacts): Html {
  const link = linkTo(facts)
  return html`<section class="way"><div>
<h2>${giftCard.name}</h2><p class="quiet">${giftCard.about}. Paid by a link, which needs no page of a shop: it goes into a mail, or on a sign as a code.</p>
<div class="buy"><a class="button plain" href="${link.url}">Pay by link</a><span class="price">${priceOf(giftCard.price)}</span></div>
</div><div class="qr">${new Html(qrPicture(link.url, link.label))}</div></section>`
}

function linkTo({ posUrl, key, url }: ShopFacts): { url: string; label: string } {
  const shop = { key, test: true, currency: 'EUR', name: shopName, website: url }
  const wishes: LinkWishes = { amount: giftCard.price, text: giftCard.name, reference: giftCard.id, redirect: `${url}/order` }
  const link = makeLink(posUrl, shop, wishes)
  if ('field' in link) throw new Error(`${link.field}: ${link.message}`)
  return link
}

function behindTheCounter({ service, key }: ShopFacts): Html {
  const [good] = goods
  const code = `<script src="${service}/sdk.js"></script>
<script>
  const shop = Paylike({ key: '${key}' })
  const payment = {
    test: true,
    amount: { currency: 'EUR', exponent: 2, value: ${good?.price} },
    title: '${good?.name}',
  }
  shop.pay(payment, (err, result) => {
    if (err) return console.log(err) // 'closed', 'superseded' or an Error
    location.href = '/thanks?transactionId=' + result.transaction.id
  })
</script>`
  return html`<section class="behind"><h2>Behind the counter</h2>
<p class="quiet">This is all that a page needs to take a payment. Card numbers never come near it: the popup belongs to the payments service.</p>
<pre tabindex="0" aria-label="The code of a page that takes a payment">${code}</pre></section>`
}
