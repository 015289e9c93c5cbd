import type { IncomingMessage } from 'node:http'

const local = ['localhost', '127.0.0.1', '[::1]']

/**
 * A site elsewhere can have its own name resolve to this machine and then read what is served here as if it were its own; but
 * the browser still sends that name along.
 */
export function ownHost({ headers }: IncomingMessage, configured: string): boolean {
  const name = headers.host?.toLowerCase().replace(/:\d+$/, '') ?? ''
  return [...local, configured.toLowerCase(), `[${configured.toLowerCase()}]`].includes(name)
}

/** Whether a web page made the request, be it even one of ours: only a browser sends these. */
export function sentByPage({ headers }: IncomingMessage): boolean {
  return headers.origin !== undefined || headers['sec-fetch-site'] !== undefined
}

/** A page of another origin may send a form here, though it cannot read the answer. Programs send none of these headers. */
export function changesFromElsewhere({ method, headers }: IncomingMessage): boolean {
  if (method === 'GET' || method === 'HEAD') return false
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site !== 'same-origin' && site !== 'none'
  return headers.origin !== undefined && headers.origin !== `http://${headers.host}`
}
