import type { ProcessingCode } from './processing-errors.ts'

/** A card that has expired or was rejected, or that is none, will not do tomorrow either. */
const final: ReadonlySet<ProcessingCode> = new Set<ProcessingCode>([3, 5, 6, 10, 29])

/** How many days after the first try a payment that was declined is tried again. */
const days = [1, 3, 7]

/** When a payment of a plan is tried again after so many tries; or why it is not. */
export function retryOf(
  code: ProcessingCode,
  { tries, firstTried }: { tries: number; firstTried: Date },
): Date | 'final_error' | 'retries_exhausted' {
  if (final.has(code)) return 'final_error'
  const pause = days[tries - 1]
  return pause === undefined ? 'retries_exhausted' : new Date(firstTried.getTime() + pause * 86_400_000)
}
