import type { Provider } from './provider.ts'
import { fields, flag, idOf, link, oneEmail, text, told } from './read-profile.ts'

/** https://docs.slack.dev/legacy/legacy-authentication and https://docs.slack.dev/reference/methods/openid.connect.userInfo */
export const slack: Provider = {
  name: 'slack',
  base: 'https://slack.com',
  api: (base) => `${base}/api`,
  authorize: '/oauth/authorize',
  token: '/api/oauth.access',
  scopes: ['profile', 'email', 'openid'],

  async profile({ get, api }) {
    // Its refusals come with 200 and `ok: false`; they name nobody.
    const user = fields(await get(`${api}/openid.connect.userInfo`))
    const team = 'https://slack.com/team_id'
    return {
      subject: idOf(user['https://slack.com/user_id'], 'slack'),
      emails: oneEmail(user.email, flag(user.email_verified)),
      name: text(user.name),
      givenName: text(user.given_name),
      familyName: text(user.family_name),
      avatar: link(user.picture),
      locale: text(user.locale),
      customClaims: told({ [team]: text(user[team]) }),
    }
  },
}
