import type { Db } from '@tollgate/kit/db'
import {
  adoptCodes,
  adoptFlows,
  adoptRefreshTokens,
  adoptSessions,
  adoptTokenNumbers,
  adoptUsers,
  analyzeLoaded,
  type Page,
} from '../store/adopted.ts'

export type Adopted = {
  accounts: number
  /** Accounts that came with one-time tokens. */
  accountsCleared: number
  addressesLowered: number
  /** Accounts whose address differs from somebody else's by its capitals alone. */
  addressesAmbiguous: number
  /** Accounts whose password's hash is of no kind that can be read here. */
  passwordsUnreadable: number
  /** Sessions that were lent to other programs. */
  sessionsEnded: number
  /** Sessions whose refresh tokens do not work here. */
  sessionsForgotten: number
  refreshTokensHashed: number
  codesDeleted: number
  flowsDeleted: number
}

const firstId = '00000000-0000-0000-0000-000000000000'

/**
 * Makes rows that were loaded from another installation our own: what is secret among them is hashed or gone afterwards. Every page is one
 * statement, so it can be broken off at any time and done again, and never holds more than a page of rows.
 */
export async function adoptDump(db: Db, size = 5000): Promise<Adopted> {
  await adoptTokenNumbers(db)
  await analyzeLoaded(db)
  const users = await inPages(firstId, (from) => adoptUsers(db, from, size))
  // Before their tokens, for those of a session that ends go with it.
  const sessions = await inPages(firstId, (from) => adoptSessions(db, from, size))
  const tokens = await inPages(0, (from) => adoptRefreshTokens(db, from, size))
  const codes = await inPages(firstId, (from) => adoptCodes(db, from, size))
  const flows = await inPages(firstId, (from) => adoptFlows(db, from, size))
  return {
    accounts: users.accounts,
    accountsCleared: users.cleared,
    addressesLowered: users.lowered,
    addressesAmbiguous: users.ambiguous,
    passwordsUnreadable: users.unreadable,
    sessionsEnded: sessions.ended,
    sessionsForgotten: sessions.forgotten,
    refreshTokensHashed: tokens.hashed,
    codesDeleted: codes.deleted,
    flowsDeleted: flows.deleted,
  }
}

/** Goes through a table page by page and adds up what was done. */
async function inPages<Key, Counted extends string>(
  first: Key,
  adoptPage: (from: Key) => Promise<Page<Key, Counted>>,
): Promise<Record<Counted, number>> {
  let { done, next } = await adoptPage(first)
  const sums = { ...done }
  while (next !== null) {
    ;({ done, next } = await adoptPage(next))
    for (const counted in done) sums[counted] += done[counted]
  }
  return sums
}
