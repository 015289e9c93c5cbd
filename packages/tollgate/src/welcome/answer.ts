import type { ServerResponse } from 'node:http'
import { html } from '@tollgate/kit/html'
import { frame, type Page, policy, type Surroundings } from './frame.ts'

type Headers = Record<string, string>

/** What goes back over the wire: at once, or by somebody who goes on writing. */
export type Answer = { status: number; headers: Headers; body: string | Buffer | ((response: ServerResponse) => void) }

const always: Headers = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
}

export function answer(status: number, contentType: string, body: Answer['body'], headers: Headers = {}): Answer {
  return { status, headers: { ...always, 'Content-Type': contentType, ...headers }, body }
}

export function nothing(status: number, headers: Headers = {}): Answer {
  return { status, headers: { ...always, ...headers }, body: '' }
}

export function sentence(status: number, text: string, headers: Headers = {}): Answer {
  return answer(status, 'text/plain; charset=utf-8', `${text}\n`, headers)
}

export function json(value: unknown, status = 200): Answer {
  return answer(status, 'application/json', JSON.stringify(value, null, 2))
}

export function page(content: Page, around: Surroundings, status = 200): Answer {
  return answer(status, 'text/html; charset=utf-8', frame(content, around), { 'Content-Security-Policy': policy(content) })
}

export function notFound(around: Surroundings): Answer {
  const main = html`<div class="lone"><h1>Nothing is here</h1>
<p class="quiet">The address is wrong, or the message was cleared away.</p>
<a class="button primary" href="/">To the welcome page</a></div>`
  return page({ title: 'Nothing is here – Tollgate', main }, around, 404)
}

const foreignPolicy = [
  'sandbox',
  "default-src 'none'",
  'img-src data:',
  "style-src 'unsafe-inline'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'self'",
].join('; ')

/** Somebody else's HTML: nothing in it may run, load, or reach the page around it. */
export function foreignHtml(text: string): Answer {
  // A link cannot leave the sandbox, and following it inside would replace the message by an error.
  const body = `${text}\n<style>a { pointer-events: none }</style>`
  return answer(200, 'text/html; charset=utf-8', body, { 'Content-Security-Policy': foreignPolicy })
}

export function send(response: ServerResponse, { status, headers, body }: Answer): void {
  response.writeHead(status, typeof body === 'function' ? headers : { ...headers, 'Content-Length': Buffer.byteLength(body) })
  if (typeof body !== 'function') response.end(body)
  else if (response.req.method === 'HEAD') response.end()
  else body(response)
}
