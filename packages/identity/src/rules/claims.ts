import type { User } from '../store/users.ts'

/** How a session was entered, newest first. */
export type Method = { method: string; timestamp: number }

export type Session = { id: string; methods: readonly Method[] }

const strong = new Set(['totp', 'mfa/phone', 'mfa/webauthn'])

/** What an access token says of its holder. */
export function accessClaims(
  user: User,
  session: Session,
  settings: { issuer: string | undefined; lifetime: number },
  now: Date,
) {
  const issuedAt = Math.floor(now.getTime() / 1000)
  return {
    ...(settings.issuer ? { iss: settings.issuer } : {}),
    sub: user.id,
    aud: user.aud,
    exp: issuedAt + Math.floor(settings.lifetime),
    iat: issuedAt,
    email: user.email,
    phone: user.phone,
    app_metadata: user.appMetadata,
    user_metadata: user.userMetadata,
    role: user.role,
    aal: session.methods.some(({ method }) => strong.has(method)) ? 'aal2' : 'aal1',
    amr: session.methods,
    session_id: session.id,
    is_anonymous: user.isAnonymous,
  }
}
