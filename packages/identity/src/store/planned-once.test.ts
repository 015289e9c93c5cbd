import { randomUUID } from 'node:crypto'
import { type Db, openDb } from '@tollgate/kit/db'
import { type ScratchDatabase, scratchDatabase } from '@tollgate/kit/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { exchangeTokens } from './refresh-tokens.ts'
import { findBearers } from './users.ts'

let database: ScratchDatabase
let db: Db
beforeAll(async () => {
  database = await scratchDatabase('template_identity')
  db = openDb({ url: database.directUrl, schema: { written: 'auth', actual: 'auth' }, name: 'planning', lanes: 1, poolSize: 1 })
  // As many as planners think about.
  await db`insert into auth.users (id, aud, created_at) select gen_random_uuid(), 'authenticated', now() from generate_series(1, 5000)`
  await db`insert into auth.sessions (id, user_id, created_at) select gen_random_uuid(), id, now() from auth.users`
  await db`
    insert into auth.refresh_tokens (token, user_id, session_id, created_at, updated_at)
    select md5(id::text), user_id, id, now(), now() from auth.sessions`
  await db`analyze auth.users, auth.sessions, auth.refresh_tokens`
})
afterAll(async () => {
  await db.close()
  await database.drop()
})

/** How often a statement was planned for what it was asked, and how often it was not. */
async function plansOf(words: string) {
  const [plans] = await db<{ anew: number; once: number }>`
    select custom_plans as anew, generic_plans as once from pg_prepared_statements where statement like ${`%${words}%`} and name <> ''
      and statement not like '%pg_prepared_statements%'`
  return plans
}

/** One, several, and many, as the crowds of a day are. */
const crowds = Array.from({ length: 40 }, (_, time) => [1, 1, 3, 1, 20, 64][time % 6] as number)

test('lists of any length are looked up with one plan', async () => {
  for (const count of crowds)
    await findBearers(
      db,
      Array.from({ length: count }, () => ({ id: randomUUID(), sessionId: null })),
    )
  expect(await plansOf('session_id, place')).toEqual({ anew: 5, once: 35 })
})

test('refresh tokens are exchanged with one plan, however many come together', async () => {
  const rules = { now: new Date(), begunAfter: null, refreshedAfter: null, singlePerUser: false, audited: true }
  const exchange = () => ({ presented: randomUUID(), child: randomUUID(), userAgent: 'a test', address: null })
  for (const count of crowds) await exchangeTokens(db, Array.from({ length: count }, exchange), rules)
  expect(await plansOf('presented, child, user_agent')).toEqual({ anew: 5, once: 35 })
})
