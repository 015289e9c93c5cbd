import type { Db, Sql } from '@tollgate/kit/db'
import { countUsers } from '../store/user-search.ts'

type Kept = { total: number; until: number }

const kept = new WeakMap<Db, Map<string, Kept>>()

/** What takes less is counted anew every time, so that nobody wonders about a number. */
const quickMilliseconds = 50
/** Whoever pages through a million makes us spend a twentieth of the time on counting them. */
const times = 20

/** How many accounts there are. Where counting takes long, the number may be some seconds old. */
export async function countAccounts(db: Db, sql: Sql, aud: string, most: number): Promise<number> {
  const totals = kept.get(db) ?? new Map<string, Kept>()
  kept.set(db, totals)
  const started = performance.now()
  const known = totals.get(aud)
  if (known && known.until > started) return known.total
  const total = await countUsers(sql, aud, most)
  const took = performance.now() - started
  // Audiences are whatever callers call them: those of which there is much to count are few.
  if (took > quickMilliseconds) totals.set(aud, { total, until: performance.now() + took * times })
  else totals.delete(aud)
  return total
}
