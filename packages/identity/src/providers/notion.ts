import type { Provider } from './provider.ts'
import { fields, idOf, link, oneEmail, text } from './read-profile.ts'

/** https://developers.notion.com/docs/authorization and https://developers.notion.com/reference/get-self */
export const notion: Provider = {
  name: 'notion',
  base: 'https://api.notion.com',
  authorize: '/v1/oauth/authorize',
  token: '/v1/oauth/token',
  scopes: [],
  clientAuth: 'basic-json',
  headers: { 'Notion-Version': '2021-08-16' },
  authorizeParameters: { owner: 'user' },

  async profile({ get, api }) {
    // The token is that of a bot; the person is whoever let it in. A bot of a whole workspace belongs to nobody.
    const { bot } = fields(await get(`${api}/v1/users/me`))
    const user = fields(fields(fields(bot).owner).user)
    return {
      subject: idOf(user.id, 'notion'),
      // It says nothing of confirmation, but people sign in there with codes that are mailed to this address.
      emails: oneEmail(fields(user.person).email, true),
      name: text(user.name),
      avatar: link(user.avatar_url),
    }
  },
}
