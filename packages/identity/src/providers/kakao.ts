import { openidProfile } from './openid-profile.ts'
import type { Claims, Profile, Provider } from './provider.ts'
import { fields, flag, idOf, link, oneEmail, text } from './read-profile.ts'

/** https://developers.kakao.com/docs/latest/en/kakaologin/rest-api */
export const kakao: Provider = {
  name: 'kakao',
  base: 'https://kauth.kakao.com',
  api: 'https://kapi.kakao.com',
  authorize: '/oauth/authorize',
  token: '/oauth/token',
  scopes: ['account_email', 'profile_image', 'profile_nickname'],
  pkce: true,
  idTokens: { issuers: (base) => [base], keys: (base) => `${base}/.well-known/jwks.json`, native: true },

  async profile({ idToken, accessToken, get, api }) {
    // A native sign-in may bring nothing but the id token, which does not tell whether the address was ever verified.
    if (accessToken === '') return { ...openidProfile(idToken, 'kakao'), ...named(idToken.nickname) }
    const profile = profileOf(fields(await get(`${api}/v2/user/me`)))
    if (idToken.sub !== undefined && idToken.sub !== profile.subject) throw new Error('kakao: told of somebody else')
    return profile
  },
}

function profileOf({ id, kakao_account }: Claims): Profile {
  const account = fields(kakao_account)
  const { nickname, profile_image_url } = fields(account.profile)
  // An address stops being valid when it becomes that of another account.
  const verified = flag(account.is_email_verified) && flag(account.is_email_valid)
  return {
    subject: idOf(id, 'kakao'),
    emails: oneEmail(account.email, verified),
    ...named(nickname),
    avatar: link(profile_image_url),
  }
}

/** People have no other name there. */
const named = (nickname: unknown) => ({ name: text(nickname), nickname: text(nickname), username: text(nickname) })
