import { namedClaims } from './openid-profile.ts'
import type { Provider } from './provider.ts'
import { fields, idOf, joined, oneEmail, text } from './read-profile.ts'

/** https://workos.com/docs/reference/sso/get-authorization-url */
export const workos: Provider = {
  name: 'workos',
  base: 'https://api.workos.com',
  authorize: '/sso/authorize',
  token: '/sso/token',
  scopes: [],
  // One of the three says through which of its connections somebody comes in; `provider` is taken by our own parameter.
  handsOn: { workos_provider: 'provider', connection: 'connection', organization: 'organization' },

  profile({ tokenReply }) {
    const person = fields(tokenReply.profile)
    return {
      subject: idOf(person.id, 'workos'),
      // It says nothing of verification: the directory of the connection, which the installation has set up, vouches.
      emails: oneEmail(person.email, true),
      name: joined(person.first_name, person.last_name),
      givenName: text(person.first_name),
      familyName: text(person.last_name),
      customClaims: namedClaims(person, ['connection_id', 'connection_type', 'organization_id', 'idp_id', 'raw_attributes']),
    }
  },
}
