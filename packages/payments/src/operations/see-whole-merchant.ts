import type { App } from '../app.ts'
import type { Who } from '../callers.ts'
import { fail } from '../errors.ts'
import { findMerchant, type Merchant } from '../store/merchants.ts'

/** The merchant of a path with all that its members are told of it, if the caller is one of them. */
export async function seeWholeMerchant(
  { db }: Pick<App, 'db'>,
  { who, params }: { who: Who; params: { merchant_id: string } },
): Promise<Merchant> {
  const merchant = await findMerchant(db, params.merchant_id, who.id)
  if (!merchant) throw fail('not_found')
  return merchant
}
