import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { type Db, openDb } from './db.ts'
import { askReadiness, beginLeaving } from './readiness.ts'
import { keptLog, scratchDatabase, stillClock } from './testing.ts'

const draining = { status: 503, body: { code: 'draining' } }
const unavailable = { status: 503, body: { code: 'unavailable' } }
const ready = { status: 200, body: { status: 'ready' } }

function open(url: string): Db {
  const db = openDb({ url, schema: { written: 'auth', actual: 'auth' }, name: 'kit-readiness', patience: { close: 50 } })
  onTestFinished(() => db.close())
  return db
}

/** A database that counts how often it is asked. */
async function counted() {
  const database = await scratchDatabase()
  onTestFinished(() => database.drop())
  const real = open(database.url)
  let count = 0
  const asked: Db = Object.assign(
    ((...statement: Parameters<Db>) => {
      count++
      return real(...statement)
    }) as Db,
    { begin: real.begin, close: real.close },
  )
  return { db: asked, count: () => count }
}

test('however many ask, the database is asked once a second', async () => {
  const { db, count } = await counted()
  const now = stillClock()
  const { log, lines } = keptLog()
  const crowd = () => Promise.all(Array.from({ length: 50 }, () => askReadiness({ db, log, now })))
  for (const answer of await crowd()) expect(answer).toMatchObject(ready)
  now.advance(0.9)
  await crowd()
  expect(count()).toBe(1)
  now.advance(0.1)
  await crowd()
  expect(count()).toBe(2)
  expect(lines).toEqual([])
})

test('a clock that is set back does not keep an old answer', async () => {
  const { db, count } = await counted()
  const now = stillClock()
  const { log } = keptLog()
  await askReadiness({ db, log, now })
  now.advance(-3600)
  await askReadiness({ db, log, now })
  expect(count()).toBe(2)
})

test('a database that says nothing is given up on after a second, long before a statement would be', async () => {
  const sockets = new Set<Socket>()
  const silent = createServer((socket) => sockets.add(socket)).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    silent.close()
  })
  const db = open(`postgres://somebody@127.0.0.1:${(silent.address() as AddressInfo).port}/nothing`)
  const { log, lines } = keptLog()
  const started = performance.now()
  expect(await askReadiness({ db, log, now: stillClock() })).toMatchObject(unavailable)
  expect(performance.now() - started).toBeGreaterThan(900)
  // A connection that does not come is given up on after five.
  expect(performance.now() - started).toBeLessThan(4_500)
  expect(lines).toMatchObject([{ level: 'warn', message: 'not ready: the database does not answer' }])
})

test('the log hears of it once that the database is gone, however often somebody asks', async () => {
  const db = open('postgres://somebody:hidden@127.0.0.1:1/x')
  const { log, lines } = keptLog()
  const now = stillClock()
  for (let round = 0; round < 3; round++) {
    expect(await askReadiness({ db, log, now })).toMatchObject(unavailable)
    now.advance(1)
  }
  expect(lines).toHaveLength(1)
})

test('whoever is leaving is not ready, and does not ask the database about it', async () => {
  const { db, count } = await counted()
  beginLeaving(db)
  expect(await askReadiness({ db, log: keptLog().log, now: stillClock() })).toMatchObject(draining)
  expect(count()).toBe(0)
})
