import type { Db, Sql } from '@tollgate/kit/db'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAccount, startIdentity } from '../testing.ts'
import { countAccounts } from './count-accounts.ts'

let service: Awaited<ReturnType<typeof startIdentity>>
beforeAll(async () => {
  service = await startIdentity()
})
afterAll(() => service.stop())

test('what is quickly counted is counted every time', async () => {
  const { db } = service.app
  // To open a connection, through a pooler even two, is no part of the counting.
  await Promise.all([db`select 1`, db`select 1`])
  expect(await countAccounts(db, db, 'authenticated', 100)).toBe(0)
  await createAccount(service)
  expect(await countAccounts(db, db, 'authenticated', 100)).toBe(1)
})

test('what takes long to count is counted once for many who ask, each audience by itself', async () => {
  const { db } = service.app
  const key = Object.assign(((...asked: Parameters<Sql>) => db(...asked)) as Sql, { begin: db.begin, close: db.close }) as Db
  let counts = 0
  const slow = (async (...asked: Parameters<Sql>) => {
    counts++
    await db`select pg_sleep(0.06)`
    return db(...asked)
  }) as Sql
  await countAccounts(key, slow, 'authenticated', 100)
  await createAccount(service)
  await countAccounts(key, slow, 'authenticated', 100)
  expect(counts).toBe(1)
  await countAccounts(key, slow, 'others', 100)
  expect(counts).toBe(2)
})
