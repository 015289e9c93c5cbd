import type { App } from '../app.ts'
import type { Who } from '../callers.ts'
import { fail } from '../errors.ts'
import { type FoundTransaction, findOwnTransaction } from '../store/transactions.ts'

/** The transaction that a path names. Somebody else's is refused like one that does not exist. */
export async function seeTransaction(
  { db }: Pick<App, 'db'>,
  { who, params }: { who: Who; params: { transaction_id: string } },
): Promise<FoundTransaction> {
  const found = await findOwnTransaction(db, params.transaction_id, who.id)
  if (!found) throw fail('not_found')
  return found
}
