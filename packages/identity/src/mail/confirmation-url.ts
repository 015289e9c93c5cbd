/** The address that a mail asks its reader to open. */
export function confirmationUrl(link: {
  externalUrl: string
  /** One of MAILER_URLPATHS_*: a path under the external address, or a whole address of its own. */
  path: string
  token: string
  type: string
  redirectTo?: string | undefined
}): string {
  const url = new URL(place(link.externalUrl, link.path))
  url.searchParams.set('token', link.token)
  url.searchParams.set('type', link.type)
  if (link.redirectTo) url.searchParams.set('redirect_to', link.redirectTo)
  return url.href
}

function place(externalUrl: string, path: string): string {
  if (/^https?:\/\//i.test(path)) return path
  const { origin, pathname } = new URL(externalUrl)
  const prefix = pathname.replace(/\/+$/, '')
  const below = `/${path.replace(/^\/+/, '')}`
  // Where a prefix used to be dropped from links, people wrote it into the path setting too.
  return below.startsWith(`${prefix}/`) && prefix !== '' ? origin + below : origin + prefix + below
}
