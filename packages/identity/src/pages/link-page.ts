import { createHash } from 'node:crypto'
import { Html, html } from '@tollgate/kit/html'

type Words = { heading: string; sentence(site: string): string; button: string; note: string }

const notAsked = 'If you did not ask for this, close this page: nothing has happened yet.'

const words: Readonly<Record<string, Words>> = {
  signup: {
    heading: 'Confirm your email address',
    sentence: (site) => `One more step, and your account at ${site} is ready.`,
    button: 'Confirm my address',
    note: 'If you did not sign up, close this page: without a confirmation, nothing happens.',
  },
  invite: {
    heading: 'You have been invited',
    sentence: (site) => `Accept the invitation to join ${site}.`,
    button: 'Accept the invitation',
    note: 'If you did not expect an invitation, close this page: nothing has happened yet.',
  },
  recovery: {
    heading: 'Reset your password',
    sentence: (site) => `Go on to choose a new password for ${site}.`,
    button: 'Reset my password',
    note: 'If you did not ask for this, close this page: your password stays as it is.',
  },
  magiclink: {
    heading: 'Sign in',
    sentence: (site) => `Sign in to ${site}, no password needed.`,
    button: 'Sign in',
    note: notAsked,
  },
  // The one type that stands for either of two: what it is would take a look at the token to tell.
  email: {
    heading: 'Sign in',
    sentence: (site) => `Confirm your email address and sign in to ${site}.`,
    button: 'Sign in',
    note: notAsked,
  },
  email_change: {
    heading: 'Confirm your new email address',
    sentence: (site) => `The email address of your account at ${site} is about to change.`,
    button: 'Confirm the change',
    note: 'If you did not ask for this, do not confirm it, and change your password.',
  },
}

export type Link = { token: string; type: string; destination: string }

/**
 * What a link in a mail opens where it is not to be used up by those who open every link: a page whose one button, a form, goes on. Undefined
 * for a type that no link has. The token is not looked up, so that the page tells nothing and a wrong one takes as long as a right one.
 */
export function linkPage(link: Link, siteUrl: string): { page: string; policy: string } | undefined {
  const said = Object.hasOwn(words, link.type) ? words[link.type] : undefined
  return said && { page: write(said, link, new URL(siteUrl).host), policy: policyFor(link.destination) }
}

function write({ heading, sentence, button, note }: Words, { token, type, destination }: Link, site: string): string {
  // Without an action the form goes to the address of the page, under whatever name a proxy has it.
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${heading} &middot; ${site}</title>
<style>${new Html(style)}</style>
</head>
<body>
<main>
<p class="site">${site}</p>
<div class="card">
<h1>${heading}</h1>
<p>${sentence(site)}</p>
<form method="get">
<input type="hidden" name="token" value="${token}">
<input type="hidden" name="type" value="${type}">
<input type="hidden" name="redirect_to" value="${destination}">
<input type="hidden" name="confirm" value="yes">
<button>${button}</button>
</form>
<p class="note">${note}</p>
</div>
</main>
<script>${new Html(script)}</script>
</body>
</html>
`
  return page.text
}

// The look of our mails.
const style = `
:root { color-scheme: light dark; --page: #f5f6f9; --card: #ffffff; --line: #e0e4ec; --ink: #1c2230; --quiet: #5b6478; --accent: #3a4fd8; --pressed: #2f41b8; --label: #ffffff }
@media (prefers-color-scheme: dark) {
  :root { --page: #12151c; --card: #1a1e28; --line: #2b3140; --ink: #e6e9f0; --quiet: #98a1b5; --accent: #92a1ff; --pressed: #adb8ff; --label: #12151c }
}
* { box-sizing: border-box }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/25px -apple-system, BlinkMacSystemFont, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif; overflow-wrap: anywhere; -webkit-text-size-adjust: 100% }
main { max-width: 552px; margin: 0 auto; padding: 32px 16px }
p { margin: 0 0 16px }
.site { padding: 0 4px; font-size: 15px; line-height: 22px; font-weight: 600 }
.card { padding: 32px 28px 24px; background: var(--card); border: 1px solid var(--line); border-radius: 12px }
h1 { margin: 0 0 16px; font-size: 24px; line-height: 31px; font-weight: 650; letter-spacing: -0.01em }
form { margin: 28px 0 }
button { min-height: 48px; padding: 12px 24px; border: 2px solid transparent; border-radius: 8px; background: var(--accent); color: var(--label); font: inherit; font-weight: 600; line-height: 22px; cursor: pointer }
button:hover, button:active { background: var(--pressed) }
button:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px }
.note { margin: 0; padding-top: 20px; border-top: 1px solid var(--line); color: var(--quiet); font-size: 14px; line-height: 21px }
@media (max-width: 480px) {
  main { padding: 20px 12px }
  .card { padding: 24px 20px }
  button { width: 100% }
}`

/**
 * A second press would call off the answer to the first, and find the link used up. Whoever is still here after ten seconds, or comes back to
 * the page, may press again.
 */
const script = `
let sentAt = -Infinity
document.querySelector('form').addEventListener('submit', (event) => {
  if (event.timeStamp - sentAt < 10_000) event.preventDefault()
  else sentAt = event.timeStamp
})
window.addEventListener('pageshow', () => { sentAt = -Infinity })`

const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
const runs = `style-src ${hashOf(style)}; script-src ${hashOf(script)}`

/**
 * Chromium holds every redirect behind a form against form-action, by which time the link is used up, and says nothing when it stops one. Sites
 * lead on from where we lead to (to www, to a tenant), so that their scheme is allowed and not their host alone.
 */
function policyFor(destination: string): string {
  const form = `form-action 'self' ${new URL(destination).protocol}`
  return `default-src 'none'; ${runs}; base-uri 'none'; ${form}; frame-ancestors 'none'`
}
