import { mkdtempSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDb } from '@tollgate/kit/db'
import { oneProcess, type ScratchDatabase, scratchDatabase } from '@tollgate/kit/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { builtProgram } from '../e2e/programs.ts'
import { createCleanup } from './cleanup.ts'
import { commands, measureCommand } from './commands.ts'
import type { Database } from './database.ts'
import { load } from './load.ts'
import { type Measured, startGenerator } from './measure.ts'
import { measureMemory } from './memory.ts'
import { readOptions } from './options.ts'
import { countRoundTrips } from './round-trips.ts'
import type { Site } from './servers.ts'
import { createStage, type Stage } from './stage.ts'
import { type Ready, serversOf } from './workload.ts'
import { workloads } from './workloads.ts'

const cleanup = createCleanup()
let site: Site
let stage: Stage

/** Everything is as in a measurement, services in processes of their own as well, but for the number of rows. */
const most = 2_000

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-workloads-'))
  cleanup.later(() => rm(folder, { recursive: true }))
  const program = await builtProgram()
  site = { program, database: testDatabase(folder), workers: 1, cleanup }
  stage = createStage(site, readOptions(['--connections', '8'], []), most)
})
afterAll(() => cleanup.now())

/** The databases of a run, on the PostgreSQL of the tests. */
function testDatabase(folder: string): Database {
  const made = new Map<string, Promise<ScratchDatabase>>()
  const url = async (name: string) => {
    const making = made.get(name) ?? oneProcess('what is measured is one service on PostgreSQL itself', () => scratchDatabase())
    if (!made.has(name)) cleanup.later(async () => (await making).drop())
    made.set(name, making)
    return (await making).url
  }
  return {
    url,
    async tell(name, story) {
      const schema = { written: 'public', actual: 'public' }
      const sql = openDb({ url: await url(name), schema, name: 'bench', lanes: 1, poolSize: 1 })
      return story(sql).finally(() => sql.close())
    },
    pid: process.pid,
    version: '',
    folder,
    statements: async () => 0,
    watchIdling: async () => {},
  }
}

/** What is the same but for the number of rows is looked at once; that of lists that is compared with its bare statement is the usual one. */
const names = workloads.map(({ name }) => name).filter((name) => !/-(100k|1m|10m)$/.test(name) || name === 'list-first-100k')

async function prepare(name: string): Promise<Measured> {
  const workload = workloads.find((each) => each.name === name)
  if (!workload) throw new Error(`there is no ${name}`)
  return { workload, ...(await workload.prepare(stage)), rounds: [], remarks: [] }
}

/** Ten requests over two connections, at a modest rate: it is asked as often however busy the machine is. */
function askTen(ready: Ready) {
  const ports = serversOf(ready).map(({ port }) => port)
  return load({ ports, requests: ready.requests, connections: 2, seconds: 0.1, rate: 100, patience: 20 })
}

test.each(names)('%s is answered well every time', { timeout: 60_000 }, async (name) => {
  const ready = await prepare(name)
  const first = await askTen(ready)
  const second = await askTen({ ...ready, requests: first.rest })
  expect([first.errors, second.errors]).toEqual([{}, {}])
  expect([first.answered, second.answered]).toEqual([10, 10])
})

test.each([
  ['pairs', 'bare-pairs', 'shops', ['transactions', 'trail', 'lines', 'postings', 'simulator_operations']],
  ['capture', 'bare-capture', 'shops', ['transactions', 'trail', 'lines', 'postings', 'simulator_operations']],
  ['refresh', 'bare-refresh', `accounts_${most}`, ['refresh_tokens', 'sessions', 'audit_log_entries']],
])('%s and %s write as many rows', { timeout: 60_000 }, async (own, bare, database, tables) => {
  const schema = database === 'shops' ? 'pay' : 'auth'
  const count = () =>
    site.database.tell(database, async (sql) => {
      const counts = tables.map((table) => `(select count(*) from ${schema}.${table})`)
      const [row] = await sql<{ counts: number[] }>(Object.assign([`select array[${counts.join()}] as counts`], { raw: [] }))
      return row?.counts ?? []
    })
  const written = async (name: string) => {
    const ready = await prepare(name)
    // What was captured or exchanged by the test of the workload itself is not there a second time.
    if (ready.requests.kind === 'numbered') ready.requests = { ...ready.requests, number: ready.requests.number + 100 }
    if (ready.requests.kind === 'chained') ready.requests = { ...ready.requests, texts: ready.requests.texts.slice(2, 4) }
    const before = await count()
    expect(await askTen(ready)).toMatchObject({ errors: {}, answered: 10 })
    return (await count()).map((each, index) => each - (before[index] ?? 0))
  }
  const rows = await written(own)
  expect(await written(bare)).toEqual(rows)
  expect(Math.max(...rows)).toBeGreaterThanOrEqual(10)
})

test('the books are right after all of it', { timeout: 60_000 }, async () => {
  const [verify] = commands.filter(({ name }) => name === 'verify-1k')
  if (!verify) throw new Error('there is no verify')
  const { problem } = await measureCommand({ ...verify, prepare: async () => ({ words: ['verify'], database: 'shops' }) }, stage)
  expect(problem).toBeUndefined()
})

test('round trips are those that a request waits for one after the other', { timeout: 60_000 }, async () => {
  const measured = [await prepare('user-1k'), await prepare('admin-first-1k'), await prepare('bare-user')]
  const [user, list, bare] = measured
  await countRoundTrips(measured, site)
  expect(user?.roundTrips).toBe(1)
  // A transaction that begins, counts, finds, lists and commits.
  expect(list?.roundTrips).toBeGreaterThanOrEqual(4)
  expect(bare?.roundTrips).toBeUndefined()
})

test.each(['verify-1k', 'export-1k'])('%s goes through all that there is', { timeout: 60_000 }, async (name) => {
  const command = commands.find((each) => each.name === name)
  if (!command) throw new Error(`there is no ${name}`)
  const { rows, problem, seconds, programMicroseconds = 0 } = await measureCommand(command, stage)
  expect(problem).toBeUndefined()
  // Of a transaction its entry, its line, two postings and two operations; and the merchants, who have sold nothing here.
  if (name === 'verify-1k') expect(rows).toBeGreaterThanOrEqual(7_000)
  else {
    expect(rows).toBe(1_000)
    const file = readFileSync(join(site.database.folder, 'payouts_1000.xml'), 'utf8')
    expect(file.match(/<CdtTrfTxInf>/g)).toHaveLength(1_000)
  }
  expect(seconds).toBeGreaterThan(0)
  if (process.platform === 'linux') expect(programMicroseconds).toBeGreaterThan(10_000)
})

test('a command that fails is told so', { timeout: 60_000 }, async () => {
  const broken = {
    name: 'broken',
    title: '',
    prepare: async () => ({ words: ['nonsense'], database: 'broken' }),
    rowsOf: () => 1,
  }
  expect((await measureCommand(broken, stage)).problem).toMatch(/^ended with 1: .*nonsense/s)
})

test('memory is looked at under 128 connections, none of which is sent away', { timeout: 60_000 }, async () => {
  const memories = await measureMemory(stage, startGenerator(site), 0.5)
  expect(memories).toMatchObject([
    { service: 'identity', connections: 128, errors: {} },
    { service: 'payments', connections: 128, errors: {} },
  ])
  if (process.platform !== 'linux') return
  for (const { megabytes } of memories) expect(megabytes).toBeGreaterThan(40)
})
