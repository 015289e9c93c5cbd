import { openidProfile } from './openid-profile.ts'
import type { Provider } from './provider.ts'

const home = 'https://api.linkedin.com'

/** https://learn.microsoft.com/en-us/linkedin/consumer/integrations/self-serve/sign-in-with-linkedin-v2 */
export const linkedinOidc: Provider = {
  name: 'linkedin_oidc',
  base: home,
  authorize: '/oauth/v2/authorization',
  token: '/oauth/v2/accessToken',
  scopes: ['openid', 'email', 'profile'],
  idTokens: {
    issuers: (base) => [`${issuingHost(base)}/oauth`],
    keys: (base) => `${issuingHost(base)}/oauth/openid/jwks`,
    withoutNonce: true,
  },

  profile: ({ idToken }) => openidProfile({ ...idToken, locale: localeOf(idToken.locale) }, 'linkedin_oidc'),
}

const issuingHost = (base: string) => (base === home ? 'https://www.linkedin.com' : base)

/** Told as `en_US` or as `{ language: 'en', country: 'US' }`. */
function localeOf(locale: unknown): unknown {
  if (typeof locale !== 'object' || locale === null || !('language' in locale)) return locale
  return 'country' in locale ? `${locale.language}_${locale.country}` : locale.language
}
