import { readMembers } from './encoding.ts'
import { TokenProblem } from './problem.ts'

/** What a token says. The three moments are in seconds; of all else only the signer is known to have written it. */
export type Claims = Readonly<Record<string, unknown>> & {
  readonly exp?: number | undefined
  readonly nbf?: number | undefined
  readonly iat?: number | undefined
}

/** A node whose clock runs ahead of ours may have issued the token: that alone must sign nobody out. */
const clockSkew = 300

export function readClaims(bytes: Buffer): Claims {
  const claims = readMembers(bytes, 'claim')
  for (const name of ['exp', 'nbf', 'iat']) {
    if (!(name in claims) || Number.isFinite(claims[name])) continue
    throw new TokenProblem('malformed', `could not JSON decode claim: ${name} is not a number`)
  }
  return claims as Claims
}

/** Refuses claims whose time is over or has not come. A moment that is no number, such as an invalid Date's, satisfies none of them. */
export function checkTimes({ exp, nbf, iat }: Claims, now: Date): void {
  const seconds = now.getTime() / 1000
  if (exp !== undefined && !(seconds < exp)) throw new TokenProblem('claims', 'token is expired')
  if (nbf !== undefined && !(seconds >= nbf)) throw new TokenProblem('claims', 'token is not valid yet')
  if (iat !== undefined && !(seconds >= iat - clockSkew)) throw new TokenProblem('claims', 'token used before issued')
}
