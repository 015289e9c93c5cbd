import type { Provider } from './provider.ts'
import { fields, idOf, link, oneEmail, text } from './read-profile.ts'

const scopes = 'https://auth.snapchat.com/oauth2/api'

/** https://developers.snap.com/snap-kit/login-kit/overview */
export const snapchat: Provider = {
  name: 'snapchat',
  base: 'https://accounts.snapchat.com',
  api: 'https://kit.snapchat.com',
  authorize: '/accounts/oauth2/auth',
  token: '/accounts/oauth2/token',
  scopes: [`${scopes}/user.external_id`, `${scopes}/user.display_name`, `${scopes}/user.bitmoji.avatar`],
  clientAuth: 'basic',

  async profile({ get, api }) {
    const query = encodeURIComponent('{me { externalId displayName bitmoji { avatar id } email } }')
    const { data } = fields(await get(`${api}/v1/me?query=${query}`))
    const me = fields(fields(data).me)
    return {
      subject: idOf(me.externalId, 'snapchat'),
      // Few apps are told an address; the word of those that are is taken.
      emails: oneEmail(me.email, true),
      name: text(me.displayName),
      avatar: link(fields(me.bitmoji).avatar),
    }
  },
}
