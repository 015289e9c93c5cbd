import { Failure } from '@tollgate/kit/failure'
import { findOldestUnsettled } from '../store/pending.ts'
import { findTransaction, listUncaptured } from '../store/transactions.ts'
import { findWatermark, setWatermark } from '../store/watermarks.ts'
import { moveMoney } from './move-money.ts'

const name = 'expired authorizations'
const day = 86_400_000
const atOnce = 200

/**
 * Voids what was reserved long ago and never captured: the cardholder's bank has let go of it by then. Goes through every authorization
 * once, from where the last run ended.
 */
export async function expireAuthorizations(app: Parameters<typeof moveMoney>[0], days: number): Promise<number> {
  const limit = new Date(app.now().getTime() - days * day)
  // What is under way may come back into its pot: whoever passed it would not come by again.
  const unsettled = await findOldestUnsettled(app.db)
  const through = unsettled && unsettled <= limit ? new Date(unsettled.getTime() - 1) : limit
  const from = (await findWatermark(app.db, name)) ?? new Date(0)
  if (from >= through) return 0
  let voided = 0
  let after = ''
  for (;;) {
    const page = await listUncaptured(app.db, { from, through, after, limit: atOnce })
    for (const { merchantId, id } of page) if (await expire(app, merchantId, id)) voided++
    const last = page.at(-1)
    if (!last) break
    after = last.id
  }
  await setWatermark(app.db, name, through)
  if (voided > 0) app.log.info({ voided }, 'authorizations expired')
  return voided
}

async function expire(app: Parameters<typeof moveMoney>[0], merchantId: string, id: string): Promise<boolean> {
  const found = await findTransaction(app.db, merchantId, id)
  const amount = found?.transaction.capturable ?? 0
  if (!found || amount === 0) return false
  const merchant = { ...found.merchant, canVoid: true }
  try {
    await moveMoney(app, { kind: 'void', found: { ...found, merchant }, amount, descriptor: undefined, claim: undefined })
    return true
  } catch (problem) {
    // Somebody was faster, or the acquirer does not answer or want it: what is under way is finished elsewhere, the rest stays as it is.
    if (!(problem instanceof Failure)) throw problem
    app.log.warn({ transaction: id, error: problem }, 'an authorization could not be voided when it expired')
    return false
  }
}
