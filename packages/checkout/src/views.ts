import { type Html, html } from './html.ts'
import type { Words } from './languages/words.ts'
import { outcomes } from './test-outcomes.ts'

export function testPanel(words: Words): Html {
  return html`<section class="test" aria-labelledby="test-heading">
<p class="test-title"><strong id="test-heading">${words.testMode}</strong> <span>${words.testModeExplained}</span></p>
<div class="test-tools" id="test-tools">
<label for="outcome">${words.testOutcome}</label>
<select id="outcome">${outcomes.map((name, index) => html`<option value="${name}"${index === 0 && html` selected`}>${words[name]}</option>`)}</select>
<button type="button" class="plain" id="fill-in">${words.testFillIn}</button>
</div>
</section>`
}

export function amountView(words: Words, currency: string, first: string): Html {
  return html`<form class="view" data-name="amount" id="amount-form" novalidate autocomplete="off"${first !== 'amount' && html` hidden`}>
<div class="field">
<label for="own-amount">${words.enterAmount}</label>
<div class="box large"><input id="own-amount" type="text" inputmode="decimal" autocomplete="off" maxlength="24"
 aria-describedby="own-amount-error own-amount-hint"><span class="unit" aria-hidden="true">${currency}</span></div>
<p class="error" id="own-amount-error"></p>
<p class="spoken" id="own-amount-hint">${words.amountHint.replace('{currency}', currency)}</p>
</div>
<button class="main" disabled>${words.continue}</button>
</form>`
}

type CardFacts = { say(text: string): string; amount: string | undefined; first: string; kind: string; recurring: boolean }

/** No field has a name: whatever happens to the script, a form without names sends nothing anywhere. */
export function cardView(words: Words, { say, amount, first, kind, recurring }: CardFacts): Html {
  return html`<form class="view" data-name="card" id="card-form" novalidate${first !== 'card' && html` hidden`}>
<div class="failure" id="failure" role="alert" tabindex="-1" hidden></div>
<div id="more-fields"></div>
<fieldset>
<legend class="spoken">${words.card}</legend>
<div class="field">
<label for="number">${words.cardNumber}</label>
<div class="box"><input id="number" type="text" inputmode="numeric" autocomplete="cc-number" spellcheck="false" autocapitalize="off"
 maxlength="32" aria-describedby="number-error"><span class="schemes" aria-hidden="true"><span class="scheme" data-scheme="visa">Visa</span><span
 class="scheme" data-scheme="mastercard">Mastercard</span></span></div>
<p class="error" id="number-error"></p>
</div>
<div class="pair">
<div class="field">
<label for="expiry">${words.expiry}</label>
<div class="box"><input id="expiry" type="text" inputmode="numeric" autocomplete="cc-exp" placeholder="${words.expiryHint}" maxlength="12"
 aria-describedby="expiry-error"></div>
<p class="error" id="expiry-error"></p>
</div>
<div class="field">
<label for="code">${words.securityCode}</label>
<div class="box"><input id="code" type="text" inputmode="numeric" autocomplete="cc-csc" maxlength="4" aria-describedby="code-error code-hint"><svg
 class="code-picture" viewBox="0 0 34 24" width="34" height="24" aria-hidden="true"><rect x=".75" y=".75" width="32.5" height="22.5" rx="3.5"/><path
 class="stripe" d="M1 6h32v4H1z"/><circle cx="26.500" cy="15.500" r="5"/><path class="digits" d="M24 15.500h.01M26.500 15.500h.01M29 15.500h.01"/></svg></div>
<p class="error" id="code-error"></p>
</div>
</div>
<p class="hint" id="code-hint">${words.securityCodeHelp}</p>
</fieldset>
<button class="main" id="pay" disabled>${amount === undefined ? words.continue : words.pay.replace('{amount}', () => amount)}</button>
<p class="agreement" id="agreement"${!recurring && html` hidden`}>${say(words.recurringExplained)}</p>
${kind === 'link' && amount === undefined && html`<button type="button" class="plain" id="change-amount">${words.changeAmount}</button>`}
<p class="secure">${lock}<span>${say(words.secure)}</span></p>
</form>`
}

export function payingView(words: Words): Html {
  return html`<section class="view paying" data-name="paying" hidden>
<div class="spinner" aria-hidden="true"></div>
<h2 id="step" tabindex="-1">${words.paying}</h2>
<p class="quiet" id="step-more">${words.doNotClose}</p>
</section>`
}

export function receiptView(words: Words): Html {
  return html`<section class="view receipt" data-name="paid" hidden>
<svg class="tick" viewBox="0 0 56 56" width="56" height="56" aria-hidden="true"><circle cx="28" cy="28" r="26"/><path d="M17 29l8 8 15-17"/></svg>
<h2 id="paid" tabindex="-1">${words.paid}</h2>
<p id="paid-more"></p>
<p class="returning" id="returning" hidden></p>
<dl id="receipt">
<div><dt>${words.receiptAmount}</dt><dd data-of="amount"></dd></div>
<div><dt>${words.receiptMerchant}</dt><dd data-of="merchant"></dd></div>
<div><dt>${words.receiptDate}</dt><dd data-of="date"></dd></div>
<div><dt>${words.receiptCard}</dt><dd data-of="card"></dd></div>
<div><dt>${words.reference}</dt><dd data-of="reference"></dd></div>
<div><dt>${words.receiptNumber}</dt><dd data-of="id" class="id"></dd></div>
</dl>
<div class="buttons">
<a class="main" id="return" hidden>${words.returnNow}</a>
<button type="button" class="plain" id="print">${words.print}</button>
<button type="button" class="plain" id="again" hidden>${words.newPayment}</button>
</div>
</section>`
}

export function unknownView(words: Words, say: (text: string) => string): Html {
  return html`<section class="view unknown" data-name="unknown" hidden>
<svg class="doubt" viewBox="0 0 56 56" width="56" height="56" aria-hidden="true"><circle cx="28" cy="28" r="26"/><path d="M28 16v15M28 39v.01"/></svg>
<h2 id="unknown" tabindex="-1">${words.outcomeUnknownTitle}</h2>
<p>${say(words.outcomeUnknown)}</p>
<div class="buttons"><button type="button" class="main" id="resume">${words.tryAgain}</button></div>
</section>`
}

export function challengeDialog(words: Words): Html {
  return html`<dialog class="challenge" id="challenge" aria-labelledby="challenge-heading" aria-describedby="challenge-more">
<header><div><h2 id="challenge-heading">${words.confirmWithBank}</h2><p id="challenge-more">${words.confirmWithBankExplained}</p></div>
<button type="button" class="plain" id="challenge-cancel">${words.cancel}</button></header>
<div class="challenge-frame" id="challenge-frame"></div>
</dialog>`
}

const lock = html`<svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true"><path d="M5 7V5a3 3 0 0 1 6 0v2M3.500 7h9v6.500h-9z"/></svg>`
