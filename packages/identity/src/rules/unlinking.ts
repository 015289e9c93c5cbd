/** What an identity says about an address. */
export type Vouching = { email: string | null; verified: boolean }

type Promotion =
  /** The address stays: there is none, or another identity has it too. */
  | { outcome: 'kept' }
  /** Another identity's address takes its place; null where the identity has none. */
  | { outcome: 'promoted'; email: string | null; verified: boolean }
  /** Every address that could take its place is somebody else's. */
  | { outcome: 'conflict' }

/**
 * The address that an account has once an identity is gone. `remaining` are the other identities, oldest first: one with a proved address is
 * preferred to one with another address, and that to one with none.
 */
export function emailAfterUnlinking(
  email: string,
  remaining: readonly Vouching[],
  isTaken: (email: string) => boolean,
): Promotion {
  if (email === '' || remaining.some((identity) => identity.email === email)) return { outcome: 'kept' }
  const addressed = remaining.filter((identity) => identity.email !== null && identity.email !== '')
  const candidates = [...addressed.filter(({ verified }) => verified), ...addressed.filter(({ verified }) => !verified)]
  const free = candidates.find((identity) => identity.email !== null && !isTaken(identity.email))
  if (free) return { outcome: 'promoted', ...free }
  if (addressed.length < remaining.length) return { outcome: 'promoted', email: null, verified: false }
  return { outcome: 'conflict' }
}
