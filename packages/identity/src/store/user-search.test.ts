import type { Sql, Value } from '@tollgate/kit/db'
import { migrate } from '@tollgate/kit/migrate'
import { scratchDatabase } from '@tollgate/kit/testing'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { identity } from '../main.ts'
import { startIdentity } from '../testing.ts'
import { countAudits, listActions, listAudits } from './audit.ts'
import {
  countMatches,
  countUsers,
  findMatches,
  listAfter,
  listByContact,
  listManyMatches,
  listPage,
  listUsers,
  sampleSearchTexts,
} from './user-search.ts'

let service: Awaited<ReturnType<typeof startIdentity>>
beforeAll(async () => {
  service = await startIdentity()
  const { db } = service.app
  await db`
    insert into auth.users (id, aud, email, phone, raw_user_meta_data, created_at, updated_at)
    select gen_random_uuid(), 'authenticated', md5(n::text) || '@' || (array['mail', 'post', 'box'])[n % 3 + 1] || '.test', (490000000000 + n)::text,
      jsonb_build_object('full_name', 'Person ' || md5((n * 7)::text), 'nick', repeat('x', 1000)),
      timestamptz '2028-01-01' + n * interval '1 minute', now()
    from generate_series(1, 20000) n`
  await db`
    insert into auth.audit_log_entries (id, payload, created_at)
    select gen_random_uuid(), json_build_object('action', case when n % 5000 = 0 then 'user_deleted' else 'token_refreshed' end,
      'actor_username', md5(n::text)), timestamptz '2028-01-01' + n * interval '1 minute'
    from generate_series(1, 20000) n`
  await db`vacuum analyze auth.users`
  await db`vacuum analyze auth.audit_log_entries`
})
afterAll(() => service.stop())

/** How the database would go about the statements of a story: for these values, and for any. */
async function plansOf(story: (sql: Sql) => Promise<unknown>): Promise<string[]> {
  const plans: string[] = []
  const explaining = async (template: TemplateStringsArray, ...values: Value[]) => {
    for (const how of ['explain ', 'explain (generic_plan) ']) {
      const [first = '', ...rest] = template
      const explained = [how + first, ...rest] as unknown as TemplateStringsArray
      const lines = await service.app.db<{ 'QUERY PLAN': string }>(explained, ...values)
      plans.push(lines.map((line) => line['QUERY PLAN']).join('\n'))
    }
    return service.app.db(template, ...values)
  }
  await story(explaining as Sql)
  return plans
}

const stretch = { aud: 'authenticated', newestFirst: true, limit: 50 }
const search = { ...stretch, pattern: '%0a1b2%', offset: 0 }

test.each([
  [
    'a page by its number, from the index alone',
    (sql: Sql) => listPage(sql, stretch, 10_000),
    'Index Only Scan Backward using users_aud_created_at_id_idx',
  ],
  [
    'the same in the other order',
    (sql: Sql) => listPage(sql, { ...stretch, newestFirst: false }, 10_000),
    'Index Only Scan using users_aud_created_at_id_idx',
  ],
  ['an address', (sql: Sql) => listByContact(sql, { aud: 'authenticated', email: 'a@b.c' }), 'users_email_partial_key'],
  [
    'a number',
    (sql: Sql) => listByContact(sql, { aud: 'authenticated', email: undefined, phone: '490000000001' }),
    'users_phone_key',
  ],
  [
    'a text, and how many have it',
    (sql: Sql) => findMatches(sql, search, { part: '%0a1b%', most: 10_000 }),
    'Bitmap Index Scan on users_search_idx',
  ],
  [
    'whoever is next of many who match',
    (sql: Sql) => listManyMatches(sql, { ...search, pattern: '%mail%' }),
    'users_aud_created_at_id_idx',
  ],
  [
    'a rare action',
    (sql: Sql) => listAudits(sql, { actions: ['user_deleted'] }, { offset: 0, limit: 50 }),
    'audit_log_entries_action_created_at_idx',
  ],
  [
    'a page of the log',
    (sql: Sql) => listAudits(sql, undefined, { offset: 5000, limit: 50 }),
    'Index Only Scan using audit_log_entries_created_at_idx',
  ],
  ['which actions there are', (sql: Sql) => listActions(sql), 'audit_log_entries_action_created_at_idx'],
])('an index finds %s', async (_, story, expected) => {
  const [plan, generic] = await plansOf(story)
  expect(plan).toContain(expected)
  expect(plan).not.toContain('Seq Scan')
  expect(generic).not.toContain('Seq Scan')
})

test.each([true, false])('a page after a position reads its own rows and no others (newest first: %s)', async (newestFirst) => {
  const [middle] = await listPage(service.app.db, stretch, 10_000)
  const [plan] = await plansOf((sql) => listAfter(sql, { ...stretch, newestFirst }, middle))
  expect(plan).toMatch(/Index Only Scan (Backward )?using users_aud_created_at_id_idx/)
  expect(plan).toMatch(/Index Cond: .*ROW\(created_at, id\) [<>] ROW/)
  expect(plan).not.toMatch(/Seq Scan|Filter:/)
})

test('nobody’s identities are looked up for a list', async () => {
  const ids = (await listPage(service.app.db, stretch, 0)).map(({ id }) => id)
  const [plan] = await plansOf((sql) => listUsers(sql, ids))
  expect(plan).toContain('users_pkey')
  expect(plan).not.toMatch(/identities|SubPlan|Seq Scan/)
})

test.each([
  ['%abc%', '%abc%'],
  ['%a@mail.test%', '%mail%'],
])('few and many who match %s are the same people in the same order (the index looks for %s)', async (pattern, part) => {
  const { db } = service.app
  for (const newestFirst of [true, false])
    for (const offset of [0, 30]) {
      const asked = { ...stretch, newestFirst, offset, pattern }
      const { total, found } = await findMatches(db, asked, { part, most: 10_000 })
      expect(total).toBe(await countMatches(db, 'authenticated', pattern, 10_000))
      expect(found).toHaveLength(50)
      expect(await listManyMatches(db, asked)).toEqual(found)
      const onward = { ...asked, offset: 0, after: found[9] }
      const next = await findMatches(db, onward, { part, most: 10_000 })
      expect(next.total).toBe(total)
      expect(next.found[0]).toEqual(found[10])
      expect(await listManyMatches(db, onward)).toEqual(next.found)
    }
})

test('how many there are is told also where the page is empty', async () => {
  const beyond = await findMatches(
    service.app.db,
    { ...search, pattern: '%abc%', offset: 5_000 },
    { part: '%abc%', most: 10_000 },
  )
  expect(beyond.found).toEqual([])
  expect(beyond.total).toBeGreaterThan(50)
  const nobody = await findMatches(service.app.db, { ...search, pattern: '%nobody%' }, { part: '%nobody%', most: 10_000 })
  expect(nobody).toEqual({ total: 0, found: [] })
})

test('the database has some of the texts at hand', async () => {
  const texts = await sampleSearchTexts(service.app.db)
  expect(texts.length).toBeGreaterThan(50)
  for (const text of texts) expect(text).toMatch(/^[0-9a-f]{32}@(mail|post|box)\.test\n49\d{10}\nperson [0-9a-f]{32}\n$/)
})

test('counting stops where it is told to', async () => {
  const { db } = service.app
  expect(await countUsers(db, 'authenticated', 1_000_000)).toBe(20_000)
  expect(await countUsers(db, 'authenticated', 100)).toBeGreaterThanOrEqual(20_000)
  expect(await countMatches(db, 'authenticated', '%.test%', 100)).toBe(100)
  expect(await findMatches(db, { ...search, pattern: '%.test%' }, { part: '%.test%', most: 100 })).toEqual({
    total: 100,
    found: [],
  })
  expect(await countAudits(db, undefined, 100)).toBe(100)
})

/** A database of its own, migrated by somebody who may do what `prepare` leaves them. */
async function migrated(prepare: (client: pg.Client) => Promise<string>, actual = 'auth') {
  const database = await scratchDatabase()
  const client = new pg.Client(database.url)
  await client.connect()
  // A pooler may have a user of its own, whoever asks.
  const url = await prepare(client).then((user) => (user === '' ? database.url : asUser(database.directUrl, user)))
  await migrate({ url, schema: { written: 'auth', actual }, migrations: identity.migrations })
  const { rows } = await client.query('select indexdef from pg_indexes where indexname = $1', ['users_search_idx'])
  await client.query(`insert into ${actual}.users (id, aud, email) values (gen_random_uuid(), 'a', 'ann@site.test')`)
  const found = await client.query(`select email from ${actual}.users where search_text like '%nn@s%'`)
  await client.end()
  await database.drop()
  return { index: rows[0]?.indexdef as string | undefined, found: found.rows.length }
}

function asUser(text: string, user: string): string {
  const url = new URL(text)
  url.username = user
  url.password = user
  return url.href
}

test('the extension is found wherever it is, and whatever the schema is called', async () => {
  const elsewhere = await migrated(async (client) => {
    await client.query('create schema extensions')
    await client.query('create extension pg_trgm schema extensions')
    return ''
  }, 'people')
  expect(elsewhere.index).toContain('extensions.gin_trgm_ops')
  expect(elsewhere.found).toBe(1)
  expect((await migrated(async () => '', 'user_base')).index).toContain('user_base.gin_trgm_ops')
})

test('where the extension is forbidden, the migration goes without it and the search is right', async () => {
  const { index, found } = await migrated(async (client) => {
    await client.query(`drop role if exists searcher`)
    await client.query(`create role searcher login password 'searcher'`)
    await client.query('create schema auth authorization searcher')
    return 'searcher'
  })
  expect(index).toBeUndefined()
  expect(found).toBe(1)
})
