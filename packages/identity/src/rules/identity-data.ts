import type { Profile } from '../providers/provider.ts'

export type IdentityData = Readonly<Record<string, unknown>>

/** What is kept of somebody as a provider told it, under the names that today's clients read. */
export function identityData(profile: Profile): IdentityData {
  const email = chosenEmail(profile)
  const { name, username, avatar, subject } = profile
  const told = {
    iss: profile.issuer,
    sub: subject,
    name,
    full_name: name,
    given_name: profile.givenName,
    family_name: profile.familyName,
    nickname: profile.nickname,
    preferred_username: username,
    user_name: username,
    profile: profile.profileUrl,
    picture: avatar,
    avatar_url: avatar,
    website: profile.website,
    gender: profile.gender,
    birthdate: profile.birthdate,
    zoneinfo: profile.zoneinfo,
    locale: profile.locale,
    email: email?.email,
    phone: profile.phone,
    provider_id: subject,
    custom_claims: hasMembers(profile.customClaims) ? profile.customClaims : undefined,
  }
  const kept = Object.entries(told).filter(([, value]) => value !== undefined && value !== '')
  return {
    ...Object.fromEntries(kept),
    email_verified: email?.verified ?? false,
    phone_verified: profile.phoneVerified ?? false,
  }
}

/** The one that counts: the primary, or else the last of those that are told. */
export function chosenEmail({ emails }: Profile): { email: string; verified: boolean } | undefined {
  return emails.find(({ primary }) => primary) ?? emails.at(-1)
}

function hasMembers(claims: object | undefined): boolean {
  return claims !== undefined && Object.keys(claims).length > 0
}
