/**
 * Where a merchant's shop is: a bare host name or an http(s) address, as it was written but for blanks around it. Undefined for anything
 * else, for somebody will make a link of it: `javascript:80` reads like a host with a port.
 */
export function parseWebsite(text: string): string | undefined {
  const website = text.trim()
  if (/[\s\p{Cc}\\<>"'`]/u.test(website)) return undefined
  const hasScheme = /^https?:\/\/[^/]/i.test(website)
  // The parser passes over any number of slashes in front of the host.
  if (!hasScheme && website.startsWith('/')) return undefined
  const url = URL.parse(hasScheme ? website : `https://${website}`)
  if (url?.username !== '' || url.password !== '') return undefined
  return hasScheme || url.hostname === 'localhost' || /^[^.].*\.[^.]+$/.test(url.hostname) ? website : undefined
}
