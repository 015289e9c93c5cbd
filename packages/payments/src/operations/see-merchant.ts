import type { App } from '../app.ts'
import type { Who } from '../callers.ts'
import { fail } from '../errors.ts'
import { findOwnMerchant, type MerchantFacts } from '../store/members.ts'

/** The merchant that a path names. Somebody else's is refused like one that does not exist. */
export async function seeMerchant(
  { db }: Pick<App, 'db'>,
  { who, params }: { who: Who; params: { merchant_id: string } },
): Promise<MerchantFacts> {
  const merchant = await findOwnMerchant(db, who.id, params.merchant_id)
  if (!merchant) throw fail('not_found')
  return merchant
}
