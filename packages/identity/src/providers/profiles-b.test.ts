import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { jwtVerify } from 'jose'
import { describe, expect, test } from 'vitest'
import { apple } from './apple.ts'
import { azure } from './azure.ts'
import { google } from './google.ts'
import { kakao } from './kakao.ts'
import { keycloak } from './keycloak.ts'
import { linkedinOidc } from './linkedin-oidc.ts'
import type { Asking, Claims, Profile, Provider } from './provider.ts'
import { slackOidc } from './slack-oidc.ts'
import { workos } from './workos.ts'

type Given = Partial<Pick<Asking, 'idToken' | 'tokenReply' | 'callback' | 'accessToken'>> & {
  /** Address → what it answers. */
  pages?: Readonly<Record<string, unknown>>
}

const realm = 'https://keycloak.example.com/realms/shop'

/** Somebody as the provider tells them; what it leaves empty is not there. */
async function profileOf(provider: Provider, { pages = {}, ...given }: Given): Promise<Partial<Profile>> {
  const base = provider.base ?? realm
  const get = async <T>(url: string) => {
    const page = pages[url]
    if (page === undefined) throw new Error(`${url} was asked, which has no answer`)
    return page as T
  }
  const asking: Asking = {
    get,
    post: get,
    base,
    api: typeof provider.api === 'function' ? provider.api(base) : (provider.api ?? base),
    accessToken: 'access-token',
    tokenReply: {},
    idToken: {},
    callback: {},
    clientId: 'client',
    clientSecret: 'secret',
    ...given,
  }
  const profile = await provider.profile(asking)
  return Object.fromEntries(Object.entries(profile).filter(([, value]) => value !== undefined))
}

const email = (address: string, verified: boolean) => [{ email: address, verified, primary: true }]

describe('apple', () => {
  // https://developer.apple.com/documentation/signinwithapple/authenticating-users-with-sign-in-with-apple
  const idToken = {
    iss: 'https://appleid.apple.com',
    aud: 'com.example.shop',
    exp: 1_893_556_845,
    iat: 1_893_553_245,
    sub: '001999.aabbccddeeff00112233445566778899.0001',
    nonce: 'nonce',
    nonce_supported: true,
    auth_time: 1_893_553_244,
    email: 'somebody@example.com',
    email_verified: 'true',
  }
  const user = JSON.stringify({ name: { firstName: 'Ada', lastName: 'Lovelace' }, email: 'boss@example.com' })
  const plain = {
    subject: idToken.sub,
    emails: email('somebody@example.com', true),
    issuer: idToken.iss,
    customClaims: { auth_time: idToken.auth_time },
  }

  const cases: [name: string, given: Given, profile: Partial<Profile>][] = [
    [
      'the first sign-in brings a name, and an address that is not believed',
      { idToken, callback: { user } },
      { ...plain, name: 'Ada Lovelace', givenName: 'Ada', familyName: 'Lovelace' },
    ],
    ['later ones bring none', { idToken }, plain],
    [
      'a name of one part',
      { idToken, callback: { user: '{"name":{"firstName":"Ada"}}' } },
      { ...plain, name: 'Ada', givenName: 'Ada' },
    ],
    ['a name that is nonsense', { idToken, callback: { user: '{"name":' } }, plain],
    ['a name that is null', { idToken, callback: { user: 'null' } }, plain],
    ['a name that is not made of texts', { idToken, callback: { user: '{"name":{"firstName":{},"lastName":[1]}}' } }, plain],
    [
      'an address that is not verified, as text',
      { idToken: { ...idToken, email_verified: 'false' } },
      { ...plain, emails: email('somebody@example.com', false) },
    ],
    ['an address that is verified, as a boolean', { idToken: { ...idToken, email_verified: true } }, plain],
    [
      'no word on verification',
      { idToken: { ...idToken, email_verified: undefined } },
      { ...plain, emails: email('somebody@example.com', false) },
    ],
    [
      'a private relay, as text',
      { idToken: { ...idToken, email: 'x1@privaterelay.appleid.com', is_private_email: 'true' } },
      {
        ...plain,
        emails: email('x1@privaterelay.appleid.com', true),
        customClaims: { ...plain.customClaims, is_private_email: true },
      },
    ],
    [
      'no private relay, as text',
      { idToken: { ...idToken, is_private_email: 'false' } },
      { ...plain, customClaims: { ...plain.customClaims, is_private_email: false } },
    ],
    [
      'a user who moved with the application',
      { idToken: { ...idToken, transfer_sub: '760417.x' } },
      { ...plain, customClaims: { ...plain.customClaims, transfer_sub: '760417.x' } },
    ],
    ['no address', { idToken: { ...idToken, email: undefined } }, { ...plain, emails: [] }],
  ]
  test.each(cases)('%s', async (_, given, profile) => {
    expect(await profileOf(apple, given)).toEqual(profile)
  })

  test('tokens are accepted of both its names, or of the place that it was moved to', () => {
    expect(apple.idTokens?.issuers('https://appleid.apple.com')).toEqual([
      'https://appleid.apple.com',
      'https://account.apple.com',
    ])
    expect(apple.idTokens?.issuers('http://fake')).toEqual(['http://fake'])
    expect(apple.idTokens?.keys?.('https://appleid.apple.com')).toBe('https://appleid.apple.com/auth/keys')
  })

  const now = new Date('2030-01-02T03:04:05.678Z')
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const pem = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' })
  const signer = { team_id: 'TEAM123456', key_id: 'KEY1234567', private_key: pem(privateKey) }
  const make = (secret: unknown) =>
    apple.makeSecret?.({
      clientId: 'com.example.shop',
      secret: typeof secret === 'string' ? secret : JSON.stringify(secret),
      now,
    })

  test('the client secret is made from a key, for five minutes', async () => {
    const { payload, protectedHeader } = await jwtVerify(make(signer) ?? '', publicKey, { currentDate: now })
    const issued = Math.floor(now.getTime() / 1000)
    expect(protectedHeader).toEqual({ alg: 'ES256', kid: 'KEY1234567' })
    expect(payload).toEqual({
      iss: 'TEAM123456',
      sub: 'com.example.shop',
      aud: 'https://appleid.apple.com',
      iat: issued,
      exp: issued + 300,
    })
  })

  test('a secret that was made elsewhere is used as it is', () => {
    expect(make('eyJhbGciOiJFUzI1NiJ9.e30.x')).toBe('eyJhbGciOiJFUzI1NiJ9.e30.x')
  })

  const bad: [name: string, secret: unknown][] = [
    ['that is not JSON', '{"team_id": "TEAM123456", "private_key": "-----BEGIN'],
    ['without a team', { ...signer, team_id: '' }],
    ['without the name of the key', { ...signer, key_id: undefined }],
    ['without a key', { ...signer, private_key: undefined }],
    ['with a key that is nonsense', { ...signer, private_key: 'TEAM-KEY' }],
    [
      'with a key of another curve',
      { ...signer, private_key: pem(generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey) },
    ],
    ['with a key of another kind', { ...signer, private_key: pem(generateKeyPairSync('ed25519').privateKey) }],
  ]
  test.each(bad)('a secret %s is complained about, and not repeated', (_, secret) => {
    expect(() => make(secret)).toThrow(
      /^AUTH_EXTERNAL_APPLE_SECRET must be a JWT, or a JSON object of team_id, key_id and private_key, a P-256 key in PEM$/,
    )
  })
})

describe('azure', () => {
  // https://learn.microsoft.com/en-us/entra/identity-platform/id-tokens
  const idToken = {
    ver: '2.0',
    iss: 'https://login.microsoftonline.com/9122040d-6c67-4c5b-b112-36a304b66dad/v2.0',
    sub: 'AAAAAAAAAAAAAAAAAAAAAIkzqFVrSaSaFHy782bbtaQ',
    aud: '6cb04018-a3f5-46a7-b995-940c78f5aef3',
    exp: 1_893_556_845,
    iat: 1_893_553_245,
    nbf: 1_893_553_245,
    name: 'Abe Lincoln',
    preferred_username: 'AbeLi@microsoft.com',
    oid: '00000000-0000-0000-66f3-3332eca7ea81',
    tid: '9122040d-6c67-4c5b-b112-36a304b66dad',
    nonce: '123523',
    aio: 'Df2UVXL1ix!lMCWMSOJBcFatzcGfvFGhjKv8q5g0x732dR5MB5BisvGQO7YWByjd8iQDLq!eGbIDakyp5mnOrcdqHeYSnltepQmRp6AIZ8jY',
    rh: '0.x',
    uti: 'x',
    email: 'AbeLi@microsoft.com',
  }
  const customClaims = { oid: idToken.oid, tid: idToken.tid }

  test('a documented token, with what remains of it', async () => {
    expect(await profileOf(azure, { idToken })).toEqual({
      subject: idToken.sub,
      emails: email('abeli@microsoft.com', true),
      name: 'Abe Lincoln',
      username: 'AbeLi@microsoft.com',
      issuer: idToken.iss,
      customClaims,
    })
  })

  const edov: [value: unknown, verified: boolean][] = [
    [undefined, true],
    [true, true],
    ['1', true],
    ['true', true],
    [false, false],
    ['0', false],
    ['false', false],
    ['', false],
    ['True', false],
    [1, false],
    [0, false],
    [null, false],
    [{}, false],
  ]
  test.each(edov)('with xms_edov %j the address is verified: %s', async (xms_edov, verified) => {
    // email_verified is nothing that it says, and would be nothing to go by.
    const profile = await profileOf(azure, { idToken: { ...idToken, xms_edov, email_verified: !verified } })
    expect(profile.emails).toEqual(email('abeli@microsoft.com', verified))
  })

  test('without an address there is none, whatever the name of the account looks like', async () => {
    const profile = await profileOf(azure, { idToken: { ...idToken, email: undefined, xms_edov: true } })
    expect(profile).toMatchObject({ emails: [], customClaims: { ...customClaims, xms_edov: true } })
  })

  const bases: [base: string, issuer: string][] = [
    ['https://login.microsoftonline.com/common', 'https://login.microsoftonline.com/{tenantid}/v2.0'],
    ['https://login.microsoftonline.com/organizations', 'https://login.microsoftonline.com/{tenantid}/v2.0'],
    [
      'https://login.microsoftonline.com/consumers',
      'https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0',
    ],
    ['https://login.microsoftonline.com/9122040d-6c67', 'https://login.microsoftonline.com/9122040d-6c67/v2.0'],
    ['https://login.microsoftonline.us/common', 'https://login.microsoftonline.us/{tenantid}/v2.0'],
    ['http://127.0.0.1:1/tenant', 'http://127.0.0.1:1/tenant/v2.0'],
  ]
  test.each(bases)('at %s tokens are of %s', (base, issuer) => {
    expect(azure.idTokens?.issuers(base)).toEqual([issuer])
    expect(azure.idTokens?.keys?.(base)).toBe(`${base}/discovery/v2.0/keys`)
  })
})

describe('google', () => {
  // https://developers.google.com/identity/openid-connect/openid-connect#an-id-tokens-payload
  const idToken = {
    iss: 'https://accounts.google.com',
    azp: '1234987819200.apps.googleusercontent.com',
    aud: '1234987819200.apps.googleusercontent.com',
    sub: '10769150350006150715113082367',
    at_hash: 'HK6E_P6Dh8Y93mRNtsDB1Q',
    hd: 'example.com',
    email: 'jsmith@example.com',
    email_verified: 'true',
    iat: 1_893_553_245,
    exp: 1_893_556_845,
    nonce: '0394852-3190485-2490358',
  }
  const named = {
    name: 'Jane Smith',
    given_name: 'Jane',
    family_name: 'Smith',
    picture: 'https://lh3.googleusercontent.com/a/x',
    locale: 'en',
  }
  const person = {
    subject: idToken.sub,
    emails: email('jsmith@example.com', true),
    name: 'Jane Smith',
    givenName: 'Jane',
    familyName: 'Smith',
    avatar: named.picture,
    locale: 'en',
    customClaims: { hd: 'example.com' },
  }
  const userinfo = 'https://www.googleapis.com/userinfo/v2/me'
  const user = { id: idToken.sub, email: 'jsmith@example.com', verified_email: true, hd: 'example.com', ...named }

  const cases: [name: string, given: Given, profile: Partial<Profile>][] = [
    ['an id token says all', { idToken: { ...idToken, ...named } }, { ...person, issuer: idToken.iss }],
    [
      'one without a name',
      { idToken },
      { subject: idToken.sub, emails: person.emails, issuer: idToken.iss, customClaims: person.customClaims },
    ],
    [
      'one without a hosted domain',
      { idToken: { ...idToken, hd: undefined } },
      { subject: idToken.sub, emails: person.emails, issuer: idToken.iss },
    ],
    [
      'an address that is not verified',
      { idToken: { ...idToken, ...named, email_verified: false } },
      { ...person, issuer: idToken.iss, emails: email('jsmith@example.com', false) },
    ],
    ['without an id token it is asked', { pages: { [userinfo]: user } }, person],
    [
      'where an address is not verified either',
      { pages: { [userinfo]: { ...user, verified_email: false, email_verified: true } } },
      { ...person, emails: email('jsmith@example.com', false) },
    ],
  ]
  test.each(cases)('%s', async (_, given, profile) => {
    expect(await profileOf(google, given)).toEqual(profile)
  })

  test('tokens name it with and without the scheme', () => {
    expect(google.idTokens?.issuers('https://accounts.google.com')).toEqual([
      'https://accounts.google.com',
      'accounts.google.com',
    ])
    expect(google.idTokens?.keys?.('https://accounts.google.com')).toBe('https://www.googleapis.com/oauth2/v3/certs')
    expect(google.idTokens?.issuers('http://fake')).toEqual(['http://fake'])
    expect(google.idTokens?.keys?.('http://fake')).toBe('http://fake/oauth2/v3/certs')
  })
})

describe('kakao', () => {
  // https://developers.kakao.com/docs/latest/en/kakaologin/rest-api#req-user-info
  const me = 'https://kapi.kakao.com/v2/user/me'
  const account = {
    profile_nickname_needs_agreement: false,
    profile: {
      nickname: 'Gildong',
      thumbnail_image_url: 'https://x/110.jpg',
      profile_image_url: 'https://x/640.jpg',
      is_default_image: false,
    },
    email_needs_agreement: false,
    is_email_valid: true,
    is_email_verified: true,
    email: 'sample@sample.com',
  }
  const asked = (more: Claims = {}) => ({ pages: { [me]: { id: 123_456_789, kakao_account: { ...account, ...more } } } })
  const person = {
    subject: '123456789',
    emails: email('sample@sample.com', true),
    name: 'Gildong',
    nickname: 'Gildong',
    username: 'Gildong',
    avatar: 'https://x/640.jpg',
  }
  const idToken = {
    iss: 'https://kauth.kakao.com',
    aud: 'client',
    sub: '123456789',
    nickname: 'Gildong',
    picture: 'https://x/110.jpg',
  }

  const cases: [name: string, given: Given, profile: Partial<Profile>][] = [
    ['a documented user', asked(), person],
    [
      'an address that was verified and is valid no more',
      asked({ is_email_valid: false }),
      { ...person, emails: email('sample@sample.com', false) },
    ],
    [
      'an address that was never verified',
      asked({ is_email_verified: false }),
      { ...person, emails: email('sample@sample.com', false) },
    ],
    ['an address that is not told', asked({ email: undefined }), { ...person, emails: [] }],
    ['nothing but an id', { pages: { [me]: { id: 123_456_789 } } }, { subject: '123456789', emails: [] }],
    ['an id token of the same person', { ...asked(), idToken }, person],
    [
      'an id token alone, which does not vouch for the address',
      { accessToken: '', idToken: { ...idToken, email: 'sample@sample.com' } },
      { ...person, emails: email('sample@sample.com', false), avatar: 'https://x/110.jpg', issuer: idToken.iss },
    ],
  ]
  test.each(cases)('%s', async (_, given, profile) => {
    expect(await profileOf(kakao, given)).toEqual(profile)
  })
})

describe('keycloak', () => {
  const userinfo = `${realm}/protocol/openid-connect/userinfo`
  const user = {
    sub: '9f2c0a4e-1b1d-4b44-9d5a-0a4b8c6f1d2e',
    email_verified: true,
    name: 'Ada Lovelace',
    groups: ['/staff'],
    preferred_username: 'ada',
    given_name: 'Ada',
    family_name: 'Lovelace',
    email: 'ada@example.com',
  }
  const idToken = {
    iss: realm,
    sub: user.sub,
    aud: 'client',
    sid: 'x',
    acr: '1',
    at_hash: 'x',
    typ: 'ID',
    email: 'ada@example.com',
    email_verified: false,
  }
  const person = {
    subject: user.sub,
    emails: email('ada@example.com', true),
    name: 'Ada Lovelace',
    givenName: 'Ada',
    familyName: 'Lovelace',
    username: 'ada',
    issuer: realm,
    customClaims: { groups: ['/staff'] },
  }

  const cases: [name: string, given: Given, profile: Partial<Profile>][] = [
    ['what it tells besides the standard claims is kept', { idToken, pages: { [userinfo]: user } }, person],
    ['no id token', { pages: { [userinfo]: user } }, person],
    ['no address', { pages: { [userinfo]: { ...user, email: undefined } } }, { ...person, emails: [] }],
    [
      'an address that is not verified',
      { pages: { [userinfo]: { ...user, email_verified: false } } },
      { ...person, emails: email('ada@example.com', false) },
    ],
    [
      'an id token alone',
      { accessToken: '', idToken },
      { subject: user.sub, emails: email('ada@example.com', false), issuer: realm },
    ],
    [
      'every standard claim',
      {
        pages: {
          [userinfo]: {
            ...user,
            groups: undefined,
            nickname: 'countess',
            profile: 'https://example.com/ada',
            picture: 'https://example.com/ada.png',
            website: 'https://ada.example.com',
            gender: 'female',
            birthdate: '1815-12-10',
            zoneinfo: 'Europe/London',
            locale: 'en-GB',
            phone_number: '+441234567890',
            phone_number_verified: 'false',
          },
        },
      },
      {
        ...person,
        nickname: 'countess',
        profileUrl: 'https://example.com/ada',
        avatar: 'https://example.com/ada.png',
        website: 'https://ada.example.com',
        gender: 'female',
        birthdate: '1815-12-10',
        zoneinfo: 'Europe/London',
        locale: 'en-GB',
        phone: '+441234567890',
        phoneVerified: false,
        customClaims: undefined,
      },
    ],
  ]
  test.each(cases)('%s', async (_, given, profile) => {
    expect(await profileOf(keycloak, given)).toEqual(profile)
  })

  test('its issuer and keys are those of the realm', () => {
    expect(keycloak.base).toBeUndefined()
    expect(keycloak.idTokens?.issuers(realm)).toEqual([realm])
    expect(keycloak.idTokens?.keys?.(realm)).toBe(`${realm}/protocol/openid-connect/certs`)
  })
})

describe('linkedin_oidc', () => {
  // https://learn.microsoft.com/en-us/linkedin/consumer/integrations/self-serve/sign-in-with-linkedin-v2#id-token-payload
  const idToken = {
    iss: 'https://www.linkedin.com/oauth',
    aud: 'client',
    iat: 1_893_553_245,
    exp: 1_893_556_845,
    sub: '782bbtaQ',
    name: 'John Doe',
    given_name: 'John',
    family_name: 'Doe',
    picture: 'https://media.licdn-ei.com/dms/image/C5F03AQHqK8v7tB1HCQ/profile-displayphoto-shrink_100_100/0/',
    locale: 'en-US',
    email: 'doe@email.com',
    email_verified: 'true',
  }
  const person = {
    subject: '782bbtaQ',
    emails: email('doe@email.com', true),
    name: 'John Doe',
    givenName: 'John',
    familyName: 'Doe',
    avatar: idToken.picture,
    locale: 'en-US',
    issuer: idToken.iss,
  }

  const cases: [name: string, given: Given, profile: Partial<Profile>][] = [
    ['a documented token', { idToken }, person],
    ['a locale in parts', { idToken: { ...idToken, locale: { country: 'US', language: 'en' } } }, { ...person, locale: 'en_US' }],
    ['no address', { idToken: { ...idToken, email: undefined } }, { ...person, emails: [] }],
    [
      'an address that is not verified, as text',
      { idToken: { ...idToken, email_verified: 'false' } },
      { ...person, emails: email('doe@email.com', false) },
    ],
  ]
  test.each(cases)('%s', async (_, given, profile) => {
    expect(await profileOf(linkedinOidc, given)).toEqual(profile)
  })

  test('tokens are issued at another host than the one that people sign in at', () => {
    expect(linkedinOidc.idTokens?.issuers('https://api.linkedin.com')).toEqual(['https://www.linkedin.com/oauth'])
    expect(linkedinOidc.idTokens?.keys?.('https://api.linkedin.com')).toBe('https://www.linkedin.com/oauth/openid/jwks')
    expect(linkedinOidc.idTokens?.issuers('http://fake')).toEqual(['http://fake/oauth'])
  })
})

describe('slack_oidc', () => {
  // https://docs.slack.dev/reference/methods/openid.connect.userInfo
  const userinfo = 'https://slack.com/api/openid.connect.userInfo'
  const user = {
    ok: true,
    sub: 'U0R7JM',
    'https://slack.com/user_id': 'U0R7JM',
    'https://slack.com/team_id': 'T0R7GR',
    email: 'krane@slack-corp.com',
    email_verified: true,
    date_email_verified: 1_622_128_723,
    name: 'krane',
    picture: 'https://secure.gravatar.com/x.jpg',
    given_name: 'Bront',
    family_name: 'Labradoodle',
    locale: 'en-US',
    'https://slack.com/team_name': 'kraneflannel',
  }
  const person = {
    subject: 'U0R7JM',
    emails: email('krane@slack-corp.com', true),
    name: 'krane',
    givenName: 'Bront',
    familyName: 'Labradoodle',
    avatar: user.picture,
    locale: 'en-US',
    customClaims: { 'https://slack.com/team_id': 'T0R7GR' },
  }

  const cases: [name: string, given: Given, profile: Partial<Profile>][] = [
    ['a documented user', { idToken: { iss: 'https://slack.com', sub: 'U0R7JM' }, pages: { [userinfo]: user } }, person],
    [
      'an address that is not verified',
      { pages: { [userinfo]: { ...user, email_verified: false } } },
      { ...person, emails: email('krane@slack-corp.com', false) },
    ],
    ['no address', { pages: { [userinfo]: { ...user, email: undefined } } }, { ...person, emails: [] }],
  ]
  test.each(cases)('%s', async (_, given, profile) => {
    expect(await profileOf(slackOidc, given)).toEqual(profile)
  })
})

describe('workos', () => {
  // https://workos.com/docs/reference/sso/profile/get-profile-and-token
  const tokenReply = {
    access_token: '01DMEK0J53CVMC32CK5SE0KZ8Q',
    profile: {
      object: 'profile',
      id: 'prof_01DMC79VCBZ0NY2099737PSVF1',
      connection_id: 'conn_01E4ZCR3C56J083X43JQXF3JK5',
      connection_type: 'OktaSAML',
      organization_id: 'org_01EHWNCE74X7JSDV0X3SZ3KJNY',
      email: 'todd@example.com',
      first_name: 'Todd',
      last_name: 'Rundgren',
      idp_id: '00u1a0ufowBJlzPlk357',
      raw_attributes: { groups: ['Engineering'] },
    },
  }
  const { profile } = tokenReply
  const person = {
    subject: profile.id,
    emails: email('todd@example.com', true),
    name: 'Todd Rundgren',
    givenName: 'Todd',
    familyName: 'Rundgren',
    customClaims: {
      connection_id: profile.connection_id,
      connection_type: 'OktaSAML',
      organization_id: profile.organization_id,
      idp_id: profile.idp_id,
      raw_attributes: profile.raw_attributes,
    },
  }
  const { name: _name, givenName: _givenName, familyName: _familyName, ...nameless } = person

  const cases: [name: string, given: Given, profile: Partial<Profile>][] = [
    ['the profile comes with the token', { tokenReply }, person],
    ['no name', { tokenReply: { profile: { ...profile, first_name: null, last_name: '' } } }, nameless],
    ['no address', { tokenReply: { profile: { ...profile, email: null } } }, { ...person, emails: [] }],
    [
      'no organization',
      { tokenReply: { profile: { id: 'prof_1', email: 'a@example.com', organization_id: null } } },
      { subject: 'prof_1', emails: email('a@example.com', true) },
    ],
  ]
  test.each(cases)('%s', async (_, given, expected) => {
    expect(await profileOf(workos, given)).toEqual(expected)
  })

  test('what its page calls provider has another name here', () => {
    expect(workos.handsOn).toEqual({ workos_provider: 'provider', connection: 'connection', organization: 'organization' })
  })
})

describe('somebody without an id is nobody', () => {
  const userinfo = `${realm}/protocol/openid-connect/userinfo`
  const slack = 'https://slack.com/api/openid.connect.userInfo'
  const cases: [provider: Provider, given: Given][] = [
    [apple, { idToken: { email: 'a@example.com' } }],
    [azure, { idToken: { sub: '', email: 'a@example.com' } }],
    [google, { pages: { 'https://www.googleapis.com/userinfo/v2/me': { email: 'a@example.com' } } }],
    [kakao, { pages: { 'https://kapi.kakao.com/v2/user/me': { kakao_account: { email: 'a@example.com' } } } }],
    [keycloak, { pages: { [userinfo]: { email: 'a@example.com' } } }],
    [linkedinOidc, { idToken: {} }],
    [slackOidc, { pages: { [slack]: { ok: false, error: 'invalid_auth' } } }],
    [google, { pages: { 'https://www.googleapis.com/userinfo/v2/me': null } }],
    [kakao, { pages: { 'https://kapi.kakao.com/v2/user/me': [] } }],
    [keycloak, { pages: { [userinfo]: null } }],
    [slackOidc, { pages: { [slack]: 'nonsense' } }],
    [workos, { tokenReply: { profile: null } }],
  ]
  test.each(cases)('$name', async (provider, given) => {
    await expect(profileOf(provider, given)).rejects.toThrow(`${provider.name}: told no id`)
  })
})

describe('an access token of somebody else lends nothing to the bearer of an id token', () => {
  const idToken = { sub: 'attacker' }
  const victim = { sub: 'victim', id: 1, email: 'victim@example.com', email_verified: true }
  const cases: [provider: Provider, page: string][] = [
    [keycloak, `${realm}/protocol/openid-connect/userinfo`],
    [slackOidc, 'https://slack.com/api/openid.connect.userInfo'],
    [kakao, 'https://kapi.kakao.com/v2/user/me'],
  ]
  test.each(cases)('$name', async (provider, page) => {
    const asking = profileOf(provider, { idToken, pages: { [page]: victim } })
    await expect(asking).rejects.toThrow(`${provider.name}: told of somebody else`)
  })
})

describe('an address that is none is left out', () => {
  test.each(['', ' ', 'nobody', 'a@', 7, null, ['a@example.com'], 'a@example.com\r\nbcc: b@example.com'])(
    '%j',
    async (address) => {
      const profile = await profileOf(linkedinOidc, { idToken: { sub: 'x', email: address, email_verified: true } })
      expect(profile.emails).toEqual([])
    },
  )
})

test('what a database cannot keep or a page should not show is taken out, however deep it is hidden', async () => {
  const idToken = {
    sub: 'x',
    email: 'a@example.com',
    name: 'A\0da',
    picture: 'javascript:alert(1)',
    website: 'nowhere',
    'gro\0ups': [{ 'na\0me': 'st\0aff', half: '\ud800', level: 3, admin: false, none: null }],
    empty: '',
    nothing: null,
  }
  expect(await profileOf(keycloak, { accessToken: '', idToken })).toEqual({
    subject: 'x',
    emails: email('a@example.com', false),
    name: 'Ada',
    issuer: realm,
    customClaims: { groups: [{ name: 'staff', half: '\ufffd', level: 3, admin: false, none: null }] },
  })
})

describe('what is declared', () => {
  const all: [provider: Provider, authorize: string, token: string, scopes: string][] = [
    [apple, 'https://appleid.apple.com/auth/authorize', 'https://appleid.apple.com/auth/token', 'email name'],
    [
      azure,
      'https://login.microsoftonline.com/common/oauth2/v2.0/authorize',
      'https://login.microsoftonline.com/common/oauth2/v2.0/token',
      'openid email profile',
    ],
    [google, 'https://accounts.google.com/o/oauth2/v2/auth', 'https://oauth2.googleapis.com/token', 'email profile'],
    [
      kakao,
      'https://kauth.kakao.com/oauth/authorize',
      'https://kauth.kakao.com/oauth/token',
      'account_email profile_image profile_nickname',
    ],
    [keycloak, `${realm}/protocol/openid-connect/auth`, `${realm}/protocol/openid-connect/token`, 'openid profile email'],
    [
      linkedinOidc,
      'https://api.linkedin.com/oauth/v2/authorization',
      'https://api.linkedin.com/oauth/v2/accessToken',
      'openid email profile',
    ],
    [
      slackOidc,
      'https://slack.com/openid/connect/authorize',
      'https://slack.com/api/openid.connect.token',
      'profile email openid',
    ],
    [workos, 'https://api.workos.com/sso/authorize', 'https://api.workos.com/sso/token', ''],
  ]
  test.each(all)('$name is where its documentation says', (provider, authorize, token, scopes) => {
    const place = (address: string) => (address.startsWith('/') ? `${provider.base ?? realm}${address}` : address)
    expect([place(provider.authorize), place(provider.token), provider.scopes.join(' ')]).toEqual([authorize, token, scopes])
  })
})
