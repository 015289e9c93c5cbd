import { oneProcess } from '@tollgate/kit/testing'
import pg from 'pg'
import { expect, inject, onTestFinished, test } from 'vitest'
import { startIdentity } from '../testing.ts'

/** Says something to the server that the scratch databases are on. */
async function administer(statement: string) {
  const admin = new pg.Client(inject('postgres'))
  await admin.connect()
  await admin.query(statement).finally(() => admin.end())
}

test('requests are welcome while the database answers, and again when it is back', async () => {
  const service = await oneProcess('each node tells its own log', () => startIdentity())
  onTestFinished(() => service.stop())
  const ask = async () => {
    service.now.advance(1)
    const { status, text } = await service.call('GET /ready')
    return [status, JSON.parse(text)]
  }
  expect(await ask()).toEqual([200, { status: 'ready' }])
  expect(service.lines).toEqual([])

  const name = new URL(service.app.config.db.url.reveal()).pathname.slice(1)
  await administer(`alter database ${name} allow_connections false`)
  await administer(`select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '${name}'`)
  const gone = [503, { code: 'unavailable', message: 'The database does not answer' }]
  expect([await ask(), await ask()]).toEqual([gone, gone])

  await administer(`alter database ${name} allow_connections true`)
  // A connection that failed stands for a moment for those who come after it.
  await expect.poll(ask, { interval: 20 }).toEqual([200, { status: 'ready' }])
  const told = service.lines.filter(({ message }) => /^(request$|ready|not ready)/.test(message))
  expect(told.map(({ level, message }) => [level, message])).toEqual([
    ['warn', 'not ready: the database does not answer'],
    ['info', 'ready again: the database answers'],
  ])
})
