import type { Incoming } from '@tollgate/kit/endpoint'
import type { App } from '../app.ts'
import { destination } from '../rules/redirect.ts'

/** Where somebody is sent in the end: where the request says, or comes from, as far as the allow list lets it. */
export function findDestination({ config }: App, request: Incoming, named: string | undefined): string {
  const { redirect_to: header } = request.headers
  const candidates = [typeof header === 'string' ? header : undefined, named, request.headers.referer]
  return destination({ siteUrl: config.siteUrl, allowList: config.uriAllowList }, candidates)
}

/** The address that links in messages lead to: the host that the request came in by, where the operator lists it, or the usual one. */
export function findExternalUrl({ config }: App, { headers }: Incoming): string {
  const { externalHosts } = config.smtp.mailer
  if (externalHosts.length === 0) return config.externalUrl
  const forwarded = headers['x-forwarded-host']
  const host = (typeof forwarded === 'string' ? forwarded : headers.host)?.split(',')[0]?.trim().toLowerCase()
  if (host === undefined || !externalHosts.some((listed) => listed.toLowerCase() === host)) return config.externalUrl
  const plain = /^localhost(:\d+)?$/.test(host) && headers['x-forwarded-proto'] === 'http'
  return `${plain ? 'http' : 'https'}://${host}`
}
