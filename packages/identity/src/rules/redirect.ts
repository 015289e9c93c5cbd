import { compileGlob, type Glob } from './glob.ts'

export type RedirectRules = {
  siteUrl: string
  /** Globs of further addresses. */
  allowList: readonly string[]
}

/**
 * Where somebody may be sent: the first candidate that is the site itself or is on the allow list, or else the site.
 * A candidate that is refused is not an error, for whoever tries should not learn what is on the list.
 */
export function destination(rules: RedirectRules, candidates: readonly (string | undefined)[]): string {
  for (const candidate of candidates) {
    const target = candidate === undefined ? undefined : readTarget(candidate)
    if (target && (isSite(target, rules.siteUrl) || isListed(target, rules.allowList))) return target.exact
  }
  return rules.siteUrl
}

type Target = {
  url: URL
  /** What to send people to: as given, but for letters that cannot travel in a header. */
  exact: string
  /** Host and port as written, in lower case; empty where an address of an app has none. */
  authority: string
  /** All but the fragment, as written and as a browser resolves it. */
  spellings: readonly string[]
}

const web = new Set(['http:', 'https:'])
const otherWeb = new Set(['ws:', 'wss:', 'ftp:'])
/** Schemes whose addresses run, read or hold something instead of leading somewhere: no glob means them. */
const never = new Set(['javascript:', 'data:', 'vbscript:', 'file:', 'blob:', 'about:', 'filesystem:', 'view-source:', 'intent:'])

/** Nobody's header takes more. */
const longest = 8192

/**
 * Reads an address that browsers, proxies and this service understand alike, or nothing. Browsers forgive a lot: they drop tabs,
 * turn backslashes, decode hosts, take numbers for addresses. Whatever would need forgiving is not worth being redirected to.
 */
function readTarget(text: string): Target | undefined {
  if (text.length > longest) return undefined
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\u0000-\u0020\u007f-\u00a0\u1680\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff\\]/.test(text)) return undefined
  const [, scheme, , written = '', path = '', query = ''] =
    /^([a-z][a-z0-9+.-]*:)(\/\/([^/?#]*))?([^?#]*)(\?[^#]*)?(#.*)?$/i.exec(text) ?? []
  const url = URL.parse(text)
  if (!url || scheme === undefined || never.has(url.protocol)) return undefined
  const authority = written.toLowerCase()
  if (!isPlainAuthority(authority, url)) return undefined
  // An address whose path is empty has the path `/` for a browser, and is matched as it is written.
  const resolved = path === '' ? '' : url.pathname
  const slashes = text.startsWith('//', scheme.length) ? '//' : ''
  const start = `${url.protocol}${slashes}${authority}`
  return {
    url,
    exact: isAscii(text) ? text : `${start}${resolved}${url.search}${url.hash}`,
    authority,
    spellings: [`${start}${path}${query}`, `${start}${resolved}${url.search}`],
  }
}

/** A name or an IPv6 address, with a port or without, spelt as it is understood: no user, no escapes, no numbers in disguise. */
function isPlainAuthority(authority: string, url: URL): boolean {
  const host = authority.replace(/:\d{1,5}$/, '')
  if (web.has(url.protocol)) return host === url.hostname && /^([a-z0-9.-]+|\[[0-9a-f:]+\])$/.test(host)
  // What an app calls its pages is its own business.
  return !otherWeb.has(url.protocol) && /^[a-z0-9._~-]*$/.test(host)
}

function isSite({ url }: Target, siteUrl: string): boolean {
  const site = URL.parse(siteUrl)
  if (!site || !web.has(url.protocol) || !web.has(site.protocol)) return false
  if (site.protocol === 'https:' && url.protocol === 'http:') return false
  return url.hostname === site.hostname && (url.port === site.port || isLoopback(url.hostname))
}

function isListed({ authority, spellings }: Target, allowList: readonly string[]): boolean {
  const host = authority.replace(/:\d+$/, '')
  if (isNumeric(host) && !isLoopback(host)) return false
  // As written alone would let `/app/../admin` pass for a page of `/app/**`.
  return globsOf(allowList).some((glob) => spellings.every((text) => glob({ text, authority })))
}

function isNumeric(host: string): boolean {
  return host.startsWith('[') || /^(0x[0-9a-f.]*|[\d.]+)$/.test(host)
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || host === '127.0.0.1' || host === '[::1]'
}

function isAscii(text: string): boolean {
  return Buffer.byteLength(text) === text.length
}

const compiled = new WeakMap<readonly string[], Glob[]>()

/** The list is one and the same as long as the process lives, so that its globs are compiled once. */
function globsOf(allowList: readonly string[]): Glob[] {
  const known = compiled.get(allowList)
  if (known) return known
  const globs = allowList.map(compileGlob).filter((glob) => glob !== undefined)
  compiled.set(allowList, globs)
  return globs
}
