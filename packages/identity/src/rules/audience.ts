import type { Claims } from '@tollgate/kit/jwt'

/** For whom a request speaks: whom its header names, else whom its token is for, else everybody's. An admin's token is for no one in particular. */
export function requestAudience(
  header: string | string[] | undefined,
  claims: Claims,
  settings: { audience: string; adminRoles: readonly string[] },
): string {
  if (typeof header === 'string' && header !== '') return header
  const { aud, role } = claims
  const isAdmin = typeof role === 'string' && settings.adminRoles.includes(role)
  return typeof aud === 'string' && aud !== '' && !isAdmin ? aud : settings.audience
}
