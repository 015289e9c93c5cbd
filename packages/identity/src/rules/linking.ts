/** What a sign-in with a provider finds: who has this identity, and who has an address that the provider vouches for. */
export type Found = {
  /** Whose identity it is. */
  identityOwner: string | undefined
  /** Whose accounts the vouched-for addresses are, the chosen one's first. */
  addressOwners: readonly string[]
  /** Whether somebody has the chosen address, vouched for or not. */
  addressTaken: boolean
  policy: 'verified' | 'never'
}

export type Decision =
  | { outcome: 'enter'; userId: string }
  | { outcome: 'link'; userId: string }
  /** Without an address where somebody else has it: who comes with an address that is not theirs for sure gets none. */
  | { outcome: 'create'; withEmail: boolean }
  /** Several accounts could be meant, and a guess could open somebody else's. */
  | { outcome: 'ambiguous' }

/** Whose account a sign-in with a provider is. Never anybody's by an address that nobody vouches for. */
export function decideAccount({ identityOwner, addressOwners, addressTaken, policy }: Found): Decision {
  if (identityOwner !== undefined) return { outcome: 'enter', userId: identityOwner }
  const [owner, ...others] = policy === 'verified' ? addressOwners : []
  if (owner === undefined) return { outcome: 'create', withEmail: !addressTaken }
  return others.length === 0 ? { outcome: 'link', userId: owner } : { outcome: 'ambiguous' }
}
