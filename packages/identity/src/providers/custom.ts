import type { Clock } from '@tollgate/kit/clock'
import { type Fetch, OutsideTrouble } from '@tollgate/kit/fetch'
import { type CustomPlaces, type CustomSettings, isAddress } from './custom-settings.ts'
import { furtherClaims, ofSamePerson, openidProfile } from './openid-profile.ts'
import type { Claims, Profile, Provider } from './provider.ts'
import { fields } from './read-profile.ts'

type Outside = { fetch: Fetch; now: Clock; allowHttp: boolean }

/** An operator's own provider, and whether it says in every answer that it is the one who answers. */
export type Custom = { provider: Provider; tellsIssuer: boolean }

/** What an operator described, as a provider like any other. Throws an `OutsideTrouble` when its issuer does not tell where things are. */
export async function openCustom(settings: CustomSettings, outside: Outside): Promise<Custom> {
  const { places } = settings
  if ('issuer' in places) return openidConnect(settings, places.issuer, await discover(settings, places.issuer, outside))
  return { provider: oauth(settings, places), tellsIssuer: false }
}

function oauth(settings: CustomSettings, { authorize, token, userinfo }: Exclude<CustomPlaces, { issuer: string }>): Provider {
  return {
    ...common(settings),
    authorize,
    token,
    scopes: settings.scopes ?? [],
    clientAuth: settings.clientAuth ?? 'form',
    profile: async ({ get }) => profileOf(settings, {}, fields(await get(userinfo))),
  }
}

function openidConnect(settings: CustomSettings, issuer: string, discovered: Discovered): Custom {
  const { authorize, token, userinfo, keys } = discovered
  const provider: Provider = {
    ...common(settings),
    base: issuer,
    authorize,
    token,
    scopes: [...new Set(['openid', ...(settings.scopes ?? ['profile', 'email'])])],
    clientAuth: settings.clientAuth ?? discovered.clientAuth,
    idTokens: { issuers: () => [issuer], keys: () => keys, native: true },

    async profile({ idToken, accessToken, get }) {
      if (idToken.sub === undefined) throw new Error(`${settings.name}: sent no id token`)
      // A native sign-in may bring nothing but the id token.
      const asks = userinfo !== undefined && accessToken !== ''
      const told = asks ? ofSamePerson(idToken, fields(await get(userinfo)), settings.name) : {}
      return { ...profileOf(settings, idToken, told), issuer }
    },
  }
  return { provider, tellsIssuer: discovered.tellsIssuer }
}

function common({ name, pkce, authorizeParameters }: CustomSettings) {
  return { name, pkce, authorizeParameters }
}

/** What a provider vouches for, and the claim by which it does so. */
const vouched = [
  ['email', 'email_verified'],
  ['phone_number', 'phone_number_verified'],
] as const

function profileOf({ name, mapping }: CustomSettings, idToken: Claims, userinfo: Claims): Profile {
  const [signed, asked] = [standardClaims(idToken, mapping), standardClaims(userinfo, mapping)]
  const claims: Record<string, unknown> = { ...signed, ...asked, sub: signed.sub ?? asked.sub }
  for (const [address, verified] of vouched) {
    // An address and the word for it go together: what one source says of its own address is not true of the other's.
    const teller = asked[address] === undefined ? signed : asked
    claims[verified] = teller[verified] ?? (signed[address] === teller[address] ? signed[verified] : undefined)
  }
  const mapped = Object.values(mapping).map((path) => path.split('.')[0] ?? path)
  const customClaims = furtherClaims({ ...idToken, ...userinfo }, [...mapped, ...Object.values(mapping)])
  return { ...openidProfile(claims, name), issuer: undefined, customClaims }
}

/** What somebody's claims say under the standard names; what says nothing is left out. */
function standardClaims(claims: Claims, mapping: CustomSettings['mapping']): Claims {
  const mapped = Object.entries(mapping).map(([claim, path]) => [claim, claimAt(claims, path)])
  // Whoever takes the address from elsewhere has to say as well where it is vouched for: the usual word is about the usual address.
  const elsewhere = vouched.filter(([address]) => (mapping[address] ?? address) !== address)
  const unsaid = elsewhere.map(([, verified]) => [verified, undefined])
  const all: Claims = { ...claims, ...Object.fromEntries([...unsaid, ...mapped]) }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined && value !== null && value !== ''))
}

/** The claim of that name, which may have dots in it; or else the one that the dots lead to. */
function claimAt(claims: Claims, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path]
  return path
    .split('.')
    .reduce<unknown>(
      (value, name) =>
        typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? (value as Claims)[name] : undefined,
      claims,
    )
}

type Discovered = {
  authorize: string
  token: string
  userinfo: string | undefined
  keys: string
  clientAuth: 'basic' | 'form'
  tellsIssuer: boolean
}

const seconds = 1000
const lifetime = 3600 * seconds
/** How long a failure is believed, so that a crowd before the door is not passed on to an issuer in trouble. */
const failureLifetime = 5 * seconds

/** One for each provider of the settings, and gone with them. */
const discoveries = new WeakMap<CustomSettings, { value: Promise<Discovered>; until: number }>()

/** Where an issuer has things, as of the last hour. Whoever comes while it is asked waits for the same answer. */
function discover(settings: CustomSettings, issuer: string, outside: Outside): Promise<Discovered> {
  const moment = outside.now().getTime()
  const remembered = discoveries.get(settings)
  if (remembered && moment < remembered.until) return remembered.value
  const entry = { value: ask(settings.name, issuer, outside), until: moment + lifetime }
  entry.value.catch(() => {
    entry.until = outside.now().getTime() + failureLifetime
  })
  discoveries.set(settings, entry)
  return entry.value
}

/** https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderConfig */
async function ask(name: string, issuer: string, { fetch, allowHttp }: Outside): Promise<Discovered> {
  const asked = `${name}: the discovery document`
  const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const answer = await fetch(address, { headers: { accept: 'application/json' }, limit: 256 * 1024, asked })
  if (answer.status !== 200) throw answer.trouble()
  const told = fields(answer.json<unknown>())
  const nonsense = (what: string) => new OutsideTrouble('nonsense', asked, what, answer.status)
  // One issuer must not speak for another, or it could sign for its people.
  if (told.issuer !== issuer) throw nonsense('speaks for another issuer')
  const place = (field: string) => {
    const value = told[field]
    if (typeof value === 'string' && isAddress(value, { allowHttp })) return value
    throw nonsense(`has no ${field} that can be used`)
  }
  const methods = told.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
  return {
    authorize: place('authorization_endpoint'),
    token: place('token_endpoint'),
    userinfo: told.userinfo_endpoint === undefined ? undefined : place('userinfo_endpoint'),
    keys: place('jwks_uri'),
    clientAuth: Array.isArray(methods) && methods.includes('client_secret_basic') ? 'basic' : 'form',
    tellsIssuer: told.authorization_response_iss_parameter_supported === true,
  }
}
