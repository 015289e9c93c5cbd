import type { Read } from '@tollgate/kit/env'
import { parseVerifyingKeys } from '@tollgate/kit/jwt'

/** How access tokens of the identity service are verified. Without any of the first three, only apps can call. */
export function peopleSettings(read: Read) {
  return read.group('People', () => {
    const secret = read.secret('JWT_SECRET', 'The secret that the identity service signs access tokens with')
    const keys = read.parsed(
      'JWK set',
      'JWT_KEYS',
      undefined,
      'The public keys of the identity service: a JWK set in JSON',
      parseVerifyingKeys,
      { secret: true, example: '{"keys":[{"kid":"1","kty":"EC","crv":"P-256","x":"…","y":"…"}]}' },
    )
    const keysUrl = read.exactUrl('JWT_JWKS_URL', undefined, 'Where the identity service publishes its public keys', {
      example: 'https://auth.example.com/.well-known/jwks.json',
    })
    // Whoever can change the keys on their way here can sign in as anybody.
    read.insist(
      keysUrl === undefined || keysUrl.startsWith('https:') || read.peekFlag('SECURITY_ALLOW_PRIVATE_ADDRESSES', false),
      'PAY_JWT_JWKS_URL must begin with https:// unless PAY_SECURITY_ALLOW_PRIVATE_ADDRESSES is true.',
    )
    return {
      secret,
      keys,
      keysUrl,
      audience: read.text('JWT_AUD', 'authenticated', 'Whom access tokens must be meant for'),
      issuer: read.text('JWT_ISSUER', undefined, 'Who must have issued access tokens; anybody with the right key when not set'),
    }
  })
}
