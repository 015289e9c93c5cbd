import type { Claims, Profile } from './provider.ts'
import { fields, flag, idOf, link, oneEmail, text } from './read-profile.ts'

/** Somebody by the standard claims, as an id token or a userinfo endpoint tells them: https://openid.net/specs/openid-connect-core-1_0.html#StandardClaims */
export function openidProfile(claims: Claims, provider: string): Profile {
  return {
    subject: idOf(claims.sub, provider),
    emails: oneEmail(claims.email, flag(claims.email_verified)),
    name: text(claims.name),
    givenName: text(claims.given_name),
    familyName: text(claims.family_name),
    nickname: text(claims.nickname),
    username: text(claims.preferred_username),
    avatar: link(claims.picture),
    profileUrl: link(claims.profile),
    website: link(claims.website),
    locale: text(claims.locale),
    gender: text(claims.gender),
    birthdate: text(claims.birthdate),
    zoneinfo: text(claims.zoneinfo),
    phone: text(claims.phone_number),
    phoneVerified: claims.phone_number_verified === undefined ? undefined : flag(claims.phone_number_verified),
    issuer: text(claims.iss),
  }
}

/**
 * What the userinfo endpoint told, provided that it told it of the person whom the id token is about: an access token of somebody
 * else would otherwise lend their address to the bearer of an id token. https://openid.net/specs/openid-connect-core-1_0.html#UserInfoResponse
 */
export function ofSamePerson(idToken: Claims, userinfo: unknown, provider: string): Claims {
  const told = fields(userinfo)
  if (idToken.sub !== undefined && idToken.sub !== told.sub) throw new Error(`${provider}: told of somebody else`)
  return told
}

/** What says who somebody is, and stands in a profile under its own name. */
const standard = new Set(
  'sub email email_verified name given_name family_name nickname preferred_username picture profile website locale gender birthdate zoneinfo phone_number phone_number_verified'.split(
    ' ',
  ),
)

/** What is about the token and the sign-in that it stems from, not about the person. */
const ofTheToken = new Set(
  'iss aud exp iat nbf jti nonce azp at_hash c_hash s_hash auth_time acr amr sid typ session_state'.split(' '),
)

/** What is told of somebody besides the standard claims, under its own names. */
export function furtherClaims(claims: Claims, except: readonly string[] = []): Claims | undefined {
  const known = (name: string) => standard.has(name) || ofTheToken.has(name) || except.includes(name)
  return namedClaims(
    claims,
    Object.keys(claims).filter((name) => !known(name)),
  )
}

/** Claims of these names, as far as they say something. */
export function namedClaims(claims: Claims, names: readonly string[]): Claims | undefined {
  const found = names.filter((name) => claims[name] !== undefined && claims[name] !== null && claims[name] !== '')
  return found.length > 0 ? fields(keepable(Object.fromEntries(found.map((name) => [name, claims[name]])))) : undefined
}

/** The same without what PostgreSQL cannot keep, however deep it is hidden. */
function keepable(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('\0', '').toWellFormed()
  if (Array.isArray(value)) return value.map(keepable)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map((entry) => entry.map(keepable)))
}
