import { createHmac, hash, type KeyObject, randomBytes, randomInt } from 'node:crypto'
import type { Secret } from '@tollgate/kit/secret'

/** Wrong guesses until a code is worth nothing: five in a million for the shortest one. Links cannot be guessed and do not count. */
export const mostAttempts = 5

/** What a person types. */
export function newCode(digits: number): string {
  return Array.from({ length: digits }, () => randomInt(10)).join('')
}

/** What a link carries. It tells whether the client began the flow and will prove it. */
export function newLinkToken(proved: boolean): string {
  return `${proved ? pkcePrefix : ''}${randomBytes(28).toString('hex')}`
}

/** What a client that began a flow exchanges for its session, together with its proof. */
export function newFlowCode(): string {
  return randomBytes(24).toString('base64url')
}

const pkcePrefix = 'pkce_'

export function isProvedToken(token: string): boolean {
  return token.startsWith(pkcePrefix)
}

/** As it is kept. One plain hash is enough for something that cannot be guessed. */
export function hashLinkToken(token: string): string {
  return hash('sha256', token, 'base64url')
}

/** With a key, because all codes that there are can be tried in a moment by whoever reads the table without it. */
export function hashCode(key: Secret<KeyObject>, address: string, code: string): string {
  return createHmac('sha256', key.reveal()).update(`${address}\0${code}`).digest('base64url')
}
