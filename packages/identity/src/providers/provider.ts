/** An address that a provider tells of somebody. Only one that it vouches for may open an account that is there already. */
export type ProfileEmail = { email: string; verified: boolean; primary: boolean }

/** Somebody as a provider knows them. What it leaves empty is left out of what is kept. */
export type Profile = {
  /** By what the provider knows them for ever: never an address or a name. */
  subject: string
  emails: readonly ProfileEmail[]
  name?: string | undefined
  givenName?: string | undefined
  familyName?: string | undefined
  nickname?: string | undefined
  username?: string | undefined
  avatar?: string | undefined
  /** Their page at the provider. */
  profileUrl?: string | undefined
  website?: string | undefined
  locale?: string | undefined
  gender?: string | undefined
  birthdate?: string | undefined
  zoneinfo?: string | undefined
  phone?: string | undefined
  phoneVerified?: boolean | undefined
  /** Who vouches, where that is not plain from the name of the provider. */
  issuer?: string | undefined
  /** What else it tells, under its own names. */
  customClaims?: Readonly<Record<string, unknown>> | undefined
}

export type Claims = Readonly<Record<string, unknown>>

/** What a profile is made from: ways to ask the provider, and what came with the token. */
export type Asking = {
  /** Asks the provider with the access token; what is not a 2xx with JSON is a trouble that names it. */
  get<T = Claims>(url: string, headers?: Readonly<Record<string, string>>): Promise<T>
  post<T = Claims>(url: string, json: unknown, headers?: Readonly<Record<string, string>>): Promise<T>
  /** Where its API is, without a slash at the end. */
  api: string
  /** Where people sign in, without a slash at the end. */
  base: string
  accessToken: string
  /** The whole answer of the token endpoint. */
  tokenReply: Claims
  /** What the id token says, verified; empty where the provider sends none. */
  idToken: Claims
  /** What the browser brought along to the callback: Apple sends a name there, once. */
  callback: Readonly<Record<string, string>>
  clientId: string
  clientSecret: string
}

/** How an outsider lets people in, by OAuth 2.0 or OpenID Connect: one declaration, from which settings, endpoints and documents follow. */
export type Provider = {
  name: string
  /** Where people sign in. Left out where everybody has an address of their own. */
  base?: string
  /** Where its API is, when that is another place; told the base where that was overridden. */
  api?: string | ((base: string) => string)
  /** Paths below the base, or whole addresses. */
  authorize: string
  token: string
  /** Asked for in any case; others are added to them. */
  scopes: readonly string[]
  scopeSeparator?: ' ' | ','
  /** How the client proves itself at the token endpoint: in the form (the default), in the header, or in the header with a JSON body. */
  clientAuth?: 'form' | 'basic' | 'basic-json'
  /** Headers of every request to it. */
  headers?: Readonly<Record<string, string>>
  /** Whether it takes part in PKCE, which keeps a stolen code from being of use. */
  pkce?: boolean
  /** Parameters that its authorize page needs besides the usual ones. */
  authorizeParameters?: Readonly<Record<string, string>>
  /** Parameters of our own authorize endpoint that are handed on to it under another name: ours → theirs. */
  handsOn?: Readonly<Record<string, string>>
  /** Where id tokens come from: who may have issued them, and where their keys are. Present where the provider speaks OpenID Connect. */
  idTokens?: {
    /** With the base in hand, because tenants and instances have issuers of their own. `{tenantid}` stands for any tenant. */
    issuers(base: string): readonly string[]
    /** Where the keys are; discovered from the issuer where left out. */
    keys?(base: string): string
    /** Whether they are taken for native sign-in (grant_type=id_token). */
    native?: true
    /** Where they do not repeat the nonce that was asked for, against the standard; none is asked for then. */
    withoutNonce?: true
  }
  /** Instead of the secret of the settings, for providers that want it made anew. */
  makeSecret?(settings: { clientId: string; secret: string; now: Date }): string
  profile(asking: Asking): Profile | Promise<Profile>
}
