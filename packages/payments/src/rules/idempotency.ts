import { createHash } from 'node:crypto'
import type { Claim } from '../store/idempotency.ts'

/** Whose keys they are that nobody can be named for. */
export const nobody = '0'.repeat(24)

/** What a request was: method, path and the body as it was understood, whatever its encoding and the order of its fields. */
export function fingerprint(request: { method: string; path: string }, body: unknown): Buffer {
  const path = request.path.replace(/\/+$/, '')
  return createHash('sha256')
    .update(JSON.stringify([request.method, path, sorted(body)]))
    .digest()
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, part]) => [name, sorted(part)]),
  )
}

/** Undefined where no key was sent; null where what was sent cannot be one. */
export function readKey(header: string | string[] | undefined): string | undefined | null {
  if (header === undefined) return undefined
  // The draft of the standard writes it as a quoted text; most clients do not.
  const text = String(header)
    .trim()
    .replace(/^"(.*)"$/, '$1')
  return /^[\x21-\x7e]{1,255}$/.test(text) ? text : null
}

export function sameRequest(one: Pick<Claim, 'fingerprint'>, other: Pick<Claim, 'fingerprint'>): boolean {
  return one.fingerprint.equals(other.fingerprint)
}
