import { type Html, html } from '@tollgate/kit/html'
import type { Facts } from './facts.ts'
import { section } from './frame.ts'

/** For people who come back from a provider, or from a link in a mail. What they bring is in the part of the address that only the browser sees. */
export function arrivalPage(identity: string, { testSignIn }: Facts): Html {
  return html`<div id="arrival" data-identity="${identity}">
<h1 data-arrival="title">Coming back</h1>
<p class="quiet" data-arrival="sentence" role="status"><noscript>Who you are is told to the script of this page alone, and scripts are off.</noscript></p>
<div data-arrival="session" hidden>
${section(
  'Who it is',
  'As GET /user tells it.',
  html`<dl>
<dt>Email</dt><dd data-arrival="email"></dd>
<dt>Name</dt><dd data-arrival="name"></dd>
<dt>Id</dt><dd><code data-arrival="id"></code></dd>
<dt>Signed in with</dt><dd data-arrival="provider"></dd>
</dl>`,
)}
${section(
  'The session',
  'An access token is short-lived; the refresh token gets the next one.',
  html`<dl>
<dt>Access token</dt><dd class="value"><code data-arrival="token"></code>
<button type="button" class="copy" data-copy="" data-arrival="copy" aria-label="Copy the access token">Copy</button></dd>
<dt>Valid until</dt><dd data-arrival="expiry"></dd>
</dl>
<p><button type="button" data-arrival="refresh">Refresh the token</button> <span class="quiet" data-arrival="refreshed" role="status"></span></p>`,
)}
</div>
<p class="ways"><a class="button" href="/">To the welcome page</a> <a class="button" href="/inbox">To the inbox</a>
${testSignIn !== undefined && html`<a class="button" href="${testSignIn}">Sign in again</a>`}</p>
</div>`
}
