import type { Provider } from './provider.ts'
import { fields, idOf, link, list, oneEmail, text, told } from './read-profile.ts'

/** https://dev.twitch.tv/docs/authentication/getting-tokens-oauth/ and https://dev.twitch.tv/docs/api/reference/#get-users */
export const twitch: Provider = {
  name: 'twitch',
  base: 'https://id.twitch.tv',
  api: 'https://api.twitch.tv',
  authorize: '/oauth2/authorize',
  token: '/oauth2/token',
  scopes: ['user:read:email'],

  async profile({ get, api, clientId }) {
    const { data } = fields(await get(`${api}/helix/users`, { 'Client-Id': clientId }))
    const [user] = list(data)
    return {
      subject: idOf(user?.id, 'twitch'),
      // Its documentation: the user's verified email address.
      emails: oneEmail(user?.email, true),
      name: text(user?.login),
      username: text(user?.login),
      nickname: text(user?.display_name),
      avatar: link(user?.profile_image_url),
      customClaims: told({
        broadcaster_type: text(user?.broadcaster_type),
        description: text(user?.description),
        type: text(user?.type),
        offline_image_url: link(user?.offline_image_url),
      }),
    }
  },
}
