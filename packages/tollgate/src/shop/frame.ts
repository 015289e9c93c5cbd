import { createHash } from 'node:crypto'
import { Html, html } from '@tollgate/kit/html'
import { type Answer, answer } from '../welcome/answer.ts'
import { sell } from './counter.ts'
import type { ShopFacts } from './facts.ts'
import { shopName } from './goods.ts'
import { style } from './style.ts'

const script = `(${sell})()`

/** A shop on the web has a policy like this one: its own script and style, and the payments service for the popup. */
function policyWith({ service }: ShopFacts): string {
  const { origin } = new URL(service)
  return [
    "default-src 'none'",
    `script-src ${hash(script)} ${origin}`,
    `style-src ${hash(style)}`,
    `frame-src ${origin}`,
    "img-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

function hash(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
}

/** `sells`: it has buttons that open the popup. */
export function shopPage(content: { title: string; main: Html; sells?: boolean }, facts: ShopFacts, status = 200): Answer {
  const { title, main, sells } = content
  const scripts = html`<script src="${new URL('sdk.js', `${facts.service}/`).href}"></script>
<script>${new Html(script)}</script>`
  const text = html`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="/shop/leaf.svg">
<style>${new Html(style)}</style>
<body data-key="${facts.key}">
<a class="skip" href="#main">To the content</a>
<header><div class="note"><p class="wide"><span>A shop to try things out with. Nothing is sent, and no money moves.</span> <a href="/">Back to Tollgate</a></p></div>
<div class="top wide"><a class="brand" href="/shop">${new Html(leaf)}<span>${shopName}</span></a></div></header>
<main id="main">
${main}
</main>
<footer><p class="wide">${shopName} is part of Tollgate&rsquo;s development mode. What it sells is in the transactions of its merchant.</p></footer>
<p id="said" role="status"></p>
${sells && scripts}
</body>
</html>`.text
  return answer(status, 'text/html; charset=utf-8', text, { 'Content-Security-Policy': policyWith(facts) })
}

export const leaf = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 48 48" aria-hidden="true"><circle cx="24" cy="24" r="24" fill="#2f5d4a"/>
<path d="M8 33q8-7 16 0t16 0v6q-7 6-16 6T8 39z" fill="#7fa6b8"/><path d="M24 36V11" stroke="#dcebe0" stroke-width="2" stroke-linecap="round"/>
<g fill="#dcebe0"><path d="M24 17q6-7 9-3-2 5-9 3zM24 17q-6-7-9-3 2 5 9 3zM24 24q8-8 12-3-3 6-12 3zM24 24q-8-8-12-3 3 6 12 3zM24 31q8-7 11-2-3 5-11 2zM24 31q-8-7-11-2 3 5 11 2z"/></g></svg>`
