import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { type Db, openDb } from './db.ts'
import { addJob, type Job, retryDelay, runJobs, type Worker } from './jobs.ts'
import { migrate } from './migrate.ts'
import { gate, keptLog, type ScratchDatabase, type StillClock, scratchDatabase, stillClock } from './testing.ts'

const schema = { written: 'work', actual: 'work' }
const table = `create table work.jobs (
  id bigint generated always as identity primary key, kind text not null, payload jsonb not null, run_at timestamptz not null,
  attempts integer not null default 0, error text, given_up_at timestamptz, created_at timestamptz not null)`

let database: ScratchDatabase
let db: Db
let now: StillClock
beforeAll(async () => {
  database = await scratchDatabase()
  await migrate({ url: database.url, schema, migrations: [{ version: '0001', name: 'jobs', sql: table }] })
  db = openDb({ url: database.url, schema, name: 'kit-jobs' })
})
beforeEach(async () => {
  await db`truncate kit.jobs`
  now = stillClock()
})
afterAll(async () => {
  await db.close()
  await database.drop()
})

/** A loop that looks when it starts, and then only when it is nudged. */
function start(work: Worker, options: { db?: Db; most?: number; kind?: string; pollSeconds?: number } = {}) {
  const { log, lines } = keptLog()
  const { kind = 'greet', ...rest } = options
  const loop = runJobs({ db, workers: { [kind]: work }, log, now, pollSeconds: 3600, ...rest })
  onTestFinished(() => loop.stop())
  return { ...loop, lines }
}

function add(payload: Record<string, unknown> = {}, runAt?: Date) {
  return addJob(db, { kind: 'greet', payload, now: now(), ...(runAt ? { runAt } : {}) })
}

function rows() {
  return db<{ attempts: number; error: string | null; run_at: Date; given_up_at: Date | null }>`
    select attempts, error, run_at, given_up_at from kit.jobs order by id`
}

/** A worker that tells when it is called, and ends when it is let. */
function held() {
  const { enter: work, entered: called, inputs: calls, leave, fail } = gate<Job>()
  return {
    work,
    called,
    calls,
    end: (number: number) => leave(number, undefined),
    fail: (number: number) => fail(number, new Error('no luck')),
  }
}

test('a job is done once a nudge tells of it, and is gone then', async () => {
  const { work, called, end } = held()
  const loop = start(work)
  await add({ name: 'Ada' })
  loop.nudge()
  expect(await called(1)).toEqual({ id: expect.any(Number), kind: 'greet', payload: { name: 'Ada' }, attempts: 1 })
  end(1)
  await loop.stop()
  expect(await rows()).toEqual([])
})

test('a job for later was made now, and waits for its time', async () => {
  const { work, calls, called, end } = held()
  const loop = start(work)
  await add({}, new Date(now().getTime() + 60_000))
  expect(await db`select created_at from kit.jobs`).toEqual([{ created_at: now() }])
  await add({ name: 'first' })
  loop.nudge()
  expect((await called(1)).payload).toEqual({ name: 'first' })
  end(1)
  now.advance(60)
  loop.nudge()
  expect((await called(2)).payload).toEqual({})
  end(2)
  expect(calls).toHaveLength(2)
})

test('a job that nobody tells of is found at the next look', async () => {
  const { work, called, end } = held()
  start(work, { pollSeconds: 0.005 })
  await add()
  await called(1)
  end(1)
})

test('a job of a story that is rolled back was never there', async () => {
  await db
    .begin(async (tx) => {
      await addJob(tx, { kind: 'greet', payload: {}, now: now() })
      throw new Error('changed my mind')
    })
    .catch(() => {})
  expect(await rows()).toEqual([])
})

test('a job that fails comes back later and later, with its error kept', async () => {
  const { work, called, fail, end } = held()
  const loop = start(work)
  await add()
  loop.nudge()
  await called(1)
  fail(1)
  await expect.poll(rows, { interval: 5 }).toMatchObject([{ attempts: 1, error: 'no luck', given_up_at: null }])
  const [first] = await rows()
  expect((first?.run_at.getTime() ?? 0) - now().getTime()).toBeGreaterThanOrEqual(1500)
  now.advance(2.5)
  loop.nudge()
  expect((await called(2)).attempts).toBe(2)
  end(2)
  await loop.stop()
  expect(await rows()).toEqual([])
  expect(loop.lines).toMatchObject([{ level: 'warn', message: 'job failed', attempts: 1, kind: 'greet' }])
})

test('the pause doubles up to an hour, a quarter more or less', () => {
  expect([1, 2, 3, 11, 12, 100].map((attempts) => retryDelay(attempts, 0.5))).toEqual([2, 4, 8, 2048, 3600, 3600])
  expect([retryDelay(3, 0), retryDelay(3, 1)]).toEqual([6, 10])
})

test('a job that fails twelve times is given up, kept with its last error, and not taken again', async () => {
  const { work, calls, called, fail } = held()
  await add()
  await db`update kit.jobs set attempts = 11`
  const loop = start(work)
  await called(1)
  fail(1)
  await expect.poll(rows, { interval: 5 }).toMatchObject([{ attempts: 12, error: 'no luck', given_up_at: now() }])
  now.advance(1_000_000)
  loop.nudge()
  await loop.stop()
  expect(calls).toHaveLength(1)
  expect(loop.lines).toMatchObject([{ level: 'error', message: 'job given up' }])
})

test('a job that took its process down at every attempt is given up without another', async () => {
  const { work, calls } = held()
  await add()
  await db`update kit.jobs set attempts = 12`
  start(work)
  await expect.poll(rows, { interval: 5 }).toMatchObject([{ error: expect.stringContaining('died'), given_up_at: now() }])
  expect(calls).toEqual([])
})

test('a job whose process died comes back when its lease ends, and what the dead one says later does not count', async () => {
  const [dead, heir] = [held(), held()]
  const first = start(dead.work)
  await add()
  first.nudge()
  await dead.called(1)
  const second = start(heir.work)
  now.advance(119)
  second.nudge()
  now.advance(1)
  second.nudge()
  expect((await heir.called(1)).attempts).toBe(2)
  dead.fail(1)
  await first.stop()
  expect(await rows()).toMatchObject([{ attempts: 2, error: null }])
  heir.end(1)
  await second.stop()
  expect(await rows()).toEqual([])
})

test('five loops share two hundred jobs and do none twice', async () => {
  const done: unknown[] = []
  const work: Worker = async (job) => void done.push(job.payload.number)
  await Promise.all(Array.from({ length: 200 }, (_, number) => add({ number })))
  const loops = Array.from({ length: 5 }, () => start(work, { most: 7 }))
  await expect.poll(rows, { interval: 5 }).toEqual([])
  await Promise.all(loops.map((loop) => loop.stop()))
  expect(done.toSorted((one, other) => Number(one) - Number(other))).toEqual(Array.from({ length: 200 }, (_, number) => number))
})

test('a slow job holds up nobody while there is room, and no more than the room is taken', async () => {
  const { work, calls, called, end } = held()
  const loop = start(work, { most: 2 })
  await add({ number: 1 })
  loop.nudge()
  await called(1)
  for (const number of [2, 3, 4]) await add({ number })
  loop.nudge()
  await called(2)
  expect(await db`select 1 from kit.jobs where attempts > 0`).toHaveLength(2)
  end(2)
  await called(3)
  end(3)
  await called(4)
  expect(calls.map(({ payload }) => payload.number)).toEqual([1, 2, 3, 4])
  end(4)
  end(1)
})

test('a kind that this program does not know is left to others', async () => {
  const { work, calls } = held()
  await add()
  const loop = start(work, { kind: 'other' })
  loop.nudge()
  await loop.stop()
  expect(calls).toEqual([])
  expect(await rows()).toMatchObject([{ attempts: 0 }])
})

test('stopping takes no more jobs and waits for those under way', async () => {
  const { work, calls, called, end } = held()
  const loop = start(work, { most: 1 })
  await add()
  await add()
  loop.nudge()
  await called(1)
  let stopped = false
  const stop = loop.stop().then(() => {
    stopped = true
  })
  await db`select 1`
  expect(stopped).toBe(false)
  end(1)
  await stop
  expect(calls).toHaveLength(1)
  expect(await rows()).toMatchObject([{ attempts: 0 }])
})

test('an outage does not end the loop, is told once, and work goes on after it', async () => {
  const { work, called, end } = held()
  let down = true
  const sometimes = Object.assign((...args: Parameters<Db>) => (down ? Promise.reject(new Error('down')) : db(...args)), db) as Db
  const loop = start(work, { db: sometimes })
  await add()
  for (let round = 0; round < 3; round++) {
    loop.nudge()
    await db`select 1`
  }
  down = false
  loop.nudge()
  await called(1)
  end(1)
  await loop.stop()
  expect(loop.lines.map(({ message }) => message)).toEqual(['jobs cannot be looked for', 'jobs are looked for again'])
})

test('a job that was done but could not be crossed off is no failed job: it comes back when its lease ends', async () => {
  const { work, called, end } = held()
  let down = false
  const sometimes = Object.assign((...args: Parameters<Db>) => (down ? Promise.reject(new Error('down')) : db(...args)), db) as Db
  const loop = start(work, { db: sometimes })
  await add()
  loop.nudge()
  await called(1)
  down = true
  end(1)
  await loop.stop()
  expect(await rows()).toMatchObject([{ attempts: 1, error: null, run_at: new Date(now().getTime() + 120_000) }])
  expect(loop.lines).toMatchObject([{ level: 'error', message: 'the outcome of a job could not be written down' }])
})
