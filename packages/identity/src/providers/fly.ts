import type { Provider } from './provider.ts'
import { fields, idOf, list, oneEmail, text, told } from './read-profile.ts'

/** https://fly.io/docs/reference/extensions_api/#single-sign-on-flow */
export const fly: Provider = {
  name: 'fly',
  base: 'https://api.fly.io',
  authorize: '/oauth/authorize',
  token: '/oauth/token',
  scopes: ['read'],

  async profile({ get, api }) {
    const user = fields(await get(`${api}/oauth/token/info`))
    const organizations = list(user.organizations).map(({ id, role }) => told({ id: text(id), role: text(role) }) ?? {})
    return {
      subject: idOf(user.user_id, 'fly'),
      // Its documentation promises that addresses are confirmed. This one is an alias that does not change.
      emails: oneEmail(user.email, true),
      name: text(user.user_name),
      customClaims: told({
        resource_owner_id: text(user.resource_owner_id),
        organizations: organizations.length > 0 ? organizations : undefined,
      }),
    }
  },
}
