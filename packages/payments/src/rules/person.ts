import type { Claims } from '@tollgate/kit/jwt'
import { settleEmail } from './email.ts'

export type Person = { email: string; name: string | null }

const longestName = 200

/** Whom a verified access token is about, or why it gives nobody access. */
export function personOf(
  claims: Claims,
  expected: { audience: string; issuer: string | undefined },
): Person | { refused: string } {
  const { exp, iss, aud, role, is_anonymous: anonymous, email, user_metadata: metadata } = claims
  if (exp === undefined) return { refused: 'it does not say when it expires' }
  if (expected.issuer !== undefined && iss !== expected.issuer) return { refused: 'it comes from another issuer' }
  if (aud !== expected.audience && !(Array.isArray(aud) && aud.includes(expected.audience)))
    return { refused: 'it is meant for another audience' }
  // Whoever operates the identity service is nobody in particular here: keys of services name no person.
  if (role !== 'authenticated') return { refused: 'its role is not "authenticated"' }
  if (anonymous !== undefined && anonymous !== false) return { refused: 'it belongs to somebody who has not said who they are' }
  const settled = typeof email === 'string' ? settleEmail(email) : undefined
  if (settled === undefined) return { refused: 'it names no email address' }
  return { email: settled, name: nameIn(metadata) }
}

/** People choose it themselves, so it is no more than how they want to be called. */
function nameIn(metadata: unknown): string | null {
  const { full_name: full, name } = (metadata ?? {}) as Record<string, unknown>
  const chosen = [full, name].map(tidy).find((each) => each !== '')
  return chosen ?? null
}

function tidy(name: unknown): string {
  if (typeof name !== 'string') return ''
  const line = name
    .slice(0, 1000)
    .toWellFormed()
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
  return [...line].slice(0, longestName).join('').trim()
}
