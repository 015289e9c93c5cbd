import { createHash, createHmac, createPublicKey, generateKeyPairSync, randomUUID } from 'node:crypto'
import type { Clock } from '@tollgate/kit/clock'
import type { Env } from '@tollgate/kit/env'
import { type FakeAnswer, type FakeReply, type FakeRequest, startHttpFake } from '@tollgate/kit/http-fake'
import { exportJWK, generateKeyPair, jwtVerify, SignJWT } from 'jose'
import type { Claims } from './provider.ts'

/** Somebody who has an account at every provider. */
export type Person = { number: number; id: string; email?: string; verified: boolean; name?: { given: string; family: string } }

/** What a provider puts into an id token that is not to be believed. */
export type Forgery = 'none at all' | 'no JWT' | 'nonce' | 'audience' | 'issuer' | 'key'

/** A provider that runs on this machine. It lets in whoever is at the keyboard, and refuses requests that its documentation does not have. */
export type ProviderFake = {
  name: string
  /** What the service has to be told of it. */
  settings: Env
  /** Where people have to be sent to. */
  authorize: string
  /** Who is at the keyboard. */
  person: Person
  trouble: { requestToken?: FakeAnswer; token?: FakeAnswer; profile?: FakeAnswer; idToken?: Forgery }
  /** Changes what the profile endpoints and the id token tell. */
  change: (told: Claims) => unknown
  /** Why it refused something. */
  complaints: string[]
  /** What must not be seen anywhere: every token and code that it gave out, and the client's secret. */
  secrets: string[]
  close(): Promise<void>
}

type Wire = {
  /** Where the provider is, below the origin of the fake. */
  at?: string
  /** Where its API is set to be, below the origin of the fake; where the base is, when left out. */
  apiAt?: string
  authorize: string
  token: string
  scope?: string
  auth?: 'form' | 'basic' | 'basic-json'
  pkce?: true
  /** Whether it is sent a nonce. */
  nonce?: true
  authorizeParameters?: Readonly<Record<string, string>>
  /** Headers without which it answers nothing. */
  headers?: Readonly<Record<string, string>>
  secret?: { text: string; accepts(given: string, now: Date): Promise<boolean> }
  idTokens?: { issuer: string; keys: string; claims(person: Person): Claims }
  tokenReply?(person: Person): Claims
  /** What the browser takes along to the callback besides the code. */
  callback?(person: Person): Record<string, string>
  /** `GET /path` → what it tells of somebody. */
  places: Readonly<Record<string, (person: Person, request: FakeRequest, access: { token: string; secret: string }) => unknown>>
  /** Whether it says of an address that it was verified, or its word is taken for all or for none. */
  vouches: 'tells' | 'always' | 'never'
  /** Parameters of our own authorize endpoint. */
  query?: Record<string, string>
  subject?(person: Person): string
  /** What is kept of somebody who has everything, besides what is kept of everybody. */
  kept(person: Person, origin: string): Record<string, unknown>
  /** How somebody is called who told no name. */
  nameless?(person: Person): string
}

const picture = 'https://pictures.test/ada.png'
const avatar = { picture, avatar_url: picture }
const fullName = ({ name }: Person) => (name ? `${name.given} ${name.family}` : undefined)
const named = (person: Person) => ({ name: fullName(person), full_name: fullName(person) })
const bothNames = ({ name }: Person) => ({ given_name: name?.given, family_name: name?.family })
const login = ({ id }: Person) => `ada${id}`
const called = (name: string) => ({ preferred_username: name, user_name: name })
const standardClaims = (person: Person) => ({
  email: person.email,
  email_verified: person.verified,
  name: fullName(person),
  ...bothNames(person),
  picture,
})
const slackUser = (person: Person) => ({
  ok: true,
  sub: person.id,
  'https://slack.com/user_id': person.id,
  'https://slack.com/team_id': 'T0R7GR',
  locale: 'en-US',
  ...standardClaims(person),
})
const slackKept = (person: Person) => ({
  ...named(person),
  ...bothNames(person),
  ...avatar,
  locale: 'en-US',
  custom_claims: { 'https://slack.com/team_id': 'T0R7GR' },
})

const appleKey = generateKeyPairSync('ec', { namedCurve: 'P-256' })

/** Every provider of OAuth 2.0 as its documentation has it, and what is kept of somebody who comes in by it. */
export const wires: Readonly<Record<string, Wire>> = {
  apple: {
    authorize: '/auth/authorize',
    token: '/auth/token',
    scope: 'email name',
    nonce: true,
    authorizeParameters: { response_mode: 'form_post' },
    secret: {
      text: JSON.stringify({
        team_id: 'TEAM',
        key_id: 'KEY',
        private_key: appleKey.privateKey.export({ type: 'pkcs8', format: 'pem' }),
      }),
      async accepts(given, currentDate) {
        const expected = { issuer: 'TEAM', subject: 'client of apple', audience: 'https://appleid.apple.com' }
        const { protectedHeader } = await jwtVerify(
          given,
          createPublicKey(appleKey.publicKey.export({ type: 'spki', format: 'pem' })),
          {
            ...expected,
            requiredClaims: ['exp', 'iat'],
            currentDate,
          },
        )
        return protectedHeader.alg === 'ES256' && protectedHeader.kid === 'KEY'
      },
    },
    idTokens: {
      issuer: '',
      keys: '/auth/keys',
      // Its flags are texts as often as not.
      claims: ({ email, verified }) => ({
        email,
        email_verified: String(verified),
        is_private_email: 'true',
        auth_time: 1_700_000_000,
      }),
    },
    callback: ({ name }) => (name ? { user: JSON.stringify({ name: { firstName: name.given, lastName: name.family } }) } : {}),
    places: {},
    vouches: 'tells',
    kept: (person, origin) => ({
      iss: origin,
      ...named(person),
      ...bothNames(person),
      custom_claims: { is_private_email: true, auth_time: 1_700_000_000 },
    }),
  },
  azure: {
    at: '/8eaef023-2b34-4da1-9baa-8bc8c9d6a490',
    authorize: '/oauth2/v2.0/authorize',
    token: '/oauth2/v2.0/token',
    scope: 'openid email profile',
    pkce: true,
    nonce: true,
    idTokens: {
      issuer: '/v2.0',
      keys: '/discovery/v2.0/keys',
      claims: (person) => ({
        ver: '2.0',
        tid: '8eaef023-2b34-4da1-9baa-8bc8c9d6a490',
        email: person.email,
        name: fullName(person),
        preferred_username: login(person),
        xms_edov: person.verified,
      }),
    },
    places: {},
    vouches: 'tells',
    kept: (person, origin) => ({
      iss: `${origin}/8eaef023-2b34-4da1-9baa-8bc8c9d6a490/v2.0`,
      ...named(person),
      ...called(login(person)),
      custom_claims: { tid: '8eaef023-2b34-4da1-9baa-8bc8c9d6a490', xms_edov: true },
    }),
  },
  bitbucket: {
    authorize: '/site/oauth2/authorize',
    token: '/site/oauth2/access_token',
    scope: 'account email',
    auth: 'basic',
    places: {
      'GET /2.0/user': (person) => ({
        type: 'user',
        uuid: `{${person.id}}`,
        display_name: fullName(person),
        nickname: 'ada',
        links: { avatar: { href: picture } },
      }),
      'GET /2.0/user/emails': ({ id, email, verified }) => ({
        values: email && [
          { email: `first-${id}@mail.test`, is_primary: false, is_confirmed: true },
          { email, is_primary: true, is_confirmed: verified },
          { email: `last-${id}@mail.test`, is_primary: false, is_confirmed: false },
        ],
      }),
    },
    vouches: 'tells',
    subject: ({ id }) => `{${id}}`,
    kept: (person) => ({ ...named(person), nickname: 'ada', ...avatar }),
  },
  discord: {
    authorize: '/api/oauth2/authorize',
    token: '/api/oauth2/token',
    scope: 'email identify',
    places: {
      'GET /api/users/@me': (person) => ({
        id: person.id,
        username: 'ada',
        discriminator: '0042',
        global_name: fullName(person) ?? null,
        avatar: 'a_5e1f',
        email: person.email ?? null,
        verified: person.verified,
      }),
    },
    vouches: 'tells',
    kept: (person) => ({
      name: 'ada#0042',
      full_name: 'ada#0042',
      ...called('ada'),
      picture: `https://cdn.discordapp.com/avatars/${person.id}/a_5e1f.gif`,
      avatar_url: `https://cdn.discordapp.com/avatars/${person.id}/a_5e1f.gif`,
      custom_claims: { global_name: fullName(person) },
    }),
    nameless: () => 'ada#0042',
  },
  facebook: {
    authorize: '/dialog/oauth',
    token: '/oauth/access_token',
    scope: 'email',
    // It sends an id token only to who asks for openid.
    nonce: true,
    places: {
      'GET /me': (person, { query }, { token, secret }) => {
        const proof = createHmac('sha256', secret).update(token).digest('hex')
        if (query.appsecret_proof !== proof) return refused('Invalid appsecret_proof provided in the API argument')
        const known: Claims = {
          email: person.email,
          first_name: person.name?.given,
          last_name: person.name?.family,
          name: fullName(person),
          picture: { data: { url: picture, is_silhouette: false } },
        }
        // Nothing but the id is told that was not asked for.
        return { id: person.id, ...Object.fromEntries((query.fields ?? '').split(',').map((field) => [field, known[field]])) }
      },
    },
    vouches: 'always',
    kept: (person) => ({ ...named(person), ...bothNames(person), ...avatar }),
  },
  figma: {
    authorize: '/oauth',
    token: '/v1/oauth/token',
    scope: 'current_user:read',
    auth: 'basic',
    places: {
      'GET /v1/me': (person) => ({ id: person.id, handle: fullName(person), img_url: picture, email: person.email }),
    },
    vouches: 'always',
    kept: (person) => ({ ...named(person), ...avatar }),
  },
  fly: {
    authorize: '/oauth/authorize',
    token: '/oauth/token',
    scope: 'read',
    places: {
      'GET /oauth/token/info': (person) => ({
        resource_owner_id: 'owner',
        scope: ['read'],
        user_id: person.id,
        user_name: fullName(person),
        email: person.email,
        organizations: [{ id: 'org', role: 'member' }],
      }),
    },
    vouches: 'always',
    kept: (person) => ({
      ...named(person),
      custom_claims: { resource_owner_id: 'owner', organizations: [{ id: 'org', role: 'member' }] },
    }),
  },
  github: {
    authorize: '/login/oauth/authorize',
    token: '/login/oauth/access_token',
    scope: 'user:email',
    pkce: true,
    places: {
      'GET /api/v3/user': (person) => ({
        id: person.number,
        login: login(person),
        name: fullName(person) ?? null,
        // Kept private, as most people do.
        email: null,
        avatar_url: picture,
        html_url: 'https://github.test/ada',
      }),
      'GET /api/v3/user/emails': ({ id, email, verified }) =>
        email
          ? [
              { email: `first-${id}@mail.test`, primary: false, verified: true, visibility: null },
              { email, primary: true, verified, visibility: 'private' },
              { email: `last-${id}@mail.test`, primary: false, verified: false, visibility: null },
            ]
          : [],
    },
    vouches: 'tells',
    kept: (person) => ({ ...named(person), ...called(login(person)), ...avatar, profile: 'https://github.test/ada' }),
    nameless: login,
  },
  gitlab: {
    authorize: '/oauth/authorize',
    token: '/oauth/token',
    scope: 'read_user',
    pkce: true,
    places: {
      'GET /api/v4/user': (person) => ({
        id: person.number,
        username: login(person),
        name: fullName(person),
        email: person.email,
        confirmed_at: person.verified ? '2012-05-23T09:05:22.000Z' : null,
        avatar_url: picture,
        web_url: 'https://gitlab.test/ada',
      }),
      'GET /api/v4/user/emails': ({ id, email }) =>
        email ? [{ id: 1, email: `last-${id}@mail.test`, confirmed_at: '2012-05-23T09:05:22.000Z' }] : [],
    },
    vouches: 'tells',
    kept: (person) => ({ ...named(person), ...called(login(person)), ...avatar, profile: 'https://gitlab.test/ada' }),
  },
  google: {
    authorize: '/o/oauth2/v2/auth',
    token: '/token',
    scope: 'email profile',
    pkce: true,
    nonce: true,
    idTokens: { issuer: '', keys: '/oauth2/v3/certs', claims: (person) => ({ ...standardClaims(person), hd: 'mail.test' }) },
    places: {
      'GET /userinfo/v2/me': (person) => {
        const { email_verified: verified_email, ...told } = standardClaims(person)
        return { ...told, id: person.id, verified_email, hd: 'mail.test' }
      },
    },
    vouches: 'tells',
    kept: (person, origin) => ({
      iss: origin,
      ...named(person),
      ...bothNames(person),
      ...avatar,
      custom_claims: { hd: 'mail.test' },
    }),
  },
  kakao: {
    authorize: '/oauth/authorize',
    token: '/oauth/token',
    scope: 'account_email profile_image profile_nickname',
    pkce: true,
    // It sends an id token only to who asks for openid.
    nonce: true,
    places: {
      'GET /v2/user/me': (person) => ({
        id: person.number,
        kakao_account: {
          email: person.email,
          is_email_valid: true,
          is_email_verified: person.verified,
          profile: { nickname: fullName(person), profile_image_url: picture },
        },
      }),
    },
    vouches: 'tells',
    kept: (person) => ({ ...named(person), nickname: fullName(person), ...called(fullName(person) ?? ''), ...avatar }),
  },
  keycloak: {
    at: '/realms/main',
    authorize: '/protocol/openid-connect/auth',
    token: '/protocol/openid-connect/token',
    scope: 'openid profile email',
    pkce: true,
    nonce: true,
    idTokens: { issuer: '', keys: '/protocol/openid-connect/certs', claims: () => ({ typ: 'ID', azp: 'client of keycloak' }) },
    places: {
      'GET /realms/main/protocol/openid-connect/userinfo': (person) => ({
        sub: person.id,
        ...standardClaims(person),
        preferred_username: login(person),
        department: 'engines',
      }),
    },
    vouches: 'tells',
    kept: (person, origin) => ({
      iss: `${origin}/realms/main`,
      ...named(person),
      ...bothNames(person),
      ...called(login(person)),
      ...avatar,
      custom_claims: { department: 'engines' },
    }),
  },
  linkedin: {
    authorize: '/oauth/v2/authorization',
    token: '/oauth/v2/accessToken',
    scope: 'r_emailaddress r_liteprofile',
    places: {
      'GET /v2/me': (person, { query }) => {
        if (!query.projection?.includes('displayImage~:playableStreams')) return { id: person.id }
        const inEnglish = (name: string | undefined) =>
          name && { localized: { en_US: name }, preferredLocale: { country: 'US', language: 'en' } }
        return {
          id: person.id,
          firstName: inEnglish(person.name?.given),
          lastName: inEnglish(person.name?.family),
          profilePicture: { 'displayImage~': { elements: [{ identifiers: [{ identifier: picture }] }] } },
        }
      },
      'GET /v2/emailAddress': ({ email }, { query }) => {
        if (query.q !== 'members') return refused('A query was expected')
        return { elements: email ? [{ handle: 'urn:li:emailAddress:1', 'handle~': { emailAddress: email } }] : [] }
      },
    },
    vouches: 'always',
    kept: (person) => ({ ...named(person), ...bothNames(person), ...avatar }),
  },
  linkedin_oidc: {
    authorize: '/oauth/v2/authorization',
    token: '/oauth/v2/accessToken',
    scope: 'openid email profile',
    // It does not repeat one in its id tokens.
    idTokens: {
      issuer: '/oauth',
      keys: '/oauth/openid/jwks',
      claims: (person) => ({ ...standardClaims(person), locale: { language: 'en', country: 'US' } }),
    },
    places: {},
    vouches: 'tells',
    kept: (person, origin) => ({ iss: `${origin}/oauth`, ...named(person), ...bothNames(person), ...avatar, locale: 'en_US' }),
  },
  notion: {
    authorize: '/v1/oauth/authorize',
    token: '/v1/oauth/token',
    auth: 'basic-json',
    authorizeParameters: { owner: 'user' },
    headers: { 'notion-version': '2021-08-16' },
    places: {
      'GET /v1/users/me': (person) => ({
        object: 'user',
        type: 'bot',
        id: 'the bot',
        name: 'The bot',
        bot: {
          owner: {
            type: 'user',
            user: { id: person.id, name: fullName(person), avatar_url: picture, person: { email: person.email } },
          },
        },
      }),
    },
    vouches: 'always',
    kept: (person) => ({ ...named(person), ...avatar }),
  },
  slack: {
    authorize: '/oauth/authorize',
    token: '/api/oauth.access',
    scope: 'profile email openid',
    tokenReply: () => ({ ok: true }),
    places: { 'GET /api/openid.connect.userInfo': slackUser },
    vouches: 'tells',
    kept: slackKept,
  },
  slack_oidc: {
    authorize: '/openid/connect/authorize',
    token: '/api/openid.connect.token',
    scope: 'profile email openid',
    nonce: true,
    tokenReply: () => ({ ok: true }),
    idTokens: { issuer: '', keys: '/openid/connect/keys', claims: slackUser },
    places: { 'GET /api/openid.connect.userInfo': slackUser },
    vouches: 'tells',
    kept: slackKept,
  },
  snapchat: {
    authorize: '/accounts/oauth2/auth',
    token: '/accounts/oauth2/token',
    scope: 'external_id display_name bitmoji.avatar'
      .split(' ')
      .map((what) => `https://auth.snapchat.com/oauth2/api/user.${what}`)
      .join(' '),
    auth: 'basic',
    places: {
      'GET /v1/me': (person, { query }) => {
        const known: Claims = {
          externalId: person.id,
          displayName: fullName(person),
          bitmoji: { avatar: picture, id: '1' },
          email: person.email,
        }
        const wanted = Object.entries(known).filter(([field]) => query.query?.includes(field))
        return { data: { me: Object.fromEntries(wanted) }, errors: [] }
      },
    },
    vouches: 'always',
    kept: (person) => ({ ...named(person), ...avatar }),
  },
  spotify: {
    apiAt: '/elsewhere',
    authorize: '/authorize',
    token: '/api/token',
    scope: 'user-read-email',
    auth: 'basic',
    places: {
      'GET /elsewhere/v1/me': (person) => ({
        id: person.id,
        display_name: fullName(person) ?? null,
        email: person.email,
        images: [{ url: picture, height: 300, width: 300 }],
        external_urls: { spotify: 'https://spotify.test/ada' },
      }),
    },
    vouches: 'never',
    kept: (person) => ({ ...named(person), ...avatar, profile: 'https://spotify.test/ada' }),
  },
  twitch: {
    apiAt: '/elsewhere',
    authorize: '/oauth2/authorize',
    token: '/oauth2/token',
    scope: 'user:read:email',
    places: {
      'GET /elsewhere/helix/users': (person, { headers }) => {
        if (headers['client-id'] !== 'client of twitch') return refused('Client ID is missing')
        const user = {
          id: person.id,
          login: login(person),
          display_name: fullName(person) ?? '',
          email: person.email,
          profile_image_url: picture,
          broadcaster_type: 'partner',
          type: '',
          description: '',
        }
        return { data: [user] }
      },
    },
    vouches: 'always',
    kept: (person) => ({
      name: login(person),
      full_name: login(person),
      ...called(login(person)),
      nickname: fullName(person),
      ...avatar,
      custom_claims: { broadcaster_type: 'partner' },
    }),
    nameless: login,
  },
  workos: {
    authorize: '/sso/authorize',
    token: '/sso/token',
    authorizeParameters: { provider: 'GoogleOAuth', organization: 'org_1' },
    query: { workos_provider: 'GoogleOAuth', organization: 'org_1' },
    tokenReply: (person) => ({
      profile: {
        object: 'profile',
        id: person.id,
        email: person.email,
        first_name: person.name?.given,
        last_name: person.name?.family,
        connection_id: 'conn_1',
        connection_type: 'GoogleOAuth',
      },
    }),
    places: {},
    vouches: 'always',
    kept: (person) => ({
      ...named(person),
      ...bothNames(person),
      custom_claims: { connection_id: 'conn_1', connection_type: 'GoogleOAuth' },
    }),
  },
  x: {
    authorize: '/i/oauth2/authorize',
    token: '/2/oauth2/token',
    scope: 'users.email tweet.read users.read offline.access',
    auth: 'basic',
    pkce: true,
    places: {
      'GET /2/users/me': (person, { query }) => {
        const known: Claims = {
          confirmed_email: person.email,
          name: fullName(person),
          username: login(person),
          profile_image_url: picture,
          url: 'https://ada.test/',
        }
        const fields = (query['user.fields'] ?? '').split(',').map((field) => [field, known[field]])
        return { data: { ...Object.fromEntries(fields), id: person.id } }
      },
    },
    vouches: 'always',
    kept: (person) => ({
      ...named(person),
      ...called(login(person)),
      ...avatar,
      profile: `https://x.com/${login(person)}`,
      website: 'https://ada.test/',
    }),
  },
  zoom: {
    authorize: '/oauth/authorize',
    token: '/oauth/token',
    auth: 'basic',
    places: {
      'GET /v2/users/me': (person) => ({
        id: person.id,
        first_name: person.name?.given ?? '',
        last_name: person.name?.family ?? '',
        email: person.email,
        login_types: [100],
        verified: person.verified ? 1 : 0,
        pic_url: picture,
      }),
    },
    vouches: 'tells',
    kept: (person) => ({ ...named(person), ...bothNames(person), ...avatar }),
  },
}

const refused = (why: string): { refused: string } => ({ refused: why })

const redirectUri = 'https://auth.site.test/callback'
const nobody: Person = { number: 0, id: '', verified: false }

type Client = { id: string; secret: string }

/** Signs of all kinds, so that whatever encodes them wrongly is found out. */
const clientOf = (name: string): Client => ({ id: `client of ${name}`, secret: `secret:of/${name}+%&=` })

function settingsOf(name: string, { id, secret }: Client, places: { base: string; api?: string | undefined }): Env {
  const block = `AUTH_EXTERNAL_${name.toUpperCase()}`
  return {
    [`${block}_ENABLED`]: 'true',
    [`${block}_CLIENT_ID`]: id,
    [`${block}_SECRET`]: secret,
    [`${block}_REDIRECT_URI`]: redirectUri,
    [`${block}_URL`]: places.base,
    ...(places.api ? { [`${block}_API_URL`]: places.api } : {}),
  }
}

/** A provider of OAuth 2.0 or OpenID Connect. */
export async function startProvider(name: string, wire: Wire, now: Clock): Promise<ProviderFake> {
  const usual = clientOf(name)
  const client = { id: usual.id, secret: wire.secret?.text ?? usual.secret }
  const keys = await generateKeyPair('ES256')
  const [published, strangers] = [
    { ...(await exportJWK(keys.publicKey)), kid: 'theirs', alg: 'ES256' },
    await generateKeyPair('ES256'),
  ]
  const codes = new Map<string, { asked: Record<string, string>; person: Person }>()
  const tokens = new Map<string, Person>()
  const at = wire.at ?? ''

  const server = await startHttpFake(async (request) => {
    const what = `${request.method} ${request.path}`
    if (what === `GET ${at}${wire.authorize}`) return letIn(request)
    if (what === `POST ${at}${wire.token}`) return fake.trouble.token ?? (await exchange(request))
    if (wire.idTokens && what === `GET ${at}${wire.idTokens.keys}`) return { json: { keys: [published] } }
    const place = wire.places[what]
    if (!place) return refuse(404, `There is nothing at ${what}`)
    return fake.trouble.profile ?? tell(request, place)
  })
  const base = `${server.origin}${at}`
  const api = wire.apiAt && `${server.origin}${wire.apiAt}`
  const fake: ProviderFake = {
    name,
    settings: settingsOf(name, client, { base, api }),
    authorize: `${base}${wire.authorize}`,
    person: nobody,
    trouble: {},
    change: (told) => told,
    complaints: [],
    secrets: [client.secret],
    close: server.close,
  }
  return fake

  function refuse(status: number, why: string): FakeReply {
    fake.complaints.push(why)
    return { status, json: { error: 'invalid_request', error_description: why } }
  }

  function give(secret: string): string {
    fake.secrets.push(secret)
    return secret
  }

  /** What it has to be asked, and nothing else. */
  function letIn({ query }: FakeRequest): FakeReply {
    const { state = '', nonce, code_challenge: challenge, ...others } = query
    const expected = {
      client_id: client.id,
      redirect_uri: redirectUri,
      response_type: 'code',
      ...(wire.scope ? { scope: wire.scope } : {}),
      ...(wire.pkce ? { code_challenge_method: 'S256' } : {}),
      ...wire.authorizeParameters,
    }
    const different = (all: Record<string, string>, than: Record<string, string>) =>
      Object.keys(all).filter((key) => all[key] !== than[key])
    const wrong = [...different(expected, others), ...different(others, expected)]
    if (wrong.length > 0) return refuse(400, `Not as documented: ${wrong.join(', ')}`)
    if (state === '') return refuse(400, 'There is no state')
    if (Boolean(wire.pkce) !== /^[\w-]{43}$/.test(challenge ?? '')) return refuse(400, 'The code_challenge is not as documented')
    if (Boolean(wire.nonce) !== (nonce ?? '').length > 15) return refuse(400, 'The nonce is not as documented')
    const code = give(`abcd-code-of-${name}-${randomUUID()}`)
    codes.set(code, { asked: query, person: fake.person })
    const form = new URLSearchParams({ code, state, ...wire.callback?.(fake.person) })
    // A browser would send the form by itself.
    if (query.response_mode === 'form_post') return { text: form.toString() }
    return { status: 302, headers: { location: `${redirectUri}?${form}` } }
  }

  async function exchange(request: FakeRequest): Promise<FakeReply> {
    const { headers, body } = request
    const type = wire.auth === 'basic-json' ? 'application/json' : 'application/x-www-form-urlencoded'
    if (headers['content-type'] !== type) return refuse(400, `The token request is ${headers['content-type']}, not ${type}`)
    if (!headers.accept?.includes('json')) return refuse(406, 'It would be answered with a form')
    if (lacksHeaders(request)) return refuse(400, 'A header is missing')
    const fields: Record<string, string> =
      type === 'application/json' ? JSON.parse(body) : Object.fromEntries(new URLSearchParams(body))
    if (!(await isClient(headers.authorization, fields))) return refuse(401, 'The client is not known')
    const { code = '', code_verifier: verifier, grant_type, redirect_uri } = fields
    const begun = codes.get(code)
    if (!begun || !codes.delete(code)) return refuse(400, 'The code is not known')
    if (grant_type !== 'authorization_code') return refuse(400, 'The grant_type is wrong')
    if (redirect_uri !== begun.asked.redirect_uri) return refuse(400, 'The redirect_uri is another one')
    const proved = verifier && createHash('sha256').update(verifier).digest('base64url')
    if (proved !== begun.asked.code_challenge) return refuse(400, 'The code_verifier does not fit the challenge')
    const token = give(`token-of-${name}-${randomUUID()}`)
    tokens.set(token, begun.person)
    const idToken = await idTokenFor(begun)
    return {
      json: {
        access_token: token,
        token_type: 'Bearer',
        expires_in: 3600,
        refresh_token: give(`refresh-token-of-${name}-${randomUUID()}`),
        ...(fake.change(wire.tokenReply?.(begun.person) ?? {}) as Claims),
        ...(idToken ? { id_token: give(idToken) } : {}),
      },
    }
  }

  async function isClient(authorization: string | undefined, fields: Record<string, string>): Promise<boolean> {
    const accepts = wire.secret?.accepts ?? (async (given: string) => given === client.secret)
    const { client_id: id, client_secret: secret } = fields
    if ((wire.auth ?? 'form') === 'form')
      return authorization === undefined && id === client.id && (await accepts(secret ?? '', now()))
    const [scheme, words = ''] = authorization?.split(' ') ?? []
    // https://www.rfc-editor.org/rfc/rfc6749#section-2.3.1
    const decode = (text = '') => decodeURIComponent(text.replaceAll('+', ' '))
    const [given, proof] = Buffer.from(words, 'base64').toString().split(':').map(decode)
    return scheme === 'Basic' && given === client.id && proof === client.secret && id === undefined && secret === undefined
  }

  function lacksHeaders({ headers }: FakeRequest): boolean {
    return Object.entries(wire.headers ?? {}).some(([header, value]) => headers[header] !== value)
  }

  async function idTokenFor({ asked, person }: { asked: Record<string, string>; person: Person }): Promise<string | undefined> {
    const { idToken: forgery } = fake.trouble
    if (!wire.idTokens || forgery === 'none at all') return undefined
    if (forgery === 'no JWT') return 'e30.e30.their-own-words'
    const { issuer, claims } = wire.idTokens
    const seconds = Math.floor(now().getTime() / 1000)
    const nonce = forgery === 'nonce' ? 'of another sign-in' : asked.nonce
    return new SignJWT({ ...(fake.change(claims(person)) as Claims), ...(wire.nonce ? { nonce } : {}) })
      .setProtectedHeader({ alg: 'ES256', kid: 'theirs' })
      .setSubject(person.id)
      .setIssuer(forgery === 'issuer' ? 'https://evil.test' : `${base}${issuer}`)
      .setAudience(forgery === 'audience' ? 'another client' : client.id)
      .setIssuedAt(seconds)
      .setExpirationTime(seconds + 600)
      .sign(forgery === 'key' ? strangers.privateKey : keys.privateKey)
  }

  function tell(request: FakeRequest, place: Wire['places'][string]): FakeReply {
    const token = request.headers.authorization?.replace(/^Bearer /, '') ?? ''
    const person = tokens.get(token)
    if (!person) return refuse(401, 'The token is not known')
    if (lacksHeaders(request)) return refuse(400, 'A header is missing')
    const told = place(person, request, { token, secret: client.secret }) as Claims
    if (typeof told.refused === 'string') return refuse(400, told.refused)
    return { json: fake.change(told) }
  }
}

type Oauth = Record<string, string>

/** Twitter, which speaks OAuth 1.0a: it recomputes the signature of every request from what arrived. */
export async function startTwitter(): Promise<ProviderFake> {
  const client = clientOf('twitter')
  const pairs = new Map<string, { secret: string; person?: Person; callback?: string; verifier?: string }>()
  const places: Readonly<Record<string, (request: FakeRequest, oauth: Oauth) => FakeAnswer>> = {
    'POST /oauth/request_token': (_, { oauth_callback: callback = '' }) => {
      if (fake.trouble.requestToken) return fake.trouble.requestToken
      if (!callback.startsWith(`${redirectUri}?state=`)) return refuse(403, 'The callback is not approved')
      return form({ ...newPair({ callback }), oauth_callback_confirmed: 'true' })
    },
    'POST /oauth/access_token': (_, { oauth_token: token = '', oauth_verifier }) => {
      if (fake.trouble.token) return fake.trouble.token
      const pair = pairs.get(token)
      if (!pair?.person || pair.verifier !== oauth_verifier || !pairs.delete(token)) return refuse(401, 'Reverse auth failed')
      return form({ ...newPair({ person: pair.person }), user_id: pair.person.id, screen_name: 'ada' })
    },
    'GET /1.1/account/verify_credentials.json': ({ query }, { oauth_token: token = '' }) => {
      if (fake.trouble.profile) return fake.trouble.profile
      const person = pairs.get(token)?.person
      if (!person) return refuse(401, 'Invalid or expired token')
      return {
        json: fake.change({
          id: 38895958123456790,
          id_str: person.id,
          name: fullName(person),
          screen_name: login(person),
          profile_image_url_https: 'https://pictures.test/ada_normal.png',
          email: query.include_email === 'true' ? (person.email ?? null) : undefined,
        }),
      }
    },
  }
  const server = await startHttpFake((request) => {
    if (request.path === '/oauth/authenticate') return letIn(request)
    const place = places[`${request.method} ${request.path}`]
    if (!place) return refuse(404, `There is nothing at ${request.method} ${request.path}`)
    const oauth = readOauth(request.headers.authorization ?? '')
    const secret = oauth.oauth_token === undefined ? '' : pairs.get(oauth.oauth_token)?.secret
    if (
      secret === undefined ||
      oauth.oauth_signature !== signatureOf(server.origin, request, oauth, `${client.secret} ${secret}`)
    )
      return refuse(401, 'Could not authenticate you')
    return place(request, oauth)
  })
  const fake: ProviderFake = {
    name: 'twitter',
    settings: settingsOf('twitter', client, { base: server.origin }),
    authorize: `${server.origin}/oauth/authenticate`,
    person: nobody,
    trouble: {},
    change: (told) => told,
    complaints: [],
    secrets: [client.secret],
    close: server.close,
  }
  return fake

  function refuse(status: number, why: string): FakeReply {
    fake.complaints.push(why)
    return { status, json: { errors: [{ code: 32, message: why }] } }
  }

  function newPair(kept: { person?: Person; callback?: string }) {
    const pair = { oauth_token: `token-of-twitter-${randomUUID()}`, oauth_token_secret: `secret-of-twitter/${randomUUID()}` }
    fake.secrets.push(...Object.values(pair))
    pairs.set(pair.oauth_token, { secret: pair.oauth_token_secret, ...kept })
    return pair
  }

  function letIn({ query }: FakeRequest): FakeReply {
    const { oauth_token: token = '', ...others } = query
    const pair = pairs.get(token)
    if (!pair?.callback || Object.keys(others).length > 0) return refuse(400, 'The request token is not known, or not alone')
    const verifier = `verifier-of-twitter-${randomUUID()}`
    fake.secrets.push(verifier)
    pairs.set(token, { ...pair, person: fake.person, verifier })
    const brought = new URLSearchParams({ oauth_token: token, oauth_verifier: verifier })
    return { status: 302, headers: { location: `${pair.callback}&${brought}` } }
  }
}

const form = (fields: Record<string, string>): FakeReply => ({ text: new URLSearchParams(fields).toString() })

function readOauth(header: string): Oauth {
  const words = [...header.matchAll(/(oauth_\w+)="([^"]*)"/g)]
  return Object.fromEntries(words.map(([, name = '', value = '']) => [name, decodeURIComponent(value)]))
}

/** RFC 5849, 3.4, written anew so that the same mistake is not made twice. */
function signatureOf(origin: string, { method, path, query }: FakeRequest, oauth: Oauth, secrets: string): string {
  const encode = (text: string) =>
    encodeURIComponent(text).replace(/[!*'()]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
  const { oauth_signature: _, ...signed } = { ...query, ...oauth }
  const parameters = Object.entries(signed)
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort()
    .join('&')
  const text = [method, `${origin}${path}`, parameters].map(encode).join('&')
  const key = secrets.split(' ').map(encode).join('&')
  return createHmac('sha1', key).update(text).digest('base64')
}

/** What is kept of whoever comes in by twitter. */
export const twitterFacts: Pick<Wire, 'vouches' | 'kept'> & Partial<Wire> = {
  vouches: 'always',
  kept: (person) => ({
    ...named(person),
    ...called(login(person)),
    picture: 'https://pictures.test/ada.png',
    avatar_url: 'https://pictures.test/ada.png',
  }),
}
