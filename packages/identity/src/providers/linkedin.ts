import type { Provider } from './provider.ts'
import { fields, idOf, joined, link, list, oneEmail, text } from './read-profile.ts'

const me = '/v2/me?projection=(id,firstName,lastName,profilePicture(displayImage~:playableStreams))'
const address = '/v2/emailAddress?q=members&projection=(elements*(handle~))'

/** https://learn.microsoft.com/en-us/linkedin/shared/authentication/authorization-code-flow and https://learn.microsoft.com/en-us/linkedin/shared/integrations/people/profile-api */
export const linkedin: Provider = {
  name: 'linkedin',
  base: 'https://api.linkedin.com',
  authorize: '/oauth/v2/authorization',
  token: '/oauth/v2/accessToken',
  scopes: ['r_emailaddress', 'r_liteprofile'],

  async profile({ get, api }) {
    const [user, emails] = (await Promise.all([get(`${api}${me}`), get(`${api}${address}`)])).map(fields)
    const [givenName, familyName] = [nameOf(user?.firstName), nameOf(user?.lastName)]
    const [picture] = list(fields(fields(user?.profilePicture)['displayImage~']).elements)
    return {
      subject: idOf(user?.id, 'linkedin'),
      // It tells the primary address alone, which is confirmed.
      emails: oneEmail(fields(list(emails?.elements)[0]?.['handle~']).emailAddress, true),
      name: joined(givenName, familyName),
      givenName,
      familyName,
      avatar: link(list(picture?.identifiers)[0]?.identifier),
    }
  },
}

/** A name in the language that somebody likes best, or in any other. */
function nameOf(value: unknown): string | undefined {
  const { localized, preferredLocale } = fields(value)
  const { language, country } = fields(preferredLocale)
  const names = fields(localized)
  return text(names[`${language}_${country}`]) ?? Object.values(names).map(text).find(Boolean)
}
