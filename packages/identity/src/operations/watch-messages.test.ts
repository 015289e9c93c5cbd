import { randomUUID } from 'node:crypto'
import type { Sql } from '@tollgate/kit/db'
import { createMetrics } from '@tollgate/kit/metrics'
import { startService } from '@tollgate/kit/service'
import { keptLog, noTelemetry, scratchDatabase, stillClock } from '@tollgate/kit/testing'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { identity } from '../main.ts'
import {
  type Channel,
  countWaiting,
  deleteMessage,
  insertMessage,
  setGivenUp,
  setHandedOver,
  setSent,
} from '../store/messages.ts'
import { requiredSettings, startIdentity } from '../testing.ts'

let service: Awaited<ReturnType<typeof startIdentity>>
beforeAll(async () => {
  service = await startIdentity()
})
afterAll(() => service.stop())
beforeEach(() => service.app.db`truncate auth.messages, auth.jobs`)

// Ahead of the service, whose own loop therefore never sees the jobs of these tests.
const start = Date.parse('2031-01-01T00:00:00Z')
const at = (second: number) => new Date(start + second * 1000)

async function queue(channel: Channel, second: number): Promise<string> {
  const id = randomUUID()
  const message = { id, channel, sealed: Buffer.from('sealed'), expiresAt: null, now: at(second) }
  await service.app.db.begin((tx) => insertMessage(tx, message))
  return id
}

const count = (most = 100) => countWaiting(service.app.db, most)
const finishJob = (id: string) => service.app.db`delete from auth.jobs where payload ->> 'message' = ${id}`

test('nothing waits where there is nothing', async () => {
  expect(await count()).toEqual([])
})

test('of each channel it is told how many messages wait, and since when the oldest does', async () => {
  for (const second of [20, 10, 30]) await queue('mail', second)
  await queue('sms', 40)
  expect((await count()).toSorted((one, other) => one.count - other.count)).toEqual([
    { channel: 'sms', count: 1, since: at(40) },
    { channel: 'mail', count: 3, since: at(10) },
  ])
})

test('what is being handed over waits; what was sent, was given up or was for show alone does not', async () => {
  const [sent, refused, gone, handedOver] = [
    await queue('mail', 1),
    await queue('mail', 2),
    await queue('mail', 3),
    await queue('mail', 5),
  ]
  await queue('none', 4)
  await setHandedOver(service.app.db, handedOver, at(6))
  // Whether their jobs are still there or not: whoever did them may have died before saying so.
  await setSent(service.app.db, sent, { outsideId: 'x', now: at(7) })
  await setGivenUp(service.app.db, refused, { error: 'no', now: at(7) })
  await deleteMessage(service.app.db, gone)
  await finishJob(refused)
  expect(await count()).toEqual([{ channel: 'mail', count: 1, since: at(5) }])
})

test('a message whose job was given up waits for nobody, and one that was put off is as old as it is', async () => {
  const [hopeless, putOff] = [await queue('sms', 1), await queue('sms', 2)]
  await service.app.db`update auth.jobs set given_up_at = ${at(9)} where payload ->> 'message' = ${hopeless}`
  await service.app.db`update auth.jobs set created_at = ${at(900)}, run_at = ${at(1800)} where payload ->> 'message' = ${putOff}`
  expect(await count()).toEqual([{ channel: 'sms', count: 1, since: at(2) }])
})

test('no more are looked at than is asked for, those first that came first', async () => {
  for (const second of [1, 2, 3, 4]) await queue('mail', second)
  expect(await count(3)).toEqual([{ channel: 'mail', count: 3, since: at(1) }])
})

test('a service that is watched looks by itself', async () => {
  const database = await scratchDatabase('template_identity')
  const [metrics, now] = [createMetrics(), stillClock()]
  const env = { ...requiredSettings, DATABASE_URL: database.url, PORT: '0', AUTH_API_HOST: '127.0.0.1' }
  const start = (telemetry: typeof noTelemetry) =>
    startService(identity, identity.settings.read(env).config, { log: keptLog().log, telemetry, now })
  const unwatched = await start(noTelemetry)
  await insertLater(unwatched.app.db)
  const watched = await start({ ...noTelemetry, metrics })
  onTestFinished(async () => {
    for (const { stop } of [watched, unwatched]) await stop(0)
    await database.drop()
  })
  const waiting = () => metrics.snapshot().find(({ name }) => name === 'tollgate_messages_waiting_age')?.series
  await expect.poll(waiting, { interval: 5 }).toEqual([
    { values: ['mail'], value: 300 },
    { values: ['sms'], value: 0 },
  ])

  /** A message of five minutes ago that nobody is to send for another hour. */
  async function insertLater(db: Sql) {
    const [id, created] = [randomUUID(), new Date(now().getTime() - 300_000)]
    const runAt = new Date(now().getTime() + 3_600_000)
    await db`insert into auth.messages (id, channel, sealed, created_at) values (${id}, 'mail', ${Buffer.from('sealed')}, ${created})`
    await db`
      insert into auth.jobs (kind, payload, run_at, created_at)
      values ('deliver', jsonb_build_object('message', ${id}::text), ${runAt}, ${created})`
  }
})
