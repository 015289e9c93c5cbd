import type { PlanPart, SettledPlan } from './plan.ts'

/** One payment of a plan: which one of which component, both counted from 0, and when it is due. */
export type Occurrence = { component: number; occurrence: number; due: Date }

const day = 86_400_000

/** Nothing is due later, however far away a plan reaches. */
const endOfTime = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** The fewest days that a unit has: no more occurrences than these allow for fit into a time. */
const shortest = { day: 1, week: 7, month: 28, year: 365 }

/**
 * When an occurrence of a component is due, in UTC. Months and years are counted from the first date and not from the last one, so that
 * what is due on the 31st is due on the 28th of February and on the 31st of March again. Undefined where there is no such occurrence.
 */
export function dueOf({ first, count, every }: PlanPart, occurrence: number): Date | undefined {
  if (occurrence < 0 || (count !== null && occurrence >= count)) return undefined
  if (every === null) return first
  const { unit, value } = every
  const steps = occurrence * value
  const due =
    unit === 'day' || unit === 'week'
      ? first.getTime() + steps * day * shortest[unit]
      : inMonths(first, unit === 'month' ? steps : 12 * steps)
  return due <= endOfTime ? new Date(due) : undefined
}

function inMonths(first: Date, months: number): number {
  const [year, month] = [first.getUTCFullYear(), first.getUTCMonth() + months]
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate()
  const timeOfDay = first.getTime() - Date.UTC(year, first.getUTCMonth(), first.getUTCDate())
  return Date.UTC(year, month, Math.min(first.getUTCDate(), lastDay)) + timeOfDay
}

/** How many occurrences of a component are due at a moment. */
function countDue(part: PlanPart, moment: number): number {
  const span = moment - part.first.getTime()
  if (span < 0) return 0
  if (part.every === null) return 1
  const { unit, value } = part.every
  // Between `low` that are due and `high` that would be one too many, by halves: a plan may have begun a century ago.
  let low = 1
  let high = Math.min(part.count ?? Number.MAX_SAFE_INTEGER, Math.floor(span / (shortest[unit] * value * day)) + 1) + 1
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    const due = dueOf(part, middle - 1)
    if (due && due.getTime() <= moment) low = middle
    else high = middle
  }
  return low
}

/** The earliest of what comes next in each component; of those that are due at once, the component that comes first. */
function earliest(plan: SettledPlan, nextIn: (part: PlanPart, component: number) => number): Occurrence | undefined {
  let found: Occurrence | undefined
  for (const [component, part] of plan.entries()) {
    const occurrence = nextIn(part, component)
    const due = dueOf(part, occurrence)
    if (due && (!found || due < found.due)) found = { component, occurrence, due }
  }
  return found
}

export function firstOccurrence(plan: SettledPlan): Occurrence | undefined {
  return earliest(plan, () => 0)
}

/** The first payment of a plan that is due at a moment or later. */
function occurrenceFrom(plan: SettledPlan, moment: Date): Occurrence | undefined {
  return earliest(plan, (part) => countDue(part, moment.getTime() - 1))
}

export function occurrenceAfter(plan: SettledPlan, { component, occurrence, due }: Occurrence): Occurrence | undefined {
  return earliest(plan, (part, index) => {
    if (index === component) return occurrence + 1
    return countDue(part, index < component ? due.getTime() : due.getTime() - 1)
  })
}

/** All payments of a plan in the order in which they are due; there may be no end to them. */
export function* occurrencesOf(plan: SettledPlan): Generator<Occurrence & { amount: number; currency: string }> {
  let next = firstOccurrence(plan)
  while (next) {
    const { amount, currency } = plan[next.component] as PlanPart
    yield { ...next, amount, currency }
    next = occurrenceAfter(plan, next)
  }
}

/** When the latest payment that is due at a moment was; undefined where none is. */
function latestDue(plan: SettledPlan, moment: Date): Date | undefined {
  const dates = plan.flatMap((part) => dueOf(part, countDue(part, moment.getTime()) - 1) ?? [])
  return dates.toSorted((one, other) => other.getTime() - one.getTime())[0]
}

/** How many payments come before one. */
function rankOf(plan: SettledPlan, { component, occurrence, due }: Occurrence): number {
  const counts = plan.map((part, index) => {
    if (index === component) return occurrence
    return countDue(part, index < component ? due.getTime() : due.getTime() - 1)
  })
  return counts.reduce((sum, count) => sum + count, 0)
}

type Look = {
  now: Date
  /** When the plan was agreed to. */
  created: Date
  /** Since when the merchant has its plans executed. */
  since: Date
}

/**
 * What is to be paid instead of an occurrence whose time was missed, and how many are left out. Nobody is charged for many at once: what
 * is more than a day late is left out when a later one is due as well; and what was due before plans were executed was up to the
 * merchant, who may have charged for it. Undefined: nothing is left to be paid.
 */
export function skipMissed(
  plan: SettledPlan,
  from: Occurrence,
  { now, created, since }: Look,
): { next: Occurrence | undefined; missed: number } {
  const latest = latestDue(plan, now)?.getTime() ?? Number.NEGATIVE_INFINITY
  const late = Math.min(latest, now.getTime() - day)
  const floor = created < since ? Math.max(late, since.getTime()) : late
  if (from.due.getTime() >= floor) return { next: from, missed: 0 }
  const next = occurrenceFrom(plan, new Date(floor))
  const through = next ? rankOf(plan, next) : plan.reduce((sum, part) => sum + countDue(part, floor), 0)
  return { next, missed: through - rankOf(plan, from) }
}
