import { furtherClaims, openidProfile } from './openid-profile.ts'
import type { Claims, Provider } from './provider.ts'
import { oneEmail } from './read-profile.ts'

const host = 'https://login.microsoftonline.com'
/** Where tokens are of the tenant that somebody belongs to, whichever that is. */
const ofManyTenants = /\/(common|organizations)$/
/** The tenant of all personal accounts: https://learn.microsoft.com/en-us/entra/identity-platform/id-token-claims-reference */
const personal = '9188040d-6c67-4c5b-b112-36a304b66dad'

/** https://learn.microsoft.com/en-us/entra/identity-platform/v2-oauth2-auth-code-flow */
export const azure: Provider = {
  name: 'azure',
  base: `${host}/common`,
  authorize: '/oauth2/v2.0/authorize',
  token: '/oauth2/v2.0/token',
  scopes: ['openid', 'email', 'profile'],
  pkce: true,
  idTokens: {
    issuers: (base) => [`${base.replace(ofManyTenants, '/{tenantid}').replace(/\/consumers$/, `/${personal}`)}/v2.0`],
    keys: (base) => `${base}/discovery/v2.0/keys`,
    native: true,
  },

  profile({ idToken }) {
    return {
      ...openidProfile(idToken, 'azure'),
      emails: oneEmail(idToken.email, ownsTheDomain(idToken)),
      customClaims: furtherClaims(idToken, ['aio', 'rh', 'uti', 'ver']),
    }
  },
}

/**
 * Whether the tenant has proved that the domain of the address is its own: otherwise any administrator could write any address into
 * their directory. Where the claim is not set up, applications of today are not told an address that fails this.
 * https://learn.microsoft.com/en-us/entra/identity-platform/migrate-off-email-claim-authorization
 */
function ownsTheDomain({ xms_edov }: Claims): boolean {
  return xms_edov === undefined || xms_edov === true || xms_edov === '1' || xms_edov === 'true'
}
