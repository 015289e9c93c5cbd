import { createPrivateKey, type KeyObject, sign } from 'node:crypto'
import { namedClaims, openidProfile } from './openid-profile.ts'
import type { Claims, Provider } from './provider.ts'
import { fields, flag, joined, text } from './read-profile.ts'

const home = 'https://appleid.apple.com'

/** https://developer.apple.com/documentation/signinwithapplerestapi */
export const apple: Provider = {
  name: 'apple',
  base: home,
  authorize: '/auth/authorize',
  token: '/auth/token',
  scopes: ['email', 'name'],
  // Whoever asks for an address or a name gets the answer as a form and in no other way.
  authorizeParameters: { response_mode: 'form_post' },
  idTokens: {
    issuers: (base) => (base === home ? [home, 'https://account.apple.com'] : [base]),
    keys: (base) => `${base}/auth/keys`,
    native: true,
  },

  makeSecret({ clientId, secret, now }) {
    // A secret that was made elsewhere is a JWT, and lives for half a year at most.
    if (!secret.trimStart().startsWith('{')) return secret
    const { team, keyId, key } = readSigner(secret)
    const issued = Math.floor(now.getTime() / 1000)
    const claims = { iss: team, sub: clientId, aud: home, iat: issued, exp: issued + 300 }
    const signed = [{ alg: 'ES256', kid: keyId }, claims].map((part) => encode(JSON.stringify(part))).join('.')
    return `${signed}.${encode(sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' }))}`
  },

  profile({ idToken, callback }) {
    const { firstName, lastName } = nameOf(callback.user)
    const relay = idToken.is_private_email === undefined ? {} : { is_private_email: flag(idToken.is_private_email) }
    const customClaims = namedClaims({ ...idToken, ...relay }, ['is_private_email', 'auth_time', 'transfer_sub'])
    const named = { name: joined(firstName, lastName), givenName: text(firstName), familyName: text(lastName) }
    return { ...openidProfile(idToken, 'apple'), ...named, customClaims }
  },
}

/** Sent along by the browser and signed by nobody, so that only the name is taken from it: a wrong one is their own. */
function nameOf(user: string | undefined): Claims {
  try {
    return fields(fields(JSON.parse(user ?? '{}')).name)
  } catch {
    return {}
  }
}

function readSigner(secret: string): { team: string; keyId: string; key: KeyObject } {
  try {
    const { team_id, key_id, private_key } = fields(JSON.parse(secret))
    const [team, keyId, key] = [text(team_id), text(key_id), createPrivateKey(text(private_key) ?? '')]
    if (team && keyId && key.asymmetricKeyDetails?.namedCurve === 'prime256v1') return { team, keyId, key }
  } catch {
    // What the parsers complain about would quote the secret.
  }
  throw new Error(
    'AUTH_EXTERNAL_APPLE_SECRET must be a JWT, or a JSON object of team_id, key_id and private_key, a P-256 key in PEM',
  )
}

const encode = (part: string | Buffer) => Buffer.from(part).toString('base64url')
