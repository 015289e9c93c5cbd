import type { OAuth1Provider } from './oauth1.ts'
import { idOf, oneEmail, text } from './read-profile.ts'

/** https://docs.x.com/fundamentals/authentication/oauth-1-0a/obtaining-user-access-tokens */
export const twitter: OAuth1Provider = {
  name: 'twitter',
  base: 'https://api.twitter.com',
  scopes: [],
  requestToken: '/oauth/request_token',
  // Unlike /oauth/authorize it does not ask again whoever agreed already.
  authorize: '/oauth/authenticate',
  accessToken: '/oauth/access_token',

  async profile({ get, api }) {
    const wanted = 'include_email=true&include_entities=false&skip_status=true'
    const user = await get(`${api}/1.1/account/verify_credentials.json?${wanted}`)
    return {
      // Its number without quotes is too large for JSON readers, which would round it to somebody else's.
      subject: idOf(text(user.id_str), 'twitter'),
      // Null where there is none, where it is not verified, and where the client may not ask for it:
      // https://developer.x.com/en/docs/twitter-api/v1/accounts-and-users/manage-account-settings/api-reference/get-account-verify_credentials
      emails: oneEmail(user.email, true),
      name: text(user.name),
      username: text(user.screen_name),
      avatar: originalSize(text(user.profile_image_url_https)),
      website: text(user.url),
    }
  },
}

/** `…/photo_normal.png` is 48 pixels wide, `…/photo.png` as it was uploaded. */
function originalSize(image: string | undefined): string | undefined {
  return image?.replace(/_normal(?=(\.\w+)?$)/, '')
}
