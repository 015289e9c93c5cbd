import type { Provider } from './provider.ts'
import { fields, idOf, link, oneEmail, text } from './read-profile.ts'

const api = 'https://api.figma.com'

/** https://developers.figma.com/docs/rest-api/authentication/ and https://developers.figma.com/docs/rest-api/users-endpoints/ */
export const figma: Provider = {
  name: 'figma',
  base: 'https://www.figma.com',
  api,
  authorize: '/oauth',
  token: `${api}/v1/oauth/token`,
  scopes: ['current_user:read'],
  clientAuth: 'basic',

  async profile({ get, api }) {
    const user = fields(await get(`${api}/v1/me`))
    return {
      subject: idOf(user.id, 'figma'),
      // It says nothing of confirmation; its word has always been taken.
      emails: oneEmail(user.email, true),
      name: text(user.handle),
      avatar: link(user.img_url),
    }
  },
}
