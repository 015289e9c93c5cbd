import { Failure } from '@tollgate/kit/failure'
import type { App } from '../app.ts'
import { fingerprint } from '../rules/idempotency.ts'
import { hashKey } from '../rules/keys.ts'
import type { PlanPart } from '../rules/plan.ts'
import { isProcessingCode, type ProcessingCode } from '../rules/processing-errors.ts'
import type { Claim } from '../store/idempotency.ts'
import type { HeldPlan } from '../store/plans.ts'
import { findTransaction, type Transaction } from '../store/transactions.ts'
import { authorize } from './authorize.ts'
import { findMethod } from './charge-again.ts'
import { moveMoney } from './move-money.ts'
import { orReplay, replayAuthorization, replayMovement } from './replay.ts'

type Parts = Parameters<typeof moveMoney>[0] & Parameters<typeof authorize>[0] & Pick<App, 'vault'>

/** What became of a payment of a plan. */
export type Paid =
  | { kind: 'approved'; id: string }
  | { kind: 'declined'; code: ProcessingCode; id: string | null }
  | { kind: 'pending'; id: string }

type Try = Pick<HeldPlan, 'merchantId' | 'transactionId' | 'component' | 'occurrence' | 'tries'>

/** The key of a try: whoever tries the same again finds what came of it. Nobody outside can have one, for it has spaces. */
export function claimOf(held: Try, what: 'charge' | 'capture' = 'charge'): Claim {
  const { merchantId, transactionId, component, occurrence, tries } = held
  const key = `plan ${transactionId} ${component}.${occurrence}.${tries}${what === 'capture' ? ' capture' : ''}`
  const request = { method: 'PLAN', path: `/merchants/${merchantId}/plans/${transactionId}` }
  return {
    ownerId: merchantId,
    key,
    keyHash: hashKey(key).toString('hex'),
    fingerprint: fingerprint(request, { component, occurrence, tries, what }),
    ...request,
  }
}

/** Reserves what is due on the card of the payment that the plan was agreed to with. */
export async function chargePlanned(app: Parts, held: HeldPlan, source: Transaction): Promise<Paid> {
  const { amount, currency } = held.plan[held.component] as PlanPart
  const { merchantId, test, descriptor, simulation } = source
  const claim = claimOf(held)
  const charge = async () =>
    authorize(app, {
      merchant: { id: merchantId, test, currency: held.funding, canChargeCard: held.canChargeCard },
      amount,
      currency,
      // A server has no security code to send.
      card: { ...source.card, codePresent: false },
      descriptor,
      custom: source.custom as object | null,
      recurring: true,
      source: { id: source.id, acquirerReference: source.acquirerReference ?? undefined },
      cardId: null,
      tds: 'none',
      simulation: simulation ?? undefined,
      claim,
      // The simulator knows its cards without their numbers.
      method: test ? undefined : await findMethod(app, merchantId, source),
    })
  try {
    const { id } = await orReplay(app, claim, charge, (claimed) => replayAuthorization(app, claimed))
    return { kind: 'approved', id }
  } catch (problem) {
    return outcomeOf(app, held, problem)
  }
}

function outcomeOf({ log }: Parts, { merchantId, transactionId }: HeldPlan, problem: unknown): Paid {
  if (!(problem instanceof Failure)) throw problem
  const more = problem.more as { code?: number; transactionId?: string; response?: { transaction: { id: string } } }
  if (problem.code === 'processing_failed')
    return { kind: 'declined', code: codeOf(more.code), id: more.response?.transaction.id ?? null }
  // Nobody knows yet: it is found out by finish-pending.ts.
  if (more.transactionId !== undefined) return { kind: 'pending', id: more.transactionId }
  if (problem.status >= 500) throw problem
  log.warn({ merchant: merchantId, transaction: transactionId, error: problem }, 'a payment of a plan was refused')
  return { kind: 'declined', code: 12, id: null }
}

function codeOf(code: number | undefined): ProcessingCode {
  return code !== undefined && isProcessingCode(code) ? code : 12
}

/**
 * Captures all of a payment that was approved. Where that is refused the payment is still reserved, and left to the merchant: another
 * one in its place would be one too many.
 */
export async function capturePlanned(app: Parts, held: HeldPlan, id: string): Promise<void> {
  const found = await findTransaction(app.db, held.merchantId, id)
  if (!found) throw new Error(`transaction ${id} is gone`)
  const claim = claimOf(held, 'capture')
  const { amount } = found.transaction
  const capture = () => moveMoney(app, { kind: 'capture', found, amount, descriptor: undefined, claim })
  try {
    await orReplay(app, claim, capture, (claimed) => replayMovement(app, claimed))
  } catch (problem) {
    if (!(problem instanceof Failure)) throw problem
    const isUnderWay = problem.code === 'outcome_unknown' || problem.code === 'idempotency_running'
    if (isUnderWay) return
    if (problem.status >= 500) throw problem
    app.log.warn({ merchant: held.merchantId, transaction: id, error: problem }, 'a payment of a plan could not be captured')
  }
}
