export type Presented = {
  revoked: boolean
  /** Of a token that is revoked: since when. */
  revokedAt: Date
  /** Whether it is the immediate previous one: the token that is active now is its child. */
  childIsActive: boolean
  rotation: boolean
  /** Seconds for which the previous token may be presented again. */
  interval: number
  now: Date
}

/**
 * `rotate`: revoke it and issue a child. `return-child`: answer with the child that it has. `attack`: refuse, and revoke all that
 * descends from it. `refuse`: refuse, and leave the rest alone.
 */
export type Verdict = 'rotate' | 'return-child' | 'attack' | 'refuse'

/** What becomes of a refresh token that is presented. */
export function reuse({ revoked, revokedAt, childIsActive, rotation, interval, now }: Presented): Verdict {
  if (!revoked) return 'rotate'
  // Without rotation an old token is no sign of theft, and whoever lost the last answer may have it again at any time.
  if (!rotation) return childIsActive ? 'return-child' : 'refuse'
  const inTime = now.getTime() <= revokedAt.getTime() + interval * 1000
  return childIsActive && inTime ? 'return-child' : 'attack'
}
