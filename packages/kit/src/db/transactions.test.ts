import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Db, openDb } from '../db.ts'
import { Unavailable } from '../failure.ts'
import { type ScratchDatabase, scratchDatabase } from '../testing.ts'

let database: ScratchDatabase
let db: Db
beforeAll(async () => {
  database = await scratchDatabase()
  const admin = open()
  await admin`create table accounts (name text primary key, amount bigint not null, unique (amount) deferrable initially deferred)`
  // A deadlock is found when somebody has waited this long.
  await admin`do $$ begin execute format('alter database %I set deadlock_timeout = ''20ms''', current_database()); end $$`
  await admin.close()
  db = open()
})
beforeEach(async () => {
  await db`truncate accounts`
  await db`insert into accounts values ('a', 100), ('b', 200)`
})
afterAll(async () => {
  await db.close()
  await database.drop()
})

function open(options: { poolSize?: number; patience?: { connection: number } } = {}): Db {
  return openDb({ url: database.url, schema: { written: 'auth', actual: 'auth' }, name: 'kit-test', ...options })
}

async function amounts(): Promise<Record<string, number>> {
  const rows = await db<{ name: string; amount: number }>`select name, amount from accounts`
  return Object.fromEntries(rows.map(({ name, amount }) => [name, amount]))
}

/** Lets those who arrive go on once there are `count` of them, and everybody who comes later. */
function barrier(count: number): () => Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let arrived = 0
  return () => {
    if (++arrived >= count) resolve()
    return promise
  }
}

test('a story that ends well is committed and answers with its result', async () => {
  const result = await db.begin(async (tx) => {
    await tx`update accounts set amount = amount - 1 where name = 'a'`
    expect(await amounts()).toEqual({ a: 100, b: 200 })
    return 'done'
  })
  expect(result).toBe('done')
  expect(await amounts()).toEqual({ a: 99, b: 200 })
})

test('a story that throws is rolled back, told once, and throws the same', async () => {
  const reason = new Error('no')
  let told = 0
  const story = db.begin(async (tx) => {
    told++
    await tx`update accounts set amount = 0`
    throw reason
  })
  await expect(story).rejects.toBe(reason)
  expect(told).toBe(1)
  expect(await amounts()).toEqual({ a: 100, b: 200 })
})

test('a constraint that holds only at the commit rolls back too, and is no reason to try again', async () => {
  let told = 0
  const story = db.begin(async (tx) => {
    told++
    await tx`update accounts set amount = 100`
  })
  await expect(story).rejects.toMatchObject({ code: '23505' })
  expect(told).toBe(1)
  expect(await amounts()).toEqual({ a: 100, b: 200 })
})

test('a story that goes on after a failed statement is told that nothing was committed', async () => {
  const story = db.begin(async (tx) => {
    await tx`update accounts set amount = 1 where name = 'a'`
    await tx`select 1 / 0`.catch(() => {})
  })
  await expect(story).rejects.toThrow('nothing was committed')
  expect(await amounts()).toEqual({ a: 100, b: 200 })
})

test('two stories that read and then write the same row both count, one of them told twice', async () => {
  const bothHaveRead = barrier(2)
  let told = 0
  const add = () =>
    db.begin(async (tx) => {
      told++
      await tx`set transaction isolation level serializable`
      const [row] = await tx<{ amount: number }>`select amount from accounts where name = 'a'`
      await bothHaveRead()
      await tx`update accounts set amount = ${(row?.amount ?? 0) + 1} where name = 'a'`
    })
  await Promise.all([add(), add()])
  expect(await amounts()).toEqual({ a: 102, b: 200 })
  expect(told).toBe(3)
})

test('two stories that lock each other out both end well, one of them told twice', async () => {
  const bothHaveLocked = barrier(2)
  let told = 0
  const move = (from: string, to: string) =>
    db.begin(async (tx) => {
      told++
      await tx`update accounts set amount = amount - 10 where name = ${from}`
      await bothHaveLocked()
      await tx`update accounts set amount = amount + 10 where name = ${to}`
    })
  await Promise.all([move('a', 'b'), move('b', 'a')])
  expect(await amounts()).toEqual({ a: 100, b: 200 })
  expect(told).toBe(3)
})

test('a story that fails to serialise every time is told five times and no more', async () => {
  let told = 0
  const story = db.begin(async (tx) => {
    told++
    await tx`do $$ begin raise exception 'again' using errcode = '40001'; end $$`
  })
  await expect(story).rejects.toMatchObject({ code: '40001' })
  expect(told).toBe(5)
})

test('something outside that fails with a code of its own is not taken for the database', async () => {
  const reason = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
  const again = Object.assign(new Error('not ours'), { code: '40001' })
  await expect(db.begin(() => Promise.reject(reason))).rejects.toBe(reason)
  await expect(db.begin(() => Promise.reject(again))).rejects.toBe(again)
})

test('a statement that comes after its transaction is refused, instead of landing in somebody else’s', async () => {
  const kept = await db.begin(async (tx) => ({ tx }))
  await expect(kept.tx`update accounts set amount = 0`).rejects.toThrow('after its transaction was over')
  expect(await amounts()).toEqual({ a: 100, b: 200 })
})

test('statements of one story may be under way together', async () => {
  const [one, two, three] = await db.begin((tx) => Promise.all([tx`select 1 as it`, tx`select 2 as it`, tx`select 3 as it`]))
  expect([one, two, three]).toMatchObject([[{ it: 1 }], [{ it: 2 }], [{ it: 3 }]])
})

test('more stories than connections take turns; one that gets none in time hears that none came free', async () => {
  const own = open({ poolSize: 1, patience: { connection: 100 } })
  const first = barrier(1)
  const release = Promise.withResolvers<void>()
  const holding = own.begin(async (tx) => {
    await tx`select 1`
    await first()
    await release.promise
  })
  await first()
  await expect(own.begin(async () => {})).rejects.toThrow(new Unavailable('no database connection came free'))
  const waiting = own.begin((tx) => tx`select 1 as it`)
  release.resolve()
  await holding
  expect(await waiting).toMatchObject([{ it: 1 }])
  await own.close()
})
