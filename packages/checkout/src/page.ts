import { fill } from './fill.ts'
import { type Files, frame } from './frame.ts'
import { dataBlock, html } from './html.ts'
import { formatAmount } from './money.ts'
import type { PageData, PageFacts } from './page-data.ts'
import { amountView, cardView, challengeDialog, payingView, receiptView, testPanel, unknownView } from './views.ts'

/** The hosted page, or what is in the frame of the popup: everything that it may show stands in it from the start, most of it hidden. */
export function renderPage(facts: PageFacts, files: Files): string {
  const { kind, language, merchant, payment } = facts
  const { words, locale } = language
  const say = (text: string) => fill(text, { merchant: merchant.name })
  const { language: _, ...known } = facts
  const amount = payment.minor === undefined ? undefined : formatAmount({ ...payment, minor: payment.minor }, locale)
  const first = kind === 'popup' ? 'wait' : amount === undefined ? 'amount' : 'card'
  const content = html`<div class="ground">
<main class="sheet" id="sheet" data-view="${first}">
${kind === 'popup' && html`<button type="button" class="close" id="close" aria-label="${words.close}">${cross}</button>`}
${merchant.test && testPanel(words)}
<header class="summary">
<div class="payee"><span class="monogram" aria-hidden="true">${initialOf(merchant.name)}</span>
<div><p class="shop" id="shop" hidden>${merchant.name}</p>
<h1 id="heading">${kind === 'popup' ? merchant.name : say(words.payTo)}</h1></div></div>
<p class="amount" id="amount"${amount === undefined && html` hidden`}>${amount}</p>
<p class="text" id="text"${payment.text === undefined && html` hidden`}>${payment.text}</p>
<p class="reference"${payment.reference === undefined && html` hidden`}><span>${words.reference}</span> ${payment.reference}</p>
<div class="plan" id="plan" hidden><p id="plan-heading">${words.planExplained}</p><ul aria-labelledby="plan-heading"></ul></div>
</header>
<noscript><div class="notice"><h2>${words.scriptNeeded}</h2><p>${words.scriptNeededExplained}</p></div></noscript>
<div class="views">
${kind === 'link' && amount === undefined && amountView(words, payment.currency, first)}
${cardView(words, { say, amount, first, kind, recurring: payment.recurring })}
${payingView(words)}
${receiptView(words)}
${unknownView(words, say)}
</div>
<p class="spoken" id="live" aria-live="polite"></p>
</main>
</div>
${challengeDialog(words)}
${dataBlock('data', { ...known, locale, words } satisfies PageData)}`
  return frame(content, { language: language.code, title: say(words.title), kind, files })
}

const cross = html`<svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true"><path d="M5 5l10 10M15 5L5 15"/></svg>`

function initialOf(name: string): string {
  return (/[\p{L}\p{N}]/u.exec(name)?.[0] ?? '·').toUpperCase()
}
