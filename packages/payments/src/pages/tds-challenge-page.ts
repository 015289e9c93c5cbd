import { Html, html } from '@tollgate/kit/html'
import { challengeStyle } from './challenge-style.ts'
import { challengeWords } from './challenge-words.ts'
import { dataBlock, type FramedPage, pageHead, policyOf } from './framed-page.ts'

export type TdsChallenge = {
  merchant: string
  /** Left out where nothing is paid and the card alone is looked at. */
  amountText?: string
  cardText: string
  /** What the page around this one is told when the payer confirms. */
  approve: readonly string[]
  /** What it is told when the payer refuses. */
  fail: readonly string[]
  /** A language, or several as browsers list them in Accept-Language. */
  language?: string
}

const script = `
addEventListener('DOMContentLoaded', function () {
  var outcomes = JSON.parse(document.getElementById('data').textContent)
  var buttons = document.querySelectorAll('button')
  buttons.forEach(function (button) {
    button.addEventListener('click', function () {
      buttons.forEach(function (each) { each.disabled = true })
      document.body.className = button.value
      var told = document.getElementById('told')
      told.textContent = outcomes[button.value].told
      told.focus()
      parent.postMessage({ hints: outcomes[button.value].hints }, '*')
    })
  })
}, { once: true })
`

const policy = policyOf({ script, style: challengeStyle })

/** What the simulator's bank shows to make sure that it is the holder of the card who pays. */
export function tdsChallengePage(challenge: TdsChallenge): FramedPage {
  const { merchant, amountText, cardText, approve, fail } = challenge
  const [language, words] = challengeWords(challenge.language ?? '')
  const page = html`${pageHead(language, words.bank, script)}
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<style>${new Html(challengeStyle)}</style>
</head>
<body>
<main>
<header><span class="bank"><svg viewBox="0 0 24 24" aria-hidden="true"><path d="M12 2 2 7.5V9h20V7.5zM4 11v6H3v3h18v-3h-1v-6h-3v6h-3.5v-6h-3v6H7v-6z"/></svg>${words.bank}</span><span class="mark">${words.simulation}</span></header>
<h1>${words.heading}</h1>
<dl>
<div><dt>${words.merchant}</dt><dd dir="auto">${merchant}</dd></div>
${amountText && html`<div class="amount"><dt>${words.amount}</dt><dd dir="auto">${amountText}</dd></div>`}
<div><dt>${words.card}</dt><dd dir="auto">${cardText}</dd></div>
</dl>
<div class="choice">
<button type="button" class="confirm" value="approve">${words.confirm}</button>
<button type="button" value="fail">${words.refuse}</button>
</div>
<p id="told" role="status" tabindex="-1"></p>
<p class="note">${words.note}</p>
</main>
${dataBlock({ approve: { hints: approve, told: words.confirmed }, fail: { hints: fail, told: words.refused } })}
</body>
</html>
`
  return { page: page.text, policy }
}
