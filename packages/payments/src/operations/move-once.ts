import type { Incoming } from '@tollgate/kit/endpoint'
import type { App } from '../app.ts'
import type { Who } from '../callers.ts'
import type { FailureCode } from '../errors.ts'
import type { MovementKind } from '../rules/movements.ts'
import { tellTransaction } from '../rules/tell-transaction.ts'
import type { FoundTransaction } from '../store/transactions.ts'
import { moveMoney } from './move-money.ts'
import { readClaim } from './read-claim.ts'
import { orReplay, replayMovement } from './replay.ts'

type Given = {
  who: Who
  subject: FoundTransaction
  body: { amount: number; descriptor?: string }
  request: Incoming
}

/** Moves money as a caller wants it, and once only where they sent a key; answers with the whole transaction. */
export async function moveOnce(app: App, kind: MovementKind, { who, subject: found, body, request }: Given) {
  const claim = readClaim({ who, request, body })
  const moved = await orReplay(
    app,
    claim,
    () => moveMoney(app, { kind, found, amount: body.amount, descriptor: body.descriptor, claim }),
    (claimed) => replayMovement(app, claimed),
  )
  return { transaction: tellTransaction(moved) }
}

export const movementFails = [
  'not_found',
  'processing_failed',
  'conflict',
  'idempotency_running',
  'idempotency_mismatch',
  'exchange_unavailable',
  'outcome_unknown',
] as const satisfies FailureCode[]
