import { Secret } from '@tollgate/kit/secret'
import { closest } from '@tollgate/kit/spelling'

/** Where a provider is: an OpenID Connect issuer that tells the rest itself, or the three addresses that OAuth 2.0 needs. */
export type CustomPlaces = { issuer: string } | { authorize: string; token: string; userinfo: string }

/** A provider that an operator describes in the settings. */
export type CustomSettings = {
  /** `custom:acme`, under which clients ask for it and identities are kept. */
  name: string
  /** How people know it, for pages that show a button. */
  title: string | undefined
  places: CustomPlaces
  /** Ours first; those after it are accepted in id tokens. */
  clientIds: readonly [string, ...string[]]
  secret: Secret
  scopes: readonly string[] | undefined
  pkce: boolean
  /** Standard claim → where the provider tells it. */
  mapping: Readonly<Record<string, string>>
  authorizeParameters: Readonly<Record<string, string>>
  clientAuth: 'basic' | 'form' | undefined
  emailOptional: boolean
  skipNonceCheck: boolean
}

export const identifierPattern = 'custom:[a-z0-9-]{1,50}'

const urls = ['authorization_url', 'token_url', 'userinfo_url'] as const

const known = new Set([
  ...['identifier', 'name', 'issuer', ...urls, 'client_id', 'client_secret', 'acceptable_client_ids', 'scopes', 'pkce_enabled'],
  ...['attribute_mapping', 'authorization_params', 'token_endpoint_auth_method', 'email_optional', 'skip_nonce_check'],
])

/** What an operator may map: standard claims, and the names that we and today's clients have for some of them. */
const claimOf = new Map<string, string>([
  ...'sub email email_verified name given_name family_name nickname preferred_username picture profile website locale gender birthdate zoneinfo phone_number phone_number_verified'
    .split(' ')
    .map((claim): [string, string] => [claim, claim]),
  ['subject', 'sub'],
  ['emailVerified', 'email_verified'],
  ['full_name', 'name'],
  ['givenName', 'given_name'],
  ['familyName', 'family_name'],
  ['username', 'preferred_username'],
  ['user_name', 'preferred_username'],
  ['avatar', 'picture'],
  ['avatar_url', 'picture'],
  ['profileUrl', 'profile'],
  ['phone', 'phone_number'],
  ['phoneVerified', 'phone_number_verified'],
  ['phone_verified', 'phone_number_verified'],
])

/** What we say ourselves on the way to a provider. */
const ours =
  /^(client_id|client_secret|redirect_uri|response_type|state|nonce|scope|code_challenge|code_challenge_method|request|request_uri)$/i

const methods = new Map([
  ['client_secret_basic', 'basic'],
  ['client_secret_post', 'form'],
] as const)

type Read = { providers: readonly CustomSettings[]; complaints: readonly string[] }

/** Reads the list of an operator's own providers, with all that is wrong with it in words that quote no secret. */
export function parseCustomProviders(text: string, { allowHttp }: { allowHttp: boolean }): Read | { expected: string } {
  const entries = parseList(text)
  if (!entries) return { expected: 'a JSON list of providers, each an object' }
  const complaints: string[] = []
  const providers = entries.map((entry, index) => {
    const place = isIdentifier(entry.identifier) ? entry.identifier : `entry ${index + 1}`
    return readEntry(entry, { allowHttp, complain: (what) => complaints.push(`${place}: ${what}`) })
  })
  const names = providers.map(({ name }) => name)
  const twice = new Set(names.filter((name, index) => isIdentifier(name) && names.indexOf(name) !== index))
  return { providers, complaints: [...complaints, ...[...twice].map((name) => `${name}: is there more than once`)] }
}

type Entry = Readonly<Record<string, unknown>>
type Reading = { allowHttp: boolean; complain(what: string): void }

function parseList(text: string): Entry[] | undefined {
  try {
    const list: unknown = JSON.parse(text)
    return Array.isArray(list) && list.every(isObject) ? list : undefined
  } catch {
    return undefined
  }
}

/** What cannot be read is complained about and left at something harmless: nothing starts with it. */
function readEntry(entry: Entry, reading: Reading): CustomSettings {
  const { complain } = reading
  for (const field of Object.keys(entry).filter((each) => !known.has(each))) {
    const meant = closest(field, known)
    complain(`${JSON.stringify(field.slice(0, 40))} is not a field${meant ? `: did you mean ${meant}?` : ''}`)
  }
  if (!isIdentifier(entry.identifier))
    complain('identifier must be custom: and up to 50 small letters, digits and dashes, such as custom:acme')
  return {
    name: String(entry.identifier),
    title: entry.name === undefined ? undefined : readText(entry, 'name', reading),
    places: readPlaces(entry, reading),
    clientIds: [readText(entry, 'client_id', reading), ...(readTexts(entry, 'acceptable_client_ids', reading) ?? [])],
    secret: new Secret(readText(entry, 'client_secret', reading)),
    scopes: readTexts(entry, 'scopes', reading),
    pkce: readFlag(entry, 'pkce_enabled', true, reading),
    mapping: readMapping(entry, reading),
    authorizeParameters: readParameters(entry, reading),
    clientAuth: readMethod(entry, reading),
    emailOptional: readFlag(entry, 'email_optional', false, reading),
    skipNonceCheck: readFlag(entry, 'skip_nonce_check', false, reading),
  }
}

function readPlaces(entry: Entry, reading: Reading): CustomPlaces {
  const told = urls.filter((field) => entry[field] !== undefined)
  const [authorize, token, userinfo] = urls
  if (entry.issuer === undefined) {
    if (told.length === 0) reading.complain(`needs an issuer, or else ${urls.join(', ')}`)
    const read = (field: string) => (told.length > 0 ? readAddress(entry, field, reading) : '')
    return { authorize: read(authorize), token: read(token), userinfo: read(userinfo) }
  }
  if (told.length > 0) reading.complain(`has an issuer, which tells the rest itself, and ${told.join(', ')} as well`)
  const issuer = readAddress(entry, 'issuer', reading)
  if (issuer.includes('?')) reading.complain('issuer must be an address without a query')
  return { issuer }
}

/** As it stands: an issuer is compared to the letter. */
function readAddress(entry: Entry, field: string, reading: Reading): string {
  const address = readText(entry, field, reading)
  if (address === '') return ''
  if (!isAddress(address, reading)) {
    const kind = reading.allowHttp ? 'http:// or https://' : 'https://'
    reading.complain(`${field} must be an address that starts with ${kind}, without credentials and without a fragment`)
  }
  return address
}

/** Whether somebody may be sent there, or a request. */
export function isAddress(address: string, { allowHttp }: { allowHttp: boolean }): boolean {
  const url = URL.parse(address)
  if (!url || !/^https?:\/\/[^\s\\#]+$/i.test(address) || url.username !== '' || url.password !== '') return false
  return url.protocol === 'https:' || allowHttp
}

function readText(entry: Entry, field: string, { complain }: Reading): string {
  const value = entry[field]
  if (typeof value === 'string' && value.trim() !== '') return value
  complain(value === undefined ? `${field} is missing` : `${field} must be a text with something in it`)
  return ''
}

function readFlag(entry: Entry, field: string, fallback: boolean, { complain }: Reading): boolean {
  const { [field]: value = fallback } = entry
  if (typeof value === 'boolean') return value
  complain(`${field} must be true or false`)
  return fallback
}

function readTexts(entry: Entry, field: string, { complain }: Reading): readonly string[] | undefined {
  const value = entry[field]
  if (value === undefined) return undefined
  if (Array.isArray(value) && value.every((each) => typeof each === 'string' && /^\S+$/.test(each))) return value
  complain(`${field} must be a list of texts without blanks`)
  return undefined
}

function readPairs(entry: Entry, field: string, { complain }: Reading): [name: string, value: string][] {
  const { [field]: value = {} } = entry
  const pairs = isObject(value) ? Object.entries(value) : []
  const fits = isObject(value) && pairs.every(([, each]) => typeof each === 'string' && each !== '')
  if (fits) return pairs as [string, string][]
  complain(`${field} must be an object of names and texts`)
  return []
}

function readMapping(entry: Entry, reading: Reading): Readonly<Record<string, string>> {
  const pairs = readPairs(entry, 'attribute_mapping', reading).map(([field, path]) => {
    const claim = claimOf.get(field)
    if (claim === undefined) {
      const meant = closest(field, claimOf.keys())
      const hint = meant ? `: did you mean ${meant}?` : ''
      reading.complain(`attribute_mapping: ${JSON.stringify(field.slice(0, 40))} is nothing that we keep of somebody${hint}`)
    }
    return [claim ?? '', path] as const
  })
  const claims = pairs.map(([claim]) => claim)
  const twice = claims.find((claim, index) => claim !== '' && claims.indexOf(claim) !== index)
  if (twice !== undefined) reading.complain(`attribute_mapping: ${twice} is mapped twice, under two of its names`)
  return Object.fromEntries(pairs)
}

function readParameters(entry: Entry, reading: Reading): Readonly<Record<string, string>> {
  const pairs = readPairs(entry, 'authorization_params', reading)
  for (const [name] of pairs) if (ours.test(name)) reading.complain(`authorization_params: ${name} is not yours to set`)
  return Object.fromEntries(pairs)
}

function readMethod(entry: Entry, { complain }: Reading): 'basic' | 'form' | undefined {
  const { token_endpoint_auth_method: method } = entry
  if (method === undefined) return undefined
  const style = methods.get(method as 'client_secret_basic')
  if (style === undefined) complain(`token_endpoint_auth_method must be one of ${[...methods.keys()].join(', ')}`)
  return style
}

function isIdentifier(value: unknown): value is string {
  return typeof value === 'string' && new RegExp(`^${identifierPattern}$`).test(value)
}

function isObject(value: unknown): value is Entry {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
