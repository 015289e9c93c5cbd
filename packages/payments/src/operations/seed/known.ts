import { Contradiction } from '../../rules/seed-figures.ts'
import type { BookedMerchant } from '../../rules/seed-story.ts'

/** Merchants that are there or come with the file, by id. */
export type Merchants = ReadonlyMap<string, BookedMerchant>

export function merchantOf(booking: Merchants, merchantId: string): BookedMerchant {
  const merchant = booking.get(merchantId)
  if (!merchant) throw new Contradiction(`merchant ${merchantId} is not known`)
  return merchant
}

/** True when it is there already, where it stays as it is. */
export function isThere(
  found: { merchantId: string } | undefined,
  { id, merchantId }: { id: string; merchantId: string },
): boolean {
  if (!found) return false
  if (found.merchantId !== merchantId) throw new Contradiction(`${id} is there already, with merchant ${found.merchantId}`)
  return true
}
