import type { Amount } from '../money.ts'

export type Coming = { payments: { at: Date; amount: Amount }[]; more: boolean }

/** So many are listed, and no more. */
const mostListed = 6

const units = ['day', 'week', 'month', 'year'] as const

/** The first payments of a plan, for the payer to see what they agree to. */
export function comingPayments(
  plan: readonly unknown[],
  readMoney: (money: unknown, path: string) => Amount,
  now: Date,
): Coming | { problem: string } {
  const payments: Coming['payments'] = []
  let more = false
  for (const [index, part] of plan.entries()) {
    const path = `plan[${index}]`
    const { amount: money, scheduled, repeat } = (part ?? {}) as { amount?: unknown; scheduled?: unknown; repeat?: unknown }
    if ((scheduled === undefined) === (repeat === undefined))
      return { problem: `${path} must have exactly one of scheduled and repeat` }
    const amount = readMoney(money, `${path}.amount`)
    const dates = scheduled === undefined ? repeatedDates(repeat, now) : [dateOf(scheduled)]
    if (dates === undefined || dates.some((date) => date === undefined || Number.isNaN(date.getTime())))
      return { problem: `${path}.${scheduled === undefined ? 'repeat' : 'scheduled'} cannot be read` }
    for (const at of dates as Date[]) {
      if (payments.length < mostListed) payments.push({ at, amount })
      else more = true
    }
  }
  return { payments, more }
}

function repeatedDates(repeat: unknown, now: Date): (Date | undefined)[] | undefined {
  if (typeof repeat !== 'object' || repeat === null) return undefined
  const { first, count, interval } = repeat as {
    first?: unknown
    count?: unknown
    interval?: { unit?: unknown; value?: unknown }
  }
  const { unit, value = 1 } = interval ?? {}
  const begin = first === undefined ? now : dateOf(first)
  const fits = units.some((each) => each === unit) && isCount(value) && (count === undefined || isCount(count))
  if (!begin || !fits) return undefined
  const listed = Math.min((count as number | undefined) ?? Number.POSITIVE_INFINITY, mostListed + 1)
  return Array.from({ length: listed }, (_, index) => later(begin, unit as string, index * (value as number)))
}

/** The same day of a later month, or its last where it is shorter. */
function later(begin: Date, unit: string, times: number): Date {
  const date = new Date(begin)
  if (unit === 'day' || unit === 'week') date.setUTCDate(date.getUTCDate() + times * (unit === 'week' ? 7 : 1))
  else {
    date.setUTCDate(1)
    date.setUTCMonth(date.getUTCMonth() + times * (unit === 'year' ? 12 : 1))
    const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()
    date.setUTCDate(Math.min(begin.getUTCDate(), last))
  }
  return date
}

function dateOf(given: unknown): Date | undefined {
  return typeof given === 'string' || typeof given === 'number' ? new Date(given) : undefined
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 1
}
