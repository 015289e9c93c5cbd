/** Some browsers have no formats for some languages, and would take those of their own; these are written like, or next door. */
const alike: Readonly<Record<string, string>> = { ga: 'en-IE', is: 'da-DK', mt: 'en-MT' }

export function knownLocale(locale: string): string {
  if (Intl.NumberFormat.supportedLocalesOf(locale).length > 0) return locale
  return alike[locale.split('-')[0] ?? ''] ?? 'en-GB'
}
