import type { Provider } from './provider.ts'
import { fields, idOf, link, list, oneEmail, text } from './read-profile.ts'

/** https://developer.spotify.com/documentation/web-api/tutorials/code-flow and https://developer.spotify.com/documentation/web-api/reference/get-current-users-profile */
export const spotify: Provider = {
  name: 'spotify',
  base: 'https://accounts.spotify.com',
  api: 'https://api.spotify.com',
  authorize: '/authorize',
  token: '/api/token',
  scopes: ['user-read-email'],
  clientAuth: 'basic',

  async profile({ get, api }) {
    const user = fields(await get(`${api}/v1/me`))
    return {
      subject: idOf(user.id, 'spotify'),
      // Its documentation warns that nobody has checked whether the address is theirs.
      emails: oneEmail(user.email, false),
      name: text(user.display_name),
      avatar: link(list(user.images)[0]?.url),
      profileUrl: link(fields(user.external_urls).spotify),
    }
  },
}
