const faults = {
  malformed: 'token is malformed',
  unverifiable: 'token is unverifiable',
  signature: 'token signature is invalid',
  claims: 'token has invalid claims',
}

export type TokenFault = keyof typeof faults

/** Why a token is refused, in the words that clients of the reference know. Never quotes more of it than a shortened kid. */
export class TokenProblem extends Error {
  readonly fault: TokenFault

  constructor(fault: TokenFault, reason: string) {
    super(`${faults[fault]}: ${reason}`)
    this.fault = fault
  }
}

/** Why a set of keys cannot be used, in a sentence for the operator. Has no cause, for that might quote the key. */
export class KeyProblem extends Error {}
