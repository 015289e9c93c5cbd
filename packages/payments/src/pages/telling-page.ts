import { html } from '@tollgate/kit/html'
import { dataBlock, type FramedPage, pageHead, policyOf } from './framed-page.ts'

const script = `
addEventListener('DOMContentLoaded', function () {
  parent.postMessage(JSON.parse(document.getElementById('data').textContent), '*')
}, { once: true })
`

const policy = policyOf({ script })

/** A page that nobody sees, which tells the page around it these hints, all in one message. */
export function tellingPage(title: string, hints: readonly string[]): FramedPage {
  const page = html`${pageHead('en', title, script)}
</head>
<body>${dataBlock({ hints })}</body>
</html>
`
  return { page: page.text, policy }
}
