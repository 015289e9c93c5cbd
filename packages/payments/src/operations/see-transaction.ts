import type { App } from '../app.ts'
import type { Who } from '../callers.ts'
import { fail } from '../errors.ts'
import { type FoundTransaction, findOwnTransaction } from '../store/transactions.ts'

/** The transaction that a path names. Somebody else's is refused like one that does not exist. */
export async function seeTransaction(
  { db, now }: Pick<App, 'db' | 'now'>,
  { who, params }: { who: Who; params: { transaction_id: string } },
): Promise<FoundTransaction> {
  const found = await findOwnTransaction(db, { id: params.transaction_id, identityId: who.id, now: now() })
  if (!found) throw fail('not_found')
  return found
}
