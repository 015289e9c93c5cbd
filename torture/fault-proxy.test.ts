import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ScratchDatabase, scratchDatabase } from '@tollgate/kit/testing'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, onTestFinished, test } from 'vitest'
import { messageSplitter } from './backend-messages.ts'
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts'

let database: ScratchDatabase
let proxy: FaultProxy
let direct: pg.Client
beforeAll(async () => {
  database = await scratchDatabase()
  direct = new pg.Client(database.url)
  await direct.connect()
  await direct.query('create table sold (what text)')
  const folder = new URL(inject('postgres')).searchParams.get('host') ?? ''
  proxy = await startFaultProxy(() => ({ path: join(folder, '.s.PGSQL.5432') }))
})
beforeEach(() => direct.query('truncate sold'))
afterEach(() => proxy.calm())
afterAll(async () => {
  await direct.end()
  await proxy.close()
  await database.drop()
})

async function open(): Promise<pg.Client> {
  const { username, pathname } = new URL(database.url)
  const client = new pg.Client(`postgres://${username}@127.0.0.1:${proxy.port}${pathname}?sslmode=disable`)
  client.on('error', () => {})
  await client.connect()
  onTestFinished(() => client.end().catch(() => {}))
  return client
}

async function sold(): Promise<string[]> {
  const { rows } = await direct.query<{ what: string }>('select what from sold order by what')
  return rows.map(({ what }) => what)
}

/** What the client's own socket is handed, piece by piece. */
function piecesOf(client: pg.Client): number[] {
  const { stream } = (client as unknown as { connection: { stream: NodeJS.ReadableStream } }).connection
  const pieces: number[] = []
  stream.on('data', (chunk: Buffer) => pieces.push(chunk.length))
  return pieces
}

const isAnswered = (asking: Promise<unknown>) => Promise.race([asking.then(() => true), sleep(100, false)])

test('in calm weather everything passes, however long', async () => {
  const client = await open()
  const { rows } = await client.query('select repeat($1, 300000) as it from generate_series(1, 3)', ['tea '])
  expect(rows.map(({ it }) => it.length)).toEqual([1_200_000, 1_200_000, 1_200_000])
})

test('a cut ends what is under way on both sides, and whoever connects afterwards is served', async () => {
  const client = await open()
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  const waiting = client.query('select pg_sleep(60)')
  const failing = expect(waiting).rejects.toThrow()
  proxy.cut()
  await failing
  const again = await open()
  // The server notices only when it says something.
  await again.query('select pg_cancel_backend($1)', [rows[0]?.pid])
  const isThere = async () => (await again.query('select from pg_stat_activity where pid = $1', [rows[0]?.pid])).rowCount
  await expect.poll(isThere).toBe(0)
})

test('a cut may be for some', async () => {
  await expect.poll(() => proxy.connected()).toBe(0)
  const [one, other] = [await open(), await open()]
  const ended = new Promise<void>((resolve) => one.on('end', resolve))
  let number = 0
  proxy.cut(() => number++ === 0)
  await ended
  expect((await other.query('select 1 as it')).rows).toEqual([{ it: 1 }])
})

test('what is stalled is not answered, and is when all flows again', async () => {
  const client = await open()
  proxy.stall()
  const asking = client.query('select 1 as it')
  expect(await isAnswered(asking)).toBe(false)
  proxy.flow()
  expect((await asking).rows).toEqual([{ it: 1 }])
})

test('what was on its way arrives, though whoever sent it is dead', async () => {
  const client = await open()
  proxy.stall()
  const asking = client.query(`insert into sold values ('late')`)
  const failing = expect(asking).rejects.toThrow()
  const { stream } = (client as unknown as { connection: { stream: { destroy(): void; writableLength: number } } }).connection
  await expect.poll(() => stream.writableLength).toBe(0)
  await expect.poll(() => proxy.tally.stalled).toBeGreaterThan(0)
  stream.destroy()
  await failing
  expect(await sold()).toEqual([])
  proxy.flow()
  await expect.poll(sold).toEqual(['late'])
})

test('what is dribbled comes byte by byte, and is right', async () => {
  const client = await open()
  const pieces = piecesOf(client)
  proxy.dribble(1)
  const { rows } = await client.query('select $1 as it', ['tea'])
  expect(rows).toEqual([{ it: 'tea' }])
  // Two may meet in a buffer of the machine.
  expect(pieces.length).toBeGreaterThan(20)
  expect(pieces.reduce((sum, each) => sum + each, 0) / pieces.length).toBeLessThan(2)
})

test('whoever is refused is served when connections are taken again', async () => {
  proxy.refuse()
  await expect(open()).rejects.toThrow()
  proxy.accept()
  expect((await (await open()).query('select 1 as it')).rows).toEqual([{ it: 1 }])
})

test('a commit whose answer is lost has happened, and whoever asked for it hears of a broken connection', async () => {
  const client = await open()
  proxy.loseCommits(1)
  const before = proxy.tally.lostCommits
  await client.query('begin')
  await client.query(`insert into sold values ('tea')`)
  await expect(client.query('commit')).rejects.toThrow(/terminated/)
  expect(await sold()).toEqual(['tea'])
  expect(proxy.tally.lostCommits - before).toBe(1)
  const again = await open()
  await again.query('begin')
  expect((await again.query('commit')).command).toBe('COMMIT')
})

test('a transaction that was not committed is answered, while commits are lost', async () => {
  const client = await open()
  proxy.loseCommits(1)
  await client.query('begin')
  await client.query('select 1')
  expect((await client.query('rollback')).command).toBe('ROLLBACK')
  await client.query('begin')
  await expect(client.query('select 1 / 0')).rejects.toThrow('division by zero')
  expect((await client.query('commit')).command).toBe('ROLLBACK')
})

test('a statement by itself whose answer is lost has happened; within a transaction none is lost', async () => {
  const client = await open()
  proxy.loseAnswers(1)
  const before = proxy.tally.lostAnswers
  await client.query('begin')
  expect((await client.query('insert into sold values ($1)', ['cake'])).rowCount).toBe(1)
  await client.query('commit')
  await expect(client.query('insert into sold values ($1)', ['tea'])).rejects.toThrow(/terminated/)
  expect(await sold()).toEqual(['cake', 'tea'])
  expect(proxy.tally.lostAnswers - before).toBe(1)
})

test('a server that cannot be reached is a connection that ends', async () => {
  const nowhere = await startFaultProxy(() => ({ path: '/nowhere' }))
  onTestFinished(() => nowhere.close())
  const client = new pg.Client(`postgres://somebody@127.0.0.1:${nowhere.port}/x?sslmode=disable`)
  await expect(client.connect()).rejects.toThrow()
})

test('messages are found however they are cut', () => {
  const message = (type: string, body: string) => {
    const length = Buffer.alloc(4)
    length.writeUInt32BE(4 + Buffer.byteLength(body))
    return Buffer.concat([Buffer.from(type), length, Buffer.from(body)])
  }
  const said = [message('C', 'COMMIT\0'), message('Z', 'I'), message('D', 'x'.repeat(300))]
  const whole = Buffer.concat(said)
  for (const size of [1, 2, 3, 5, 7, whole.length]) {
    const split = messageSplitter()
    const found = []
    for (let at = 0; at < whole.length; at += size) found.push(...split(whole.subarray(at, at + size)))
    expect(found.map(({ type, bytes }) => [type, bytes.toString()])).toEqual([
      ['C', said[0]?.toString()],
      ['Z', said[1]?.toString()],
      ['D', said[2]?.toString()],
    ])
  }
})
