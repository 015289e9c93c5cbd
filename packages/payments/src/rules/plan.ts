import type { Problem } from '@tollgate/kit/shape'
import { isChargeable } from './currencies.ts'
import { minorOf } from './money.ts'
import type { IntervalUnit, Plan } from './plan-shape.ts'

/** A component of a plan once nothing is left to be understood. */
export type PlanPart = {
  /** In minor units. */
  amount: number
  currency: string
  first: Date
  /** Null: for ever. */
  count: number | null
  /** Null: there is no other, it is scheduled once. */
  every: { unit: IntervalUnit; value: number } | null
}

/** Never without a part. */
export type SettledPlan = readonly PlanPart[]

const century = 36_525 * 86_400_000

/** Checks a plan and settles it; or tells what is wrong with it, by the path in the order. */
export function readPlan(plan: Plan, now: Date): { plan: SettledPlan } | { problems: Problem[] } {
  const problems = plan.flatMap((component, index) =>
    problemsOf(component, { now, before: plan[index - 1], isLast: index === plan.length - 1 }).map(([path, message]) => ({
      path: `plan.${index}${path}`,
      kind: 'value' as const,
      message,
    })),
  )
  return problems.length > 0 ? { problems } : { plan: settlePlan(plan, now) }
}

type Component = Plan[number]

type Place = { now: Date; before: Component | undefined; isLast: boolean }

function problemsOf(component: Component, { now, before, isLast }: Place): [path: string, message: string][] {
  const { amount, scheduled, repeat } = component
  const problems: [string, string][] = []
  if (!isChargeable(amount.currency))
    problems.push(['.amount.currency', 'Must be the code of a currency that payments can be made in'])
  else if (minorOf(amount) === undefined) problems.push(['.amount.value', 'Must be at most 9007199254740991 minor units'])
  if ((scheduled === undefined) === (repeat === undefined)) return [...problems, ['', 'Must have either scheduled or repeat']]
  const path = scheduled ? '.scheduled' : '.repeat.first'
  const start = startOf(component, now)
  if (Math.abs(start.getTime() - now.getTime()) > century) problems.push([path, 'Must be within 100 years'])
  if (before && start <= startOf(before, now)) problems.push([path, 'Must be later than that of the component before'])
  if (repeat && repeat.count === undefined && !isLast) problems.push(['.repeat.count', 'Required but in the last component'])
  return problems
}

function startOf({ scheduled, repeat }: Component, now: Date): Date {
  return scheduled ?? repeat?.first ?? now
}

/** For a plan that `readPlan` has found nothing wrong with. */
export function settlePlan(plan: Plan, now: Date): SettledPlan {
  return plan.map((component) => {
    const { amount, repeat } = component
    const minor = minorOf(amount)
    if (minor === undefined) throw new Error('a plan with an amount that is none was not refused')
    return {
      amount: minor,
      currency: amount.currency,
      first: startOf(component, now),
      count: repeat ? (repeat.count ?? null) : 1,
      every: repeat ? { unit: repeat.interval.unit, value: repeat.interval.value ?? 1 } : null,
    }
  })
}
