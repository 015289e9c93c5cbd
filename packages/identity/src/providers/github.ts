import type { Provider } from './provider.ts'
import { emailOf, fields, flag, idOf, link, list, text } from './read-profile.ts'

const home = 'https://github.com'

/** https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps */
export const github: Provider = {
  name: 'github',
  base: home,
  // An enterprise server answers API calls under its own host.
  api: (base) => (base === home ? 'https://api.github.com' : `${base}/api/v3`),
  authorize: '/login/oauth/authorize',
  token: '/login/oauth/access_token',
  scopes: ['user:email'],
  // Enterprise servers that are too old to know it pass over it.
  pkce: true,

  async profile({ get, api }) {
    const [profile, emails] = await Promise.all([get(`${api}/user`), get<unknown>(`${api}/user/emails`)])
    const user = fields(profile)
    return {
      subject: idOf(user.id, 'github'),
      // Not the one of the profile, which people choose to show and which may be empty.
      emails: list(emails).flatMap(({ email, verified, primary }) =>
        emailOf(email, { verified: flag(verified), primary: flag(primary) }),
      ),
      name: text(user.name) ?? text(user.login),
      username: text(user.login),
      avatar: link(user.avatar_url),
      profileUrl: link(user.html_url),
    }
  },
}
