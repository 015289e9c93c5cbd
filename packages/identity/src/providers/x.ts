import type { Provider } from './provider.ts'
import { fields, idOf, link, oneEmail, text, told } from './read-profile.ts'

const home = 'https://x.com'
const api = 'https://api.x.com'
const wanted = 'id,name,username,confirmed_email,profile_image_url,url,created_at'

/** https://docs.x.com/fundamentals/authentication/oauth-2-0/user-access-token and https://docs.x.com/x-api/users/get-my-user */
export const x: Provider = {
  name: 'x',
  base: home,
  api,
  authorize: '/i/oauth2/authorize',
  token: `${api}/2/oauth2/token`,
  scopes: ['users.email', 'tweet.read', 'users.read', 'offline.access'],
  clientAuth: 'basic',
  pkce: true,

  async profile({ get, api }) {
    const { data } = fields(await get(`${api}/2/users/me?user.fields=${wanted}`))
    const user = fields(data)
    const username = text(user.username)
    return {
      subject: idOf(user.id, 'x'),
      emails: oneEmail(user.confirmed_email, true),
      name: text(user.name),
      username,
      avatar: link(user.profile_image_url),
      profileUrl: username && `${home}/${encodeURIComponent(username)}`,
      website: link(user.url),
      customClaims: told({ created_at: text(user.created_at) }),
    }
  },
}
