import { namedClaims, openidProfile } from './openid-profile.ts'
import type { Claims, Provider } from './provider.ts'
import { fields } from './read-profile.ts'

const home = 'https://accounts.google.com'

/** https://developers.google.com/identity/openid-connect/openid-connect */
export const google: Provider = {
  name: 'google',
  base: home,
  api: 'https://www.googleapis.com',
  authorize: '/o/oauth2/v2/auth',
  token: 'https://oauth2.googleapis.com/token',
  scopes: ['email', 'profile'],
  pkce: true,
  idTokens: {
    // Some of its tokens name the issuer without the scheme.
    issuers: (base) => (base === home ? [home, 'accounts.google.com'] : [base]),
    keys: (base) => `${base === home ? 'https://www.googleapis.com' : base}/oauth2/v3/certs`,
    native: true,
  },

  async profile({ idToken, get, api }) {
    const claims = idToken.sub === undefined ? standardNames(fields(await get(`${api}/userinfo/v2/me`))) : idToken
    return { ...openidProfile(claims, 'google'), customClaims: namedClaims(claims, ['hd']) }
  },
}

/** Its older userinfo endpoint has names of its own for two of the claims. */
function standardNames(user: Claims): Claims {
  return { ...user, sub: user.id, email_verified: user.verified_email }
}
