import type { Tx } from '@tollgate/kit/db'
import { firstOccurrence } from '../rules/occurrences.ts'
import { settlePlan } from '../rules/plan.ts'
import type { Plan } from '../rules/plan-shape.ts'
import { insertPlan } from '../store/plans.ts'

type Agreed = {
  merchantId: string
  /** The payment that the plan was agreed to with. */
  transactionId: string
  /** One that `readPlan` has found nothing wrong with. */
  plan: Plan
  now: Date
}

/** Writes a plan down together with the payment that it was agreed to with; what is due is then made by run-plans.ts. */
export async function recordPlan(tx: Tx, { merchantId, transactionId, plan, now }: Agreed): Promise<void> {
  const settled = settlePlan(plan, now)
  const next = firstOccurrence(settled)
  // Every component has a first date that is within reach.
  if (!next) throw new Error('a plan without any payment was not refused')
  await insertPlan(tx, { merchantId, transactionId, created: now, plan: settled, next })
}
