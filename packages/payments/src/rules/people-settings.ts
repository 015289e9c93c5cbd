import type { Read } from '@tollgate/kit/env'
import { parseVerifyingKeys } from '@tollgate/kit/jwt'

const leastSecretBytes = 32

/** How access tokens of the identity service are verified. Without any of the first three, only apps can call. */
export function peopleSettings(read: Read, { environment }: { environment: 'development' | 'production' }) {
  return read.group('People', () => {
    const secret = read.secret('JWT_SECRET', 'The secret that the identity service signs access tokens with')
    // Whoever sees a token can find a shorter one by trying, and is everybody from then on: RFC 7518, 3.2.
    const length = secret === undefined ? leastSecretBytes : Buffer.byteLength(secret.reveal())
    read.insist(
      length >= leastSecretBytes || environment === 'development',
      `PAY_JWT_SECRET must have ${leastSecretBytes} bytes or more, not ${length}: whoever sees a token can find a shorter one by trying. Give both services a longer one, or let identity sign with AUTH_JWT_KEYS and set PAY_JWT_JWKS_URL`,
    )
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
