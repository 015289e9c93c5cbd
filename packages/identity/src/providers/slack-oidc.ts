import { namedClaims, ofSamePerson, openidProfile } from './openid-profile.ts'
import type { Provider } from './provider.ts'

/** https://docs.slack.dev/authentication/sign-in-with-slack */
export const slackOidc: Provider = {
  name: 'slack_oidc',
  base: 'https://slack.com',
  authorize: '/openid/connect/authorize',
  token: '/api/openid.connect.token',
  scopes: ['profile', 'email', 'openid'],
  idTokens: { issuers: (base) => [base], keys: (base) => `${base}/openid/connect/keys` },

  async profile({ idToken, get, api }) {
    const user = ofSamePerson(idToken, await get(`${api}/api/openid.connect.userInfo`), 'slack_oidc')
    return { ...openidProfile(user, 'slack_oidc'), customClaims: namedClaims(user, ['https://slack.com/team_id']) }
  },
}
