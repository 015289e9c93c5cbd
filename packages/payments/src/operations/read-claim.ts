import type { Incoming } from '@tollgate/kit/endpoint'
import type { Who } from '../callers.ts'
import { unfit } from '../errors.ts'
import { fingerprint, nobody, readKey } from '../rules/idempotency.ts'
import { hashKey } from '../rules/keys.ts'
import type { Claim } from '../store/idempotency.ts'

/** The Idempotency-Key of a request and what it was sent with; undefined where none was sent. */
export function readClaim({ who, request, body }: { who: Who | undefined; request: Incoming; body: unknown }): Claim | undefined {
  const key = readKey(request.headers['idempotency-key'])
  if (key === null) throw unfit('Idempotency-Key', 'Must be 1 to 255 printable ASCII characters without spaces')
  if (key === undefined) return undefined
  const { method, path } = request
  return {
    ownerId: who?.id ?? nobody,
    key,
    keyHash: hashKey(key).toString('hex'),
    fingerprint: fingerprint({ method, path }, body),
    method,
    path,
  }
}
