import type { Decided } from '../acquirers/acquirer.ts'
import { findPending } from '../store/pending.ts'
import { settleAuthorization } from '../store/transactions.ts'
import { settleMovement } from './move-money.ts'

/**
 * Ends what no acquirer tells the outcome of, as somebody says who looked it up there. The id is the one in the log: of a transaction for
 * an authorization, of a trail entry for a movement. Undefined when nothing of that id waits.
 */
export async function settleByHand(
  app: Parameters<typeof settleMovement>[0],
  id: string,
  decided: Decided,
): Promise<'authorization' | 'capture' | 'refund' | 'void' | undefined> {
  const pending = await findPending(app.db, id)
  if (!pending) return undefined
  const { merchantId, transactionId, kind } = pending
  const settled =
    kind === 'authorization'
      ? await settleAuthorization(app.db, { merchantId, id }, decided)
      : await settleMovement(app, { merchantId, transactionId, id }, decided)
  return settled ? kind : undefined
}
