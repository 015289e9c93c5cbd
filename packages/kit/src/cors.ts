/** Which pages of other origins may call a service from a browser. */
export type Cors = {
  decorate(origin: string | undefined, headers: Record<string, string | number>): void
  preflight(origin: string | undefined): Record<string, string>
}

/**
 * Any origin may call. That is safe where a caller proves who they are with a header that a page must know to send: there
 * is no cookie that a foreign page could ride on.
 */
export function anyOrigin(settings: {
  methods: readonly string[]
  headers: readonly string[]
  exposed: readonly string[]
  /** Whether browsers may send along what they keep for us; without, no page can even ask them to. */
  credentials: boolean
}): Cors {
  const exposed = settings.exposed.join(', ')
  const methods = settings.methods.join(', ')
  const allowed = settings.headers.join(', ')
  return {
    decorate(origin, headers) {
      headers.vary = headers.vary === undefined ? 'Origin' : `${headers.vary}, Origin`
      if (origin === undefined) return
      headers['access-control-allow-origin'] = origin
      if (settings.credentials) headers['access-control-allow-credentials'] = 'true'
      if (exposed !== '') headers['access-control-expose-headers'] = exposed
    },
    preflight(origin) {
      if (origin === undefined) return {}
      return {
        'access-control-allow-methods': methods,
        'access-control-allow-headers': allowed,
        'access-control-max-age': '86400',
      }
    },
  }
}
