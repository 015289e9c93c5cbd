import type { Provider } from './provider.ts'
import { emailOf, fields, idOf, link, list, oneEmail, text } from './read-profile.ts'

/** https://docs.gitlab.com/api/oauth2/, https://docs.gitlab.com/api/users/ and https://docs.gitlab.com/api/user_email_addresses/ */
export const gitlab: Provider = {
  name: 'gitlab',
  base: 'https://gitlab.com',
  authorize: '/oauth/authorize',
  token: '/oauth/token',
  scopes: ['read_user'],
  pkce: true,

  async profile({ get, api }) {
    const [profile, emails] = await Promise.all([get(`${api}/api/v4/user`), get<unknown>(`${api}/api/v4/user/emails`)])
    const user = fields(profile)
    const primary = oneEmail(user.email, text(user.confirmed_at) !== undefined)
    // Newer versions list the primary address among the others.
    const others = list(emails)
      .flatMap(({ email }) => emailOf(email, { verified: false, primary: false }))
      .filter(({ email }) => email !== primary[0]?.email)
    return {
      subject: idOf(user.id, 'gitlab'),
      emails: [...primary, ...others],
      name: text(user.name),
      username: text(user.username),
      avatar: link(user.avatar_url),
      profileUrl: link(user.web_url),
    }
  },
}
