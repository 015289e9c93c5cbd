import type { App } from '../app.ts'
import type { Who } from '../callers.ts'
import { unfit } from '../errors.ts'
import type { MerchantFacts } from '../store/members.ts'
import { seeMerchant } from './see-merchant.ts'

/** The merchant that a path of the simulator names. */
export async function seeTestMerchant(
  app: Pick<App, 'db'>,
  asked: { who: Who; params: { merchant_id: string } },
): Promise<MerchantFacts> {
  const merchant = await seeMerchant(app, asked)
  if (!merchant.test) throw unfit('merchant_id', 'This merchant is live: the simulator is for test merchants alone')
  return merchant
}
