/** Nobody's language takes more: https://www.rfc-editor.org/rfc/rfc5646#section-4.4.1 */
const longest = 35

/** A language, perhaps with script, region and variants; what extensions say of calendars and the like is cut off. */
const tag =
  /^([a-z]{2,3}(?:-[a-z]{4})?(?:-(?:[a-z]{2}|\d{3}))?(?:-(?:[a-z0-9]{5,8}|\d[a-z0-9]{3}))*)(?:-[a-z0-9](?:-[a-z0-9]{1,8})+)*$/

/**
 * The language that somebody is written to in: the one that their metadata names, or the first that their browser asks for. In lower case, of
 * letters, digits and hyphens alone, whoever made it up.
 */
export function findLocale(
  metadata: Readonly<Record<string, unknown>> | undefined,
  acceptLanguage?: string | undefined,
): string | undefined {
  const accepted = acceptLanguage?.split(',', 20).map((range) => range.split(';', 1)[0])
  for (const candidate of [metadata?.locale, metadata?.lang, metadata?.language, ...(accepted ?? [])]) {
    const locale = typeof candidate === 'string' ? parseLocale(candidate) : undefined
    if (locale !== undefined) return locale
  }
  return undefined
}

/** `pt-BR` and `pt_BR` alike. */
function parseLocale(text: string): string | undefined {
  if (text.length > 100) return undefined
  const [, locale] = tag.exec(text.trim().toLowerCase().replaceAll('_', '-')) ?? []
  return locale !== undefined && locale.length <= longest ? locale : undefined
}

/** `pt` of `pt-br`. */
export function plainLanguage(locale: string): string {
  return locale.replace(/-.*$/, '')
}
