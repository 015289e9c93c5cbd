import { furtherClaims, ofSamePerson, openidProfile } from './openid-profile.ts'
import type { Provider } from './provider.ts'

/** https://www.keycloak.org/securing-apps/oidc-layers; the base is the address of a realm. */
export const keycloak: Provider = {
  name: 'keycloak',
  authorize: '/protocol/openid-connect/auth',
  token: '/protocol/openid-connect/token',
  // Since version 19 it tells nothing to a token that lacks openid.
  scopes: ['openid', 'profile', 'email'],
  pkce: true,
  idTokens: {
    issuers: (base) => [base],
    keys: (base) => `${base}/protocol/openid-connect/certs`,
    native: true,
  },

  async profile({ idToken, accessToken, get, api, base }) {
    const ask = async () => ofSamePerson(idToken, await get(`${api}/protocol/openid-connect/userinfo`), 'keycloak')
    // A native sign-in may bring nothing but the id token.
    const claims = accessToken === '' ? idToken : await ask()
    return { ...openidProfile(claims, 'keycloak'), issuer: base, customClaims: furtherClaims(claims) }
  },
}
