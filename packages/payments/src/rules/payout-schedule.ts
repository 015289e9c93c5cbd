/** How often a merchant is paid, where it is at all. */
export type Schedule = 'daily' | 'weekly' | 'monthly'

/** The day of a moment, in UTC, as in 2030-01-31. */
export function dayOf(moment: Date): string {
  return moment.toISOString().slice(0, 10)
}

/** A day as somebody wrote it; undefined where no calendar has it. */
export function parseDay(text: string): string | undefined {
  if (!/^[12]\d{3}-\d{2}-\d{2}$/.test(text)) return undefined
  const start = startOf(text)
  // The parser takes the 30th of February for the 2nd of March.
  return !Number.isNaN(start.getTime()) && dayOf(start) === text ? text : undefined
}

export function startOf(day: string): Date {
  return new Date(`${day}T00:00:00.000Z`)
}

/**
 * The last day, up to this one, on which merchants of each schedule are paid: every day, on Mondays, on the first of the month. Whoever
 * was not paid since then still has to be.
 */
export function paydays(day: string): Record<Schedule, string> {
  const start = startOf(day)
  const daysSinceMonday = (start.getUTCDay() + 6) % 7
  return {
    daily: day,
    weekly: dayOf(new Date(start.getTime() - daysSinceMonday * 86_400_000)),
    monthly: `${day.slice(0, 8)}01`,
  }
}
