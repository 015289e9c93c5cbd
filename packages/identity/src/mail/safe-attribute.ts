import { TemplateProblem } from './template-syntax.ts'

const linkAttributes = new Set(
  'action archive background cite classid codebase data formaction href icon longdesc manifest poster profile usemap'.split(' '),
)
const codeAttributes = new Set(['srcdoc', 'srcset', 'imagesrcset', 'content', 'http-equiv', 'sandbox', 'type', 'rel', 'target'])

/**
 * What a value may be where it stands: not yet escaped, but unable to become code or a link of a forbidden scheme.
 * `before` is what the attribute holds already.
 */
export function safeAttribute(attribute: string, before: string, value: string, ownLink: boolean): string {
  const name = attribute.replace(/^(data-|xlink:)/, '')
  if (name.startsWith('on') || codeAttributes.has(name)) {
    throw new TemplateProblem(`A value cannot stand in the attribute "${attribute}"`)
  }
  if (name === 'style') return /^[#\w.% -]*$/.test(value) ? value : ''
  if (linkAttributes.has(name) || /src|ur[il]/.test(name)) return safeUrl(before, value, ownLink)
  return value
}

const code = /^\s*(javascript|vbscript|data)\s*:/i

function safeUrl(before: string, value: string, ownLink: boolean): string {
  if (code.test(before)) throw new TemplateProblem('A value cannot stand in an address that is code')
  if (/[?#]/.test(before)) return encodeURIComponent(value).replace(/[!'()*]/g, percent)
  const address = keepLegal(value)
  if (before.trim() === '') return isAllowed(address, ownLink) ? address : '#'
  // Whatever could still become a scheme must not be made one.
  return /[:/]/.test(before) ? address : address.replaceAll(':', '%3A')
}

/** Escapes what cannot be in an address, blanks and line breaks among it; what is escaped already stays as it is. */
function keepLegal(address: string): string {
  return address.replace(/[^A-Za-z0-9\-._~:/?#[\]@!$&()*+,;=%]/gu, (character) => {
    const escaped = encodeURIComponent(character)
    return escaped === character ? percent(character) : escaped
  })
}

function percent(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`
}

const publicSchemes = new Set(['http', 'https', 'mailto', 'tel'])
const dangerousSchemes = new Set(['javascript', 'vbscript', 'data', 'blob', 'file', 'filesystem', 'about', 'view-source', 'jar'])

function isAllowed(address: string, ownLink: boolean): boolean {
  const [, scheme] = /^([^/?#]*?):/.exec(address) ?? []
  if (scheme === undefined || publicSchemes.has(scheme.toLowerCase())) return true
  // Links of our own may lead into an app, since the redirect rules let its scheme pass.
  return ownLink && /^[a-z][a-z0-9+.-]*$/i.test(scheme) && !dangerousSchemes.has(scheme.toLowerCase())
}
