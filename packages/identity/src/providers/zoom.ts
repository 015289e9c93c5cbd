import type { Claims, Provider } from './provider.ts'
import { fields, flag, idOf, joined, link, oneEmail, text } from './read-profile.ts'

const byEmail = '100'

/** https://developers.zoom.us/docs/integrations/oauth/ and https://developers.zoom.us/docs/api/users/#tag/users/get/users/{userId} */
export const zoom: Provider = {
  name: 'zoom',
  base: 'https://zoom.us',
  api: 'https://api.zoom.us',
  authorize: '/oauth/authorize',
  token: '/oauth/token',
  scopes: [],
  clientAuth: 'basic',

  async profile({ get, api }) {
    const user = fields(await get(`${api}/v2/users/me`))
    return {
      subject: idOf(user.id, 'zoom'),
      emails: oneEmail(user.email, isVerified(user)),
      name: joined(user.first_name, user.last_name) ?? text(user.display_name),
      givenName: text(user.first_name),
      familyName: text(user.last_name),
      avatar: link(user.pic_url),
    }
  },
}

/** Only who signs in by email has to confirm it; for all others somebody else vouches. Where it does not tell how they sign in, it has to tell that they did. */
function isVerified({ verified, login_type, login_types }: Claims): boolean {
  const ways = [login_type, ...(Array.isArray(login_types) ? login_types : [])].flatMap((way) => text(way) ?? numberOf(way))
  return flag(verified) || (ways.length > 0 && !ways.includes(byEmail))
}

function numberOf(value: unknown): string[] {
  return typeof value === 'number' ? [String(value)] : []
}
