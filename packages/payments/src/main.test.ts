import { startService } from '@tollgate/kit/service'
import { keptLog, noTelemetry, oneProcess, scratchDatabase } from '@tollgate/kit/testing'
import { expect, onTestFinished, test } from 'vitest'
import { payments } from './main.ts'
import { startPayments } from './testing.ts'

test.each([
  ['2', '1', 2],
  ['5', '1', 5],
  ['12', '3', 4],
  ['16', '2', 8],
  ['0', '1', 16],
  ['0', '16', 3],
])('with DB_MAX_POOL_SIZE=%s and %s workers, one worker keeps %i connections at most', async (size, workers, most) => {
  const service = await oneProcess('its connections are counted, and a pooler has others', () =>
    startPayments({ PAY_DB_MAX_POOL_SIZE: size, WORKERS: workers }),
  )
  onTestFinished(() => service.stop())
  const { db } = service.app
  await Promise.all([
    ...Array.from({ length: 20 }, () => db`select 1`),
    ...Array.from(
      { length: 20 },
      () => db`with change as (update pay.apps set name = name where false returning 1) select from change`,
    ),
    ...Array.from({ length: 20 }, () => db.begin((tx) => tx`select pg_sleep(0.01)`)),
  ])
  expect(
    await db`select 1 from pg_stat_activity where datname = current_database() and backend_type = 'client backend'`,
  ).toHaveLength(most)
})

test('a service whose port is taken leaves no connection behind', async () => {
  const first = await startPayments()
  const database = await scratchDatabase('template_payments')
  onTestFinished(async () => {
    await first.stop()
    await database.drop()
  })
  const { config } = payments.settings.read({
    DATABASE_URL: database.url,
    PAY_API_HOST: '127.0.0.1',
    PORT: new URL(first.origin).port,
  })
  await expect(startService(payments, config, { log: keptLog().log, telemetry: noTelemetry })).rejects.toThrow('is taken')
})
