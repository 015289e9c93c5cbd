import { createHmac } from 'node:crypto'
import { openidProfile } from './openid-profile.ts'
import type { Provider } from './provider.ts'
import { fields, idOf, joined, link, oneEmail, text } from './read-profile.ts'

const graph = 'https://graph.facebook.com'

/** https://developers.facebook.com/docs/facebook-login/guides/advanced/manual-flow and https://developers.facebook.com/docs/graph-api/guides/secure-requests */
export const facebook: Provider = {
  name: 'facebook',
  base: 'https://www.facebook.com',
  api: graph,
  authorize: '/dialog/oauth',
  token: `${graph}/oauth/access_token`,
  scopes: ['email'],
  // Limited Login on telephones gives nothing but such a token: https://developers.facebook.com/docs/facebook-login/limited-login/token
  idTokens: {
    issuers: (base) => [base],
    keys: (base) => `${base}/.well-known/oauth/openid/jwks/`,
    native: true,
  },

  async profile({ get, api, accessToken, clientSecret, idToken }) {
    if (accessToken === '') return { ...openidProfile(idToken, 'facebook'), emails: oneEmail(idToken.email, true) }
    // Shows that the token came to whoever has the secret, so that one stolen elsewhere is of no use where apps demand this proof.
    const proof = createHmac('sha256', clientSecret).update(accessToken).digest('hex')
    const user = fields(await get(`${api}/me?fields=email,first_name,last_name,name,picture&appsecret_proof=${proof}`))
    return {
      subject: idOf(user.id, 'facebook'),
      // It tells an address only where it holds one to be valid.
      emails: oneEmail(user.email, true),
      name: text(user.name) ?? joined(user.first_name, user.last_name),
      givenName: text(user.first_name),
      familyName: text(user.last_name),
      avatar: link(fields(fields(user.picture).data).url),
    }
  },
}
