import { afterAll, beforeAll, expect, expectTypeOf, onTestFinished, test } from 'vitest'
import { type Db, type DbOptions, inSchema, Json, openDb, type Sql, type Tx } from './db.ts'
import { keptLog, type ScratchDatabase, scratchDatabase } from './testing.ts'

let database: ScratchDatabase
let db: Db
beforeAll(async () => {
  database = await scratchDatabase()
  db = open()
  await db`create schema auth`
  await db`create table auth.notes (id bigint primary key, text text)`
})
afterAll(async () => {
  await db.close()
  await database.drop()
})

function open(options: Partial<DbOptions> = {}): Db {
  return openDb({ url: database.url, schema: { written: 'auth', actual: 'auth' }, name: 'kit-test', ...options })
}

function ownDb(options: Partial<DbOptions>): Db {
  const own = open(options)
  onTestFinished(() => own.close())
  return own
}

test('a statement answers with rows and with how many rows it touched', async () => {
  const inserted = await db`insert into auth.notes values (1, ${'one'}), (2, ${'two'})`
  expect([inserted.length, inserted.count]).toEqual([0, 2])
  const [first, ...rest] = await db<{ id: number; text: string }>`select id, text from auth.notes order by id`
  expect(first).toEqual({ id: 1, text: 'one' })
  expect(rest).toHaveLength(1)
})

test('a template is prepared once a connection, under one name', async () => {
  // A pooler prepares statements in its own way.
  const own = ownDb({ url: database.directUrl, lanes: 1, poolSize: 1 })
  const ask = (sql: Sql, value: number) => sql<{ value: number }>`select ${value}::int as value`
  const list = (sql: Sql) => sql<{ name: string; used: number }>`
    select name, generic_plans + custom_plans as used from pg_prepared_statements where statement like '%::int as value'`
  for (let value = 0; value < 20; value++) await ask(own, value)
  const onLane = await list(own)
  const inTransaction = await own.begin(async (tx) => {
    for (let value = 0; value < 20; value++) await ask(tx, value)
    return list(tx)
  })
  expect(onLane).toHaveLength(1)
  expect(onLane[0]).toEqual({ name: expect.stringMatching(/^[0-9a-f]{20}$/), used: 20 })
  expect(inTransaction[0]).toEqual(onLane[0])
})

test.each([
  ['a moment', new Date('2030-01-02T03:04:05.678Z'), (sql: Sql, it: Date) => sql`select ${it}::timestamptz as it`],
  [
    'a moment beyond the year 9999',
    new Date('+012345-01-02T03:04:05.678Z'),
    (sql: Sql, it: Date) => sql`select ${it}::timestamptz as it`,
  ],
  ['a moment without a zone', new Date('2030-07-02T03:04:05.678Z'), (sql: Sql, it: Date) => sql`select ${it}::timestamp as it`],
  ['bytes', Buffer.from([0, 1, 255, 92, 39]), (sql: Sql, it: Buffer) => sql`select ${it}::bytea as it`],
  ['null', null, (sql: Sql, it: null) => sql`select ${it}::text as it`],
  ['true', true, (sql: Sql, it: boolean) => sql`select ${it}::boolean as it`],
  ['text of every kind', `'"\\ $1 \u{1f600} \u0001 ; --`, (sql: Sql, it: string) => sql`select ${it}::text as it`],
  ['the largest exact whole number', Number.MAX_SAFE_INTEGER, (sql: Sql, it: number) => sql`select ${it}::bigint as it`],
  ['a fraction', 0.1, (sql: Sql, it: number) => sql`select ${it}::double precision as it`],
  ['a list of texts', ['a', '', '"{},\\', 'NULL'], (sql: Sql, it: string[]) => sql`select ${it}::text[] as it`],
  ['a list of numbers', [1, -2, 2 ** 40], (sql: Sql, it: number[]) => sql`select ${it}::bigint[] as it`],
  ['an empty list', [], (sql: Sql, it: string[]) => sql`select ${it}::text[] as it`],
])('%s comes back as it went in', async (_, value, ask) => {
  const [row] = await (ask as (sql: Sql, it: unknown) => ReturnType<Sql>)(db, value)
  expect(row).toEqual({ it: value })
})

test('a bigint goes in exactly, and bytes may come as a plain array of them', async () => {
  expect(await db`select ${2n ** 62n}::bigint::text as it`).toMatchObject([{ it: String(2n ** 62n) }])
  expect(await db`select ${new Uint8Array([1, 2])}::bytea as it`).toMatchObject([{ it: Buffer.from([1, 2]) }])
})

test('a marked value becomes json, lists included', async () => {
  expect(await db`select ${new Json([{ a: [1, null] }])}::jsonb as it`).toMatchObject([{ it: [{ a: [1, null] }] }])
})

test('a whole number that does not fit is an error, not a rounded one', async () => {
  await expect(db`select 9007199254740993::bigint as it`).rejects.toThrow('9007199254740993 is too large')
  await expect(db`select array[9007199254740993::bigint] as it`).rejects.toThrow('9007199254740993 is too large')
  expect(await db`select -9007199254740991::bigint as it`).toMatchObject([{ it: -Number.MAX_SAFE_INTEGER }])
})

test('hundreds of statements at once each get their own answer, whichever fail among them', async () => {
  const own = ownDb({ lanes: 2 })
  const answers = await Promise.allSettled(
    Array.from({ length: 600 }, (_, value) =>
      value % 7 === 3
        ? own<{ it: number }>`select ${value} / 0 as it`
        : value % 11 === 5
          ? own<{ it: number }>`select it from auth.missing where it = ${value}`
          : own<{ it: number }>`select ${value}::int as it`,
    ),
  )
  for (const [value, answer] of answers.entries()) {
    if (value % 7 === 3) expect(answer).toMatchObject({ status: 'rejected', reason: { code: '22012' } })
    else if (value % 11 === 5) expect(answer).toMatchObject({ status: 'rejected', reason: { code: '42P01' } })
    else expect(answer).toMatchObject({ status: 'fulfilled', value: [{ it: value }] })
  }
})

test("a statement that can never be prepared gets the server's own reason, however many ask for it", async () => {
  const own = ownDb({ lanes: 1 })
  const answers = await Promise.allSettled(Array.from({ length: 3_000 }, () => own`select 1 as it from auth.never`))
  expect(new Set(answers.map((answer) => answer.status === 'rejected' && answer.reason.code))).toEqual(new Set(['42P01']))
})

test('of statements that left together, the one that failed by itself is told, whichever is heard first', async () => {
  for (let time = 0; time < 3; time++) {
    const story = db.begin(async (tx) => {
      const later = async () => await (async () => await tx`select 1 / 0`)()
      await Promise.all([later(), tx`select 1`])
    })
    await expect(story).rejects.toMatchObject({ code: '22012' })
  }
})

test('a statement that could not be prepared works once its table is there', async () => {
  const own = ownDb({ lanes: 1 })
  const ask = () => own`select 1 as it from auth.late`
  await Promise.allSettled([ask(), ask(), ask()])
  await own`create table auth.late as select 1`
  expect(await Promise.all([ask(), ask(), ask()])).toMatchObject([[{ it: 1 }], [{ it: 1 }], [{ it: 1 }]])
})

test('a value that cannot be written fails alone', async () => {
  const own = ownDb({ lanes: 1 })
  const ask = (value: unknown) => own`select ${new Json(value)}::jsonb as it`
  const circle: Record<string, unknown> = {}
  circle.circle = circle
  const answers = await Promise.allSettled([
    ask(1),
    ask(circle),
    ask(2),
    own`select ${new Date(Number.NaN)}::timestamptz`,
    ask(3),
  ])
  expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected', 'fulfilled'])
  expect(await ask(4)).toMatchObject([{ it: 4 }])
})

test('a changed table heals itself, on the lanes and in transactions, for everybody at once', async () => {
  // Its connections are counted, and a pooler has others.
  const own = ownDb({ url: database.directUrl, name: 'kit-changing', lanes: 2, poolSize: 6 })
  const connections = () => db`select pid from pg_stat_activity where application_name = 'kit-changing' order by pid`
  await db.begin(async (tx) => {
    await tx`create table auth.changing (id int)`
    await tx`insert into auth.changing values (1)`
  })
  const ask = (sql: Sql) => sql`select * from auth.changing`
  const everybody = () =>
    Promise.all([...Array.from({ length: 40 }, () => ask(own)), ...Array.from({ length: 12 }, () => own.begin((tx) => ask(tx)))])
  await everybody()
  const before = await connections()
  await db`alter table auth.changing add column name text not null default 'n'`
  for (const rows of await everybody()) expect(rows).toMatchObject([{ id: 1, name: 'n' }])
  expect(await connections()).toEqual(before)
})

test('an error does not carry the values of the row into a log', async () => {
  const problem = await db`insert into auth.notes values (77, 'a secret'), (77, 'b')`.catch((thrown: unknown) => thrown)
  expect(problem).toMatchObject({ code: '23505', constraint: 'notes_pkey' })
  const { log, lines } = keptLog()
  log.error({ error: problem }, 'refused')
  expect(JSON.stringify([lines, Object.entries(problem as object)])).not.toMatch(/a secret|\(77\)/)
})

test('closing waits for what is under way, leaves no connection and lets nobody open one', async () => {
  const own = open({ name: 'kit-closing', lanes: 2, poolSize: 3 })
  const slow = [own`select pg_sleep(0.05), 1 as it`, own.begin((tx) => tx`select pg_sleep(0.05), 2 as it`)]
  await own`select 1`
  await own.close()
  expect(await Promise.all(slow)).toMatchObject([[{ it: 1 }], [{ it: 2 }]])
  await expect(own`select 1`).rejects.toThrow('closed')
  await expect(own.begin(async () => {})).rejects.toThrow()
  await expect
    .poll(() => db`select pid from pg_stat_activity where application_name = 'kit-closing'`, { interval: 5 })
    .toHaveLength(0)
})

test('another schema takes the place of the one that statements are written for, and of the kit, but not inside words', async () => {
  const schema = { written: 'auth', actual: 'order' }
  const rewritten = inSchema('select auth.f(), x.auth.y, myauth.z, auth_x.a, kit.jobs from auth.users, toolkit.x', schema)
  expect(rewritten).toBe('select "order".f(), x.auth.y, myauth.z, auth_x.a, "order".jobs from "order".users, toolkit.x')
  const own = ownDb({ schema })
  await db`create schema "order"`
  await own`create table auth.things (id int)`
  await own`insert into kit.things values (1)`
  expect(await db`select id from "order".things`).toMatchObject([{ id: 1 }])
})

test('a transaction cannot begin another one', () => {
  expectTypeOf<Db>().toHaveProperty('begin')
  expectTypeOf<Tx>().not.toHaveProperty('begin')
  // @ts-expect-error a plain Sql is not a transaction
  const wrong: Tx = db
  expect(wrong).toBe(db)
})

test('a change that waits holds up nobody who only looks', async () => {
  const own = ownDb({ name: 'kit-waiting', lanes: 1, writeLanes: 1, poolSize: 1 })
  const release = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  const holding = own.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(4711)`
    held.resolve()
    await release.promise
  })
  await held.promise
  let changed = false
  const change = own`with turn as (select pg_advisory_xact_lock(4711)) select from turn`.then(() => {
    changed = true
  })
  expect(await own`select 1 as it`).toEqual([{ it: 1 }])
  expect(changed).toBe(false)
  release.resolve()
  await Promise.all([holding, change])
  expect(changed).toBe(true)
})
