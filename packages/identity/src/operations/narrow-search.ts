import type { Db, Sql } from '@tollgate/kit/db'
import { rarePart, type Sample, sampleOf } from '../rules/rare-part.ts'
import { sampleSearchTexts } from '../store/user-search.ts'

const kept = new WeakMap<Db, { sample: Sample; until: number }>()

/** What is common among very many changes slowly, and who is wrong about it finds the same, if later. */
const keptMilliseconds = 600_000

/** The part of a text that the index is best asked for, by what the database knows of the texts it has. */
export async function narrowSearch(db: Db, sql: Sql, text: string): Promise<string> {
  const known = kept.get(db)
  if (known && known.until > performance.now()) return rarePart(text, known.sample)
  const sample = sampleOf(await sampleSearchTexts(sql))
  // Where nothing is known yet, something may be soon.
  if (sample.texts.length > 0) kept.set(db, { sample, until: performance.now() + keptMilliseconds })
  return rarePart(text, sample)
}
