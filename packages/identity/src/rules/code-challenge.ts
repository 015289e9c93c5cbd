import { createHash, timingSafeEqual } from 'node:crypto'

export type CodeChallenge = { challenge: string; method: 's256' | 'plain' }

/**
 * What a client says when it wants to prove later that it was the one who asked (RFC 7636): undefined when it says nothing of
 * the kind, which an empty text counts as, too.
 */
export function parseCodeChallenge(challenge = '', method = ''): CodeChallenge | undefined | { message: string } {
  if (challenge === '' && method === '') return undefined
  if (challenge === '' || method === '') return { message: 'PKCE flow requires code_challenge_method and code_challenge' }
  if (challenge.length < 43 || challenge.length > 128)
    return { message: 'code challenge has to be between 43 and 128 characters' }
  if (!/^[\w.~-]+$/.test(challenge))
    return { message: 'code challenge can only contain alphanumeric characters, hyphens, periods, underscores and tildes' }
  const known = method.toLowerCase()
  return known === 's256' || known === 'plain' ? { challenge, method: known } : { message: 'Invalid code_challenge_method' }
}

export function verifierMatches({ challenge, method }: CodeChallenge, verifier: string): boolean {
  if (verifier === '') return false
  const proof = method === 's256' ? createHash('sha256').update(verifier).digest('base64url') : verifier
  // Hashed once more, so that both are of one length and the time taken tells nothing.
  return timingSafeEqual(createHash('sha256').update(proof).digest(), createHash('sha256').update(challenge).digest())
}

/** The challenge that the same verifier answers by its hash. */
export function toS256({ challenge, method }: CodeChallenge): CodeChallenge {
  return method === 's256' ? { challenge, method } : { challenge: s256(challenge), method: 's256' }
}

export function s256(verifier: string): string {
  return createHash('sha256').update(verifier).digest('base64url')
}
