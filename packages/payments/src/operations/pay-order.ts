import type { Incoming } from '@tollgate/kit/endpoint'
import { Failure } from '@tollgate/kit/failure'
import type { App } from '../app.ts'
import { fail } from '../errors.ts'
import { authenticationOf } from '../rules/challenges.ts'
import { deviceCodeOf } from '../rules/device-codes.ts'
import { nobody } from '../rules/idempotency.ts'
import { hashKey } from '../rules/keys.ts'
import type { ProcessingCode } from '../rules/processing-errors.ts'
import { type Claim, findClaimed } from '../store/idempotency.ts'
import { findPayee } from '../store/merchants.ts'
import { limitDeclines } from './limit.ts'
import { badToken } from './open-token.ts'
import { payByCard } from './pay-by-card.ts'
import type { Hint } from './read-hints.ts'
import { type Order, type OrderBody, printsOf } from './read-order.ts'
import { orReplay, replayAuthorization } from './replay.ts'

/**
 * Pays an order, once: whoever sends it again, with these hints or others, is told what came of it. A device cannot know whether an
 * answer that it never got was a yes.
 */
export async function payOrder(
  app: App,
  order: Order,
  { hints, request }: { hints: readonly Hint[]; request: Incoming },
): Promise<{ id: string }> {
  const { payee, amount, currency, descriptor, custom, card, agreement, course } = order
  const confirmed = hints.some((hint) => hint.proof === 'tds-challenge' && hint.confirmed === true)
  const { tds, refused } = authenticationOf(course, { confirmed, demanded: payee.tdsMode })
  const claim = claimOf(order)
  const payment = { payee, amount, currency, descriptor, custom, card, agreement, tds, refused, claim }
  try {
    return await orReplay(
      app,
      claim,
      () => limitDeclines(app, { request, payee, card }, () => payByCard(app, { ...payment, simulation: course.simulation })),
      (claimed) => replayAuthorization(app, claimed),
    )
  } catch (problem) {
    throw forDevice(problem, order)
  }
}

/**
 * What came of an order that was paid by card, however long ago: for devices whose hints or tokens are not good for anything else any
 * more. Undefined when it was never paid.
 */
export async function findPaid(app: App, body: OrderBody): Promise<{ id: string } | undefined> {
  const payee = await findPayee(app.db, body.integration.key)
  const claimed = payee && (await findClaimed(app.db, claimOf({ payee, ...printsOf(body), walletToken: undefined })))
  if (!claimed) return undefined
  return replayAuthorization(app, claimed).catch((problem) => {
    throw forDevice(problem, {})
  })
}

/** What a wallet has handed out is good for one order; any other with the same is a mismatch. */
function claimOf({
  payee,
  hash,
  fingerprint,
  walletToken,
}: Pick<Order, 'payee' | 'hash' | 'fingerprint' | 'walletToken'>): Claim {
  const key = walletToken ?? `order ${hash}`
  return {
    // One shop's token must not pay at another either.
    ownerId: walletToken === undefined ? payee.id : nobody,
    key,
    keyHash: hashKey(key).toString('hex'),
    fingerprint,
    method: 'POST',
    path: '/payments',
  }
}

function forDevice(problem: unknown, { walletToken = '' }: Partial<Order>): unknown {
  if (!(problem instanceof Failure)) return problem
  if (problem.code === 'idempotency_mismatch') return badToken(walletToken.split(' ', 1).join())
  if (problem.code !== 'processing_failed') return problem
  return fail(deviceCodeOf(problem.more.code as ProcessingCode))
}
