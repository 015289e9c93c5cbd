import { openDb } from '@tollgate/kit/db'
import { migrate } from '@tollgate/kit/migrate'
import { type ScratchDatabase, scratchDatabase } from '@tollgate/kit/testing'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'
import { keepsStatements, pgBouncerVersion, startPgBouncer } from './pgbouncer.ts'
import { type PoolerOptions, startPooler } from './pooler.ts'
import { sessionState } from './session-state.ts'

type Start = (options: PoolerOptions) => Promise<{ port: number; close(): Promise<void> }>

const version = pgBouncerVersion()
/** PgBouncer itself too, where the machine has one: what holds for ours must hold for it. */
const kinds: { kind: string; start: Start; keeping: boolean }[] = [
  { kind: 'our pooler', start: startPooler, keeping: true },
  {
    kind: 'our pooler without prepared statements',
    start: (options) => startPooler({ ...options, prepared: 0 }),
    keeping: false,
  },
  ...(version ? [{ kind: `PgBouncer ${version}`, start: startPgBouncer, keeping: keepsStatements(version) }] : []),
]

let database: ScratchDatabase
beforeAll(async () => {
  database = await scratchDatabase()
  const admin = new pg.Client(database.directUrl)
  await admin.connect()
  await admin.query('create table things (name text constraint things_pkey primary key, amount integer not null default 0)')
  await admin.end()
})
afterAll(() => database.drop())

/** A pooler before the database of this file. */
async function pooled(start: Start, options: Partial<PoolerOptions> = {}) {
  const pooler = await start({ server: inject('postgres'), ...options })
  onTestFinished(() => pooler.close())
  const url = urlThrough(pooler.port)
  const client = async (more: pg.ClientConfig = {}) => {
    const own = new pg.Client({ connectionString: url, ...more })
    own.on('error', () => {})
    await own.connect()
    onTestFinished(() => own.end().catch(() => {}))
    return own
  }
  const db = (more: { lanes?: number; poolSize?: number } = {}) => {
    const own = openDb({ url, schema: { written: 'auth', actual: 'auth' }, name: 'pooled', ...more })
    onTestFinished(() => own.close())
    return own
  }
  return { pooler, url, client, db }
}

function urlThrough(port: number): string {
  return `postgres://tollgate@127.0.0.1:${port}${new URL(database.directUrl).pathname}?sslmode=disable`
}

const backend = 'select pg_backend_pid() as pid'
const times = <T>(count: number, make: (index: number) => T) => Array.from({ length: count }, (_, index) => make(index))

describe.each(kinds)('$kind', ({ start, keeping }) => {
  test('more clients than connections are all served, and no connection is more than was allowed', async () => {
    const { client } = await pooled(start, { size: 3 })
    const clients = await Promise.all(times(20, () => client()))
    const answers = await Promise.all(
      times(200, (index) => clients[index % 20]?.query('select pg_backend_pid() as pid, $1::int as it', [index])),
    )
    expect(answers.map((answer) => answer?.rows[0].it)).toEqual(times(200, (index) => index))
    expect(new Set(answers.map((answer) => answer?.rows[0].pid)).size).toBeLessThanOrEqual(3)
  })

  test('a transaction stays on its connection while others come and go', async () => {
    const { client } = await pooled(start, { size: 2 })
    const [story, other] = [await client(), await client()]
    await story.query('begin')
    const { pid } = (await story.query(backend)).rows[0]
    for (let round = 0; round < 5; round++) {
      expect((await other.query(backend)).rows[0].pid).not.toBe(pid)
      expect((await story.query(backend)).rows[0].pid).toBe(pid)
    }
    await story.query('commit')
  })

  test('whoever hangs up in the middle of a transaction leaves nothing behind', async () => {
    const { client } = await pooled(start, { size: 1 })
    const story = await client()
    await story.query('begin')
    await story.query("insert into things (name) values ('left behind')")
    await story.end()
    const other = await client()
    expect((await other.query("select 1 from things where name = 'left behind'")).rows).toEqual([])
  })

  test('what the server refuses at the start is what the client hears', async () => {
    const { url } = await pooled(start)
    const nowhere = new pg.Client({ connectionString: url.replace(/scratch_\w+/, 'nowhere') })
    await expect(nowhere.connect()).rejects.toThrow(/does not exist|nowhere/)
  })

  test('a setting at the start that it does not keep is refused', async () => {
    const { client } = await pooled(start)
    await expect(client({ statement_timeout: 1000 })).rejects.toThrow('unsupported startup parameter: statement_timeout')
  })

  test('the name of a client goes with it to every connection', async () => {
    const { client } = await pooled(start, { size: 2 })
    const [one, two] = [await client({ application_name: 'one' }), await client({ application_name: 'two' })]
    for (let round = 0; round < 6; round++) {
      for (const [own, name] of [
        [one, 'one'],
        [two, 'two'],
      ] as const)
        expect((await own.query("select current_setting('application_name') as name")).rows[0].name).toBe(name)
    }
  })

  test('hundreds of statements of ours at once each get their own answer, whichever fail among them', async () => {
    const { db } = await pooled(start, { size: 3 })
    const sql = db({ lanes: 2 })
    const answers = await Promise.allSettled(
      times(600, (index) =>
        index % 7 === 0 ? sql`select ${index}::int / 0 as it` : sql<{ it: number }>`select ${index}::int as it`,
      ),
    )
    for (const [index, answer] of answers.entries()) {
      if (index % 7 === 0) expect(answer).toMatchObject({ status: 'rejected', reason: { code: '22012' } })
      else expect(answer).toMatchObject({ status: 'fulfilled', value: [{ it: index }] })
    }
  })

  test('transactions of ours from several pools lose nothing', async () => {
    const { db } = await pooled(start, { size: 3 })
    const [first, ...others] = [db(), db(), db()] as const
    const nodes = [first, ...others]
    await first.begin((tx) => tx`insert into things (name) values ('counted') on conflict (name) do update set amount = 0`)
    await Promise.all(
      times(90, (index) =>
        nodes[index % 3]?.begin(async (tx) => {
          await tx`select amount from things where name = 'counted' for update`
          await tx`update things set amount = amount + 1 where name = 'counted'`
        }),
      ),
    )
    expect(await first`select amount from things where name = 'counted'`).toEqual([{ amount: 90 }])
  })

  test('a statement that fails while its transaction is over already does not cost anybody else the connection', async () => {
    const { db } = await pooled(start, { size: 2 })
    const sql = db({ poolSize: 1 })
    const story = () =>
      sql.begin((tx) =>
        Promise.all([
          tx`select 1 / 0`,
          tx`select name from things where amount > ${5}::integer`,
          tx`select count(*) from things`,
        ]),
      )
    for (let round = 0; round < 3; round++) await expect(story()).rejects.toMatchObject({ code: '22012' })
    expect(await sql.begin((tx) => tx`select name from things where amount > ${1_000_000}::integer`)).toEqual([])
  })

  test('a statement whose table comes later works when it is there', async () => {
    const { db } = await pooled(start, { size: 2 })
    const sql = db({ lanes: 1 })
    const ask = () => sql`select 1 as it from late_comer`
    for (let round = 0; round < 3; round++) await expect(ask()).rejects.toMatchObject({ code: '42P01' })
    await sql`create table late_comer (it integer)`
    onTestFinished(async () => void (await sql`drop table late_comer`))
    expect(await ask()).toEqual([])
  })

  test('three that migrate at once take every migration once', async () => {
    const { url } = await pooled(start)
    const schema = { written: 'auth', actual: `at_once_${keeping}_${start.name}`.toLowerCase() }
    const migrations = times(3, (index) => ({
      version: `000${index + 1}`,
      name: 'table',
      sql: `create table auth.t${index} (it integer);`,
    }))
    const taken = await Promise.all(times(3, () => migrate({ url, schema, migrations })))
    expect(taken.flat().sort()).toEqual(['0001_table', '0002_table', '0003_table'])
  })

  test('connections do not fill up with statements that nobody can find again', async () => {
    const { db } = await pooled(start, { size: 2 })
    const sql = db({ lanes: 3 })
    for (let round = 0; round < 300; round++) await sql`select ${round}::int as round`
    const counts = await Promise.all(
      times(20, () => sql.begin((tx) => tx<{ count: number }>`select count(*)::int as count from pg_prepared_statements`)),
    )
    expect(Math.max(...counts.map(([row]) => row?.count ?? 0))).toBeLessThan(50)
  })

  test.runIf(keeping)('a statement that a client has prepared is there on whichever connection it gets', async () => {
    const { client } = await pooled(start, { size: 3, prepared: 2 })
    const clients = await Promise.all(times(6, () => client()))
    const statements = times(4, (index) => ({ name: `s${index}`, text: `select ${index} + $1::int as it` }))
    const answers = await Promise.all(
      times(240, (index) => {
        const statement = statements[index % 4] as { name: string; text: string }
        return clients[index % 6]?.query({ ...statement, values: [index] })
      }),
    )
    expect(answers.map((answer) => answer?.rows[0].it)).toEqual(times(240, (index) => (index % 4) + index))
  })
})

describe('our pooler is stricter, so that nobody relies on a session by chance', () => {
  test.each([
    'listen news',
    'select pg_advisory_lock(1)',
    'select pg_try_advisory_lock_shared(1, 2)',
    "set search_path = 'elsewhere'",
    'begin; SET SESSION statement_timeout = 5',
    "select set_config('search_path', 'x', false)",
    'prepare one as select 1',
    'declare c cursor with hold for select 1',
    'create temp table t (it integer)',
    'discard all',
  ])('%s is refused', async (command) => {
    const { client } = await pooled(startPooler)
    await expect((await client()).query(command)).rejects.toMatchObject({
      code: '0A000',
      message: expect.stringContaining('session'),
    })
  })

  test.each([
    'begin; set local statement_timeout = 5; commit',
    'set transaction isolation level serializable',
    'select pg_advisory_xact_lock(1)',
    "select set_config('search_path', 'x', true)",
    'create temporary table t (it integer) on commit drop',
    "update things set name = 'x' where false",
    '-- listen\nselect 1',
    "insert into things as t (name) select 'x' where false on conflict (name) do update\nset amount = 1",
  ])('%s is not', (command) => {
    expect(sessionState(command)).toBeUndefined()
  })

  test('what a function did to the session is gone for whoever comes next, and for oneself', async () => {
    const { client } = await pooled(startPooler, { size: 1 })
    const [one, two] = [await client(), await client()]
    await one.query(`do $$ begin perform set_config('work_mem', '1234kB', 'f'::boolean); end $$`)
    for (const each of [two, one]) expect((await each.query('show work_mem')).rows[0].work_mem).not.toBe('1234kB')
  })

  test('without prepared statements a name means nothing on the next connection', async () => {
    const { client } = await pooled(startPooler, { prepared: 0, size: 2 })
    const own = await client()
    const ask = () => own.query({ name: 'one', text: 'select 1 as it' })
    expect((await ask()).rows).toEqual([{ it: 1 }])
    await expect(ask()).rejects.toMatchObject({ code: '26000' })
  })

  test('a client can have its statement cancelled', async () => {
    const { client } = await pooled(startPooler)
    const own = await client()
    const slow = own.query('select pg_sleep(20)')
    const told = expect(slow).rejects.toMatchObject({ code: '57014' })
    const watcher = new pg.Client(database.directUrl)
    await watcher.connect()
    onTestFinished(() => watcher.end())
    await expect
      .poll(
        async () =>
          (await watcher.query("select 1 from pg_stat_activity where query = 'select pg_sleep(20)' and state = 'active'")).rows,
      )
      .toHaveLength(1)
    const canceller = new pg.Client({ connectionString: urlThrough((own as unknown as { port: number }).port) })
    ;(canceller as unknown as { cancel(client: pg.Client, query: unknown): void }).cancel(
      own,
      (own as unknown as { _activeQuery: unknown })._activeQuery,
    )
    await told
    expect((await own.query('select 1 as it')).rows).toEqual([{ it: 1 }])
  })
})
