import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type Db, type DbOptions, openDb, type Sql } from '../db.ts'
import { startPostgres } from '../embedded-postgres.ts'
import { Unavailable } from '../failure.ts'
import { oneProcess, type ScratchDatabase, scratchDatabase } from '../testing.ts'

let database: ScratchDatabase
let admin: Db
beforeAll(async () => {
  database = await oneProcess('it kills connections of its own, and a pooler has others', () => scratchDatabase())
  admin = openDb({ url: database.url, schema: { written: 'auth', actual: 'auth' }, name: 'kit-admin' })
})
afterAll(async () => {
  await admin.close()
  await database.drop()
})

function ownDb(options: Partial<DbOptions> = {}): Db {
  const own = openDb({ url: database.url, schema: { written: 'auth', actual: 'auth' }, name: 'kit-outage', ...options })
  onTestFinished(() => own.close())
  return own
}

async function backendOf(sql: Sql): Promise<number> {
  const [row] = await sql<{ pid: number }>`select pg_backend_pid() as pid`
  return row?.pid ?? 0
}

async function untilBusy(pid: number) {
  await expect
    .poll(() => admin`select 1 from pg_stat_activity where pid = ${pid} and query like '%pg_sleep%' and state = 'active'`, {
      interval: 5,
    })
    .toHaveLength(1)
}

/** Resolves when the server has let go of it; whether we have heard of it by then is another matter. */
async function terminate(pid: number) {
  await admin`select pg_terminate_backend(${pid}, 5000)`
}

test('statements in flight on a connection that is killed are told of an outage, and the next one works', async () => {
  const own = ownDb({ lanes: 1 })
  const pid = await backendOf(own)
  const flying = Promise.allSettled([own`select pg_sleep(30)`, own`select 1`, own`select 2`])
  await untilBusy(pid)
  await terminate(pid)
  for (const answer of await flying) expect(answer).toMatchObject({ status: 'rejected', reason: expect.any(Unavailable) })
  expect(await own`select 1 as it`).toEqual([{ it: 1 }])
})

test('whoever hears of a killed connection can ask again at once', async () => {
  const own = ownDb({ lanes: 1 })
  for (let round = 0; round < 5; round++) {
    const pid = await backendOf(own)
    const retried = own`select pg_sleep(30)`.catch(() => own`select 1 as it`)
    await untilBusy(pid)
    await terminate(pid)
    expect(await retried).toEqual([{ it: 1 }])
  }
})

test('a story whose connection is killed is told of an outage, in a statement and between two', async () => {
  const own = ownDb({ poolSize: 1 })
  const inStatement = own.begin(async (tx) => {
    const pid = await backendOf(tx)
    await Promise.all([tx`select pg_sleep(30)`, untilBusy(pid).then(() => terminate(pid))])
  })
  await expect(inStatement).rejects.toThrow(Unavailable)
  const between = own.begin(async (tx) => {
    await terminate(await backendOf(tx))
    await tx`select 1`
  })
  await expect(between).rejects.toThrow(Unavailable)
  expect(await own.begin((tx) => tx`select 1 as it`)).toEqual([{ it: 1 }])
})

test('idle connections that are killed are replaced without anybody noticing', async () => {
  const own = ownDb({ lanes: 2, poolSize: 1 })
  const kept = [await backendOf(own), await backendOf(own), await own.begin(backendOf)]
  for (const pid of kept) await terminate(pid)
  // What the server said last has to arrive before anybody can know.
  await expect.poll(() => own`select 1 as it`.catch(() => []), { interval: 1 }).toHaveLength(1)
  await expect.poll(() => own.begin((tx) => tx`select 1 as it`).catch(() => []), { interval: 1 }).toHaveLength(1)
  expect(new Set([...kept, await backendOf(own), await backendOf(own), await own.begin(backendOf)]).size).toBe(6)
})

test('a crowd that comes at once opens as many connections as there are lanes', async () => {
  const own = ownDb({ name: 'kit-crowd', lanes: 2 })
  await Promise.all(Array.from({ length: 300 }, () => own`select 1`))
  expect(await admin`select 1 from pg_stat_activity where application_name = 'kit-crowd'`).toHaveLength(2)
})

test('a statement that takes too long is told of an outage, and frees the lane for those behind it', async () => {
  const own = ownDb({ lanes: 1, patience: { statement: 100 } })
  await own`select 1`
  const stuck = await Promise.allSettled([own`select pg_sleep(30)`, own`select 1`])
  for (const answer of stuck) expect(answer).toMatchObject({ status: 'rejected', reason: expect.any(Unavailable) })
  await expect(own.begin((tx) => tx`select pg_sleep(30)`)).rejects.toThrow(Unavailable)
  expect(await own`select 1 as it`).toEqual([{ it: 1 }])
  expect(await own.begin((tx) => tx`select 1 as it`)).toEqual([{ it: 1 }])
})

test('a time limit that the operator has set is an outage, too', async () => {
  const own = ownDb()
  const story = own.begin(async (tx) => {
    await tx`set local statement_timeout = 20`
    await tx`select pg_sleep(30)`
  })
  await expect(story).rejects.toThrow(Unavailable)
})

test('closing does not wait for a server that hangs', async () => {
  const own = ownDb({ name: 'kit-hanging', lanes: 1, patience: { close: 50 } })
  const busy = () => admin`select pid from pg_stat_activity where application_name = 'kit-hanging' and state = 'active'`
  const hanging = Promise.allSettled([own`select pg_sleep(30)`, own.begin((tx) => tx`select pg_sleep(30)`)])
  await expect.poll(busy, { interval: 5 }).toHaveLength(2)
  await own.close()
  expect(await busy()).toHaveLength(2)
  await admin`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'kit-hanging'`
  await hanging
})

test('a server that has become read-only is left, so that the next statement finds the one that can write', async () => {
  await admin`create table written (id int)`
  await admin`do $$ begin execute format('alter database %I set default_transaction_read_only = on', current_database()); end $$`
  const own = ownDb({ lanes: 1 })
  const write = () => own`insert into written values (1)`
  await expect(write()).rejects.toThrow(Unavailable)
  await admin`do $$ begin execute format('alter database %I reset default_transaction_read_only', current_database()); end $$`
  expect((await write()).count).toBe(1)
})

test('a server that takes a connection and says nothing is an outage', async () => {
  const sockets = new Set<Socket>()
  const silent = createServer((socket) => sockets.add(socket)).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    silent.close()
  })
  const url = `postgres://somebody@127.0.0.1:${(silent.address() as AddressInfo).port}/nothing`
  const own = ownDb({ url, lanes: 1, poolSize: 1, patience: { connection: 100 } })
  const crowd = await Promise.allSettled(Array.from({ length: 50 }, () => own`select 1`))
  for (const answer of crowd) expect(answer).toMatchObject({ status: 'rejected', reason: expect.any(Unavailable) })
  expect(sockets.size).toBe(1)
  await expect(own.begin(async () => {})).rejects.toThrow('the database cannot be reached')
})

test.each([
  ['an address that does not exist', 'postgres://somebody@does-not-exist.invalid/x'],
  ['a port that nobody listens on', 'postgres://somebody@127.0.0.1:1/x'],
  ['a socket that is not there', 'postgres://somebody@localhost/x?host=/nowhere'],
])('%s is an outage', async (_, url) => {
  const own = ownDb({ url })
  await expect(own`select 1`).rejects.toThrow(Unavailable)
  await expect(own.begin(async () => {})).rejects.toThrow(Unavailable)
})

test('a server that dies is an outage, and once it is back everything works by itself', async () => {
  const home = await mkdtemp(join(tmpdir(), 'tollgate-db-'))
  const template = join(import.meta.dirname, '..', '..', '..', '..', 'node_modules', '.cache', 'tollgate', 'postgres')
  const start = () => startPostgres({ folder: join(home, 'data'), template, settings: { fsync: 'off' } })
  let server = await start()
  onTestFinished(async () => {
    await server.stop()
    await rm(home, { recursive: true, force: true })
  })
  const own = ownDb({ url: server.url('postgres'), lanes: 2 })
  const pids = [await backendOf(own), await backendOf(own), await own.begin(backendOf)]
  const flying = Promise.allSettled([
    own`select pg_sleep(30)`,
    own`select pg_sleep(30)`,
    own.begin((tx) => tx`select pg_sleep(30)`),
  ])
  process.kill(server.pid, 'SIGQUIT')
  await server.exited
  for (const answer of await flying) expect(answer).toMatchObject({ status: 'rejected', reason: expect.any(Unavailable) })
  for (const ask of [() => own`select 1`, () => own`select 1`, () => own.begin(async () => {})])
    await expect(ask()).rejects.toThrow(Unavailable)

  server = await start()
  await expect.poll(() => own`select 1 as it`.catch(() => []), { interval: 10 }).toEqual([{ it: 1 }])
  const fresh = [await backendOf(own), await backendOf(own), await own.begin(backendOf)]
  expect(new Set([...pids, ...fresh]).size).toBe(6)
})

test('to who wants the primary a standby is as good as nobody, for what is read, too, until it is promoted', async () => {
  const home = await mkdtemp(join(tmpdir(), 'tollgate-db-'))
  const template = join(import.meta.dirname, '..', '..', '..', '..', 'node_modules', '.cache', 'tollgate', 'postgres')
  const start = () => startPostgres({ folder: join(home, 'data'), template, settings: { fsync: 'off' } })
  let server = await start()
  onTestFinished(async () => {
    await server.stop()
    await rm(home, { recursive: true, force: true })
  })
  await server.stop()
  await writeFile(join(home, 'data', 'standby.signal'), '')
  server = await start()
  const own = ownDb({ url: server.url('postgres'), lanes: 1, poolSize: 1, primaryOnly: true })
  await expect(own`select 1`).rejects.toThrow(Unavailable)
  await expect(own.begin((tx) => tx`select 1`)).rejects.toThrow(Unavailable)
  expect(await ownDb({ url: server.url('postgres') })`select 1 as it`).toEqual([{ it: 1 }])

  const promoting = new pg.Client(server.url('postgres'))
  await promoting.connect()
  await promoting.query('select pg_promote()')
  await promoting.end()
  await expect.poll(() => own`select 1 as it`.catch(() => []), { interval: 10 }).toEqual([{ it: 1 }])
  expect(await own.begin((tx) => tx`select 1 as it`)).toEqual([{ it: 1 }])
})
