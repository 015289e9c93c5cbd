import { createHash } from 'node:crypto'
import { Html, html } from '@tollgate/kit/html'
import { showArrival } from './arrival.ts'
import { enliven } from './browser.ts'
import { style } from './style.ts'

const script = `(${enliven})();(${showArrival})()`

function hash(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
}

/** Nothing comes from anywhere else, but for what a page asks of a service; and of what is written in it only our own style and script count. */
export const policy = ({ asks = [] }: Page) =>
  [
    "default-src 'none'",
    `style-src ${hash(style)}`,
    `script-src ${hash(script)}`,
    "img-src 'self'",
    ["connect-src 'self'", ...asks].join(' '),
    "frame-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

export type Surroundings = { version: string; count: number }

/** `asks`: the origins that its script speaks to. */
export type Page = { title: string; at?: 'welcome' | 'inbox'; main: Html; asks?: readonly string[] }

/** What all pages have around them. */
export function frame({ title, at, main }: Page, { version, count }: Surroundings): string {
  const current = (place: string) => at === place && html` aria-current="page"`
  return html`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="/favicon.svg">
<style>${new Html(style)}</style>
<body>
<a class="skip" href="#main">To the content</a>
<p id="lost" role="alert" hidden>Tollgate does not answer any more.
Start it again with <code>npm start</code>; this page will notice.</p>
<header class="top"><div>
<a class="brand" href="/"><img src="/favicon.svg" alt="" width="28" height="28">
<span>Tollgate <small>${version}</small></span></a>
<nav aria-label="Pages">
<a href="/"${current('welcome')}>Welcome</a>
<a href="/inbox"${current('inbox')}>Inbox <span class="count" data-count${count === 0 && html` hidden`}>${count}</span></a>
</nav>
</div></header>
<main id="main">
${main}
</main>
<p id="announcements" class="spoken" role="status"></p>
<script>${new Html(script)}</script>
</body>
</html>`.text
}

export function section(title: string, explanation: string, content: Html): Html {
  const header = html`<header><h2>${title}</h2>${explanation !== '' && html`<p>${explanation}</p>`}</header>`
  return html`<section>${header}<div class="content">${content}</div></section>`
}

/** A value to take along; the button is there only where it works. */
export function copyable(value: string, name: string, shown: Html): Html {
  const button = html`<button type="button" class="copy" data-copy="${value}" aria-label="Copy ${name}">Copy</button>`
  return html`<div class="value">${shown}${button}</div>`
}

/** A code in figures that can be read from afar; where the button does not work, one click selects all of it. */
export function codeToCopy(code: string, id: string): Html {
  const button = html`<button id="copy-${id}" type="button" class="copy" data-copy="${code}" aria-label="Copy the code ${code}">Copy</button>`
  return html`<div class="code"><span class="spoken">Code </span><code>${code}</code>${button}</div>`
}

/** A boom across the road. */
export const favicon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<rect width="32" height="32" rx="8" fill="#3a4fd8"/>
<path d="M7 8h4v16H7zM5 23h8v3H5z" fill="#fff"/><rect x="4" y="10" width="24" height="6" rx="2" fill="#fff"/>
<path d="m15 10h3.500l-2.500 6h-3.500zm7 0h3.500l-2.500 6h-3.500z" fill="#3a4fd8"/></svg>`
