import type { Provider } from './provider.ts'
import { emailOf, fields, flag, idOf, link, list, text } from './read-profile.ts'

/** https://developer.atlassian.com/cloud/bitbucket/oauth-2/ and https://developer.atlassian.com/cloud/bitbucket/rest/api-group-users/ */
export const bitbucket: Provider = {
  name: 'bitbucket',
  base: 'https://bitbucket.org',
  api: 'https://api.bitbucket.org',
  authorize: '/site/oauth2/authorize',
  token: '/site/oauth2/access_token',
  scopes: ['account', 'email'],
  clientAuth: 'basic',

  async profile({ get, api }) {
    const [user, emails] = (await Promise.all([get(`${api}/2.0/user`), get(`${api}/2.0/user/emails`)])).map(fields)
    return {
      subject: idOf(user?.uuid, 'bitbucket'),
      emails: list(emails?.values).flatMap(({ email, is_confirmed, is_primary }) =>
        emailOf(email, { verified: flag(is_confirmed), primary: flag(is_primary) }),
      ),
      name: text(user?.display_name),
      nickname: text(user?.nickname),
      avatar: link(fields(fields(user?.links).avatar).href),
    }
  },
}
