import { randomBytes, randomUUID } from 'node:crypto'
import { takeFromBucket } from '@tollgate/kit/buckets'
import type { Db } from '@tollgate/kit/db'
import { parseRate, type Rate } from '@tollgate/kit/rate'
import { gate, keptLog } from '@tollgate/kit/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { App } from '../app.ts'
import { createAccount, startIdentity } from '../testing.ts'
import { cleanUp } from './clean-up.ts'

let service: Awaited<ReturnType<typeof startIdentity>>
let db: Db
let log: ReturnType<typeof keptLog>
beforeAll(async () => {
  service = await startIdentity()
  db = service.app.db
})
afterAll(() => service.stop())
beforeEach(async () => {
  log = keptLog()
  await db`truncate auth.users, auth.sendings, auth.rate_limits, auth.messages, auth.jobs, auth.flow_state cascade`
})

const day = 86_400
const ago = (seconds: number) => new Date(service.now().getTime() - seconds * 1000)
const clean = (more: Partial<App> = {}) => cleanUp({ ...service.app, log: log.log, ...more })

type Changes = { [Part in 'smtp' | 'sms' | 'sessions' | 'rateLimit']?: Partial<App['config'][Part]> }
function configured(changes: Changes): App['config'] {
  const { config } = service.app
  return {
    ...config,
    smtp: { ...config.smtp, ...changes.smtp },
    sms: { ...config.sms, ...changes.sms },
    sessions: { ...config.sessions, ...changes.sessions },
    rateLimit: { ...config.rateLimit, ...changes.rateLimit },
  }
}

/** Rows by name: each test puts some in that are due and some that are not, and sees which are left. */
const left = {
  codes: () => db<{ name: string }>`select token_hash as name from auth.one_time_tokens order by 1`,
  flows: () => db<{ name: string }>`select code_challenge as name from auth.flow_state order by 1`,
  sendings: () => db<{ name: string }>`select kind as name from auth.sendings order by 1`,
  tokens: () => db<{ name: string }>`select token as name from auth.refresh_tokens where token like 'test %' order by 1`,
  sessions: () => db<{ name: string }>`select tag as name from auth.sessions where tag is not null order by 1`,
}
const names = async (rows: Promise<{ name: string }[]>) => (await rows).map(({ name }) => name)

async function putSession(
  userId: string,
  tag: string,
  { created = 0, refreshed, ends }: { created?: number; refreshed?: number; ends?: number },
) {
  await db`
    insert into auth.sessions (id, user_id, created_at, refreshed_at, not_after, tag)
    values (${randomUUID()}, ${userId}, ${ago(created)}, ${refreshed === undefined ? null : ago(refreshed)}::timestamptz at time zone 'UTC',
      ${ends === undefined ? null : ago(ends)}, ${tag})`
}

describe('what is past its time goes, and nothing else', () => {
  test('codes, a day after they expire', async () => {
    const { userId } = await createAccount(service)
    for (const [name, age] of [
      ['due', 2 * day + 1],
      ['expired', day + 1],
      ['fresh', 0],
    ] as const)
      await db`
        insert into auth.one_time_tokens (user_id, token_type, token_hash, relates_to, created_at)
        values (${userId}, 'recovery_token', ${name}, ${name}, ${ago(age)}::timestamptz at time zone 'UTC')`
    await clean()
    expect(await names(left.codes())).toEqual(['expired', 'fresh'])
  })

  test('flows, a day after the mail that leads on and the code that ends them expire', async () => {
    for (const [name, age] of [
      ['due', 2 * day + 301],
      ['waiting', 2 * day + 299],
      ['fresh', 0],
    ] as const)
      await db`
        insert into auth.flow_state (id, code_challenge, provider_type, authentication_method, created_at)
        values (${randomUUID()}, ${name}, 'email', 'magiclink', ${ago(age)})`
    await clean()
    expect(await names(left.flows())).toEqual(['fresh', 'waiting'])
  })

  test.each([
    ['as they are by default', {}, ['fresh', 'in 900 s']],
    ['of an hour', { smtp: { maxFrequency: 3600 } }, ['fresh', 'in 3600 s', 'in 900 s']],
    ['of an hour for SMS', { sms: { maxFrequency: 3600 } }, ['fresh', 'in 3600 s', 'in 900 s']],
  ])('sendings, when no interval %s can refer to them', async (_, changes, expected) => {
    for (const [name, age] of [
      ['due', 3661],
      ['fresh', 0],
      ['in 3600 s', 3600],
      ['in 900 s', 900],
    ] as const)
      await db`insert into auth.sendings (kind, recipient, sent_at) values (${name}, ${randomBytes(32)}, ${ago(age)})`
    await clean({ config: configured(changes) })
    expect(await names(left.sendings())).toEqual(expected)
  })

  test.each(['30', '2/48h', '999999999/24h'])('buckets of %s an hour or so, only when they would be full again', async (text) => {
    const rate = parseRate(text) as Rate
    const [now, key] = [service.now(), randomBytes(32)]
    const config = configured({ rateLimit: { emailSent: rate } })
    for (let time = 0; time < 2; time++) await takeFromBucket(db, key, rate, now)
    const buckets = () => db`select 1 from auth.rate_limits`
    const full = Math.min(365 * day, (rate.most / rate.amount) * rate.seconds)
    const later = (seconds: number) => new Date(now.getTime() + seconds * 1000)
    await clean({ config, now: () => later(full) })
    expect(await buckets()).toHaveLength(1)
    await clean({ config, now: () => later(full + 61) })
    expect(await buckets()).toHaveLength(0)
    expect(log.lines.filter(({ level }) => level !== 'debug')).toEqual([])
  })

  test('messages, after a week, whatever became of them', async () => {
    for (const age of [7 * day + 1, 7 * day - 1])
      for (const sent of [ago(age), null])
        await db`insert into auth.messages (id, channel, created_at, sent_at) values (${randomUUID()}, 'mail', ${ago(age)}, ${sent})`
    await clean()
    expect(await db`select distinct created_at from auth.messages`).toEqual([{ created_at: ago(7 * day - 1) }])
    expect(await db`select 1 from auth.messages`).toHaveLength(2)
  })

  test('refresh tokens that were revoked a month ago, and none that is good', async () => {
    const { userId, sessionId } = await createAccount(service)
    for (const [name, revoked, age] of [
      ['due', true, 30 * day + 1],
      ['revoked', true, 30 * day - 1],
      ['good', false, 300 * day],
    ] as const)
      await db`
        insert into auth.refresh_tokens (token, user_id, session_id, revoked, created_at, updated_at)
        values (${`test ${name}`}, ${userId}, ${sessionId}, ${revoked}, ${ago(age)}, ${ago(age)})`
    await clean()
    expect(await names(left.tokens())).toEqual(['test good', 'test revoked'])
  })

  test('sessions that ended three days ago, with their tokens; others last for ever where nothing else is set', async () => {
    const { userId } = await createAccount(service)
    await putSession(userId, 'due', { ends: 3 * day + 1 })
    await putSession(userId, 'ended', { ends: 3 * day - 1 })
    await putSession(userId, 'old', { created: 3000 * day, refreshed: 2000 * day })
    await db`
      insert into auth.refresh_tokens (token, user_id, session_id)
      select 'test ' || tag, user_id, id from auth.sessions where tag is not null`
    await clean()
    expect(await names(left.sessions())).toEqual(['ended', 'old'])
    expect(await names(left.tokens())).toEqual(['test ended', 'test old'])
  })

  test('sessions beyond the timebox or the inactivity timeout, a day later', async () => {
    const { userId } = await createAccount(service)
    await putSession(userId, 'beyond the timebox', { created: 11 * day + 1, refreshed: 0 })
    await putSession(userId, 'in the timebox', { created: 11 * day - 1, refreshed: 0 })
    await putSession(userId, 'never refreshed', { created: 6 * day + 1 })
    await putSession(userId, 'not refreshed lately', { created: 8 * day, refreshed: 6 * day + 1 })
    await putSession(userId, 'refreshed lately', { created: 8 * day, refreshed: 6 * day - 1 })
    await clean({ config: configured({ sessions: { timebox: 10 * day, inactivityTimeout: 5 * day } }) })
    expect(await names(left.sessions())).toEqual(['in the timebox', 'refreshed lately'])
  })

  test('accounts, identities and the audit log stay, however old', async () => {
    const { userId } = await createAccount(service, { createdAt: ago(5000 * day) })
    await db`insert into auth.audit_log_entries (id, payload, created_at) values (${userId}, '{}', ${ago(5000 * day)})`
    const kept = () => db`
      select (select count(*) from auth.users) as users, (select count(*) from auth.identities) as identities,
        (select count(*) from auth.audit_log_entries) as audits,
        (select count(*) from auth.sessions) as sessions, (select count(*) from auth.refresh_tokens) as tokens`
    const before = await kept()
    await clean()
    expect(await kept()).toEqual(before)
  })
})

describe('a delivery that was given up', () => {
  async function put(message: string, givenUp: boolean, kind = 'deliver') {
    await db`
      insert into auth.jobs (kind, payload, run_at, attempts, error, given_up_at, created_at)
      values (${kind}, jsonb_build_object('message', ${message}::text), ${new Date('2040-01-01')}, 12, 'the process died', ${givenUp ? service.now() : null}, ${service.now()})`
  }
  async function putMessage(sent: Date | null = null) {
    const id = randomUUID()
    await db`
      insert into auth.messages (id, channel, sealed, created_at, sent_at)
      values (${id}, 'mail', ${sent ? null : Buffer.from('sealed')}, ${service.now()}, ${sent})`
    return id
  }
  const messageOf = async (id: string) =>
    (await db`select sealed, given_up_at, sent_at, error from auth.messages where id = ${id}`)[0]

  test('leaves nothing of what the message said, and why', async () => {
    const id = await putMessage()
    await put(id, true)
    await clean()
    expect(await messageOf(id)).toEqual({ sealed: null, given_up_at: service.now(), sent_at: null, error: 'the process died' })
    expect(await db`select 1 from auth.jobs`).toEqual([])
  })

  test('changes nothing about a message that was sent, or that another job is still to deliver', async () => {
    const [sent, waiting] = [await putMessage(service.now()), await putMessage()]
    await put(sent, true)
    await put(waiting, true)
    await put(waiting, false)
    await clean()
    expect(await messageOf(sent)).toMatchObject({ sent_at: service.now(), given_up_at: null, error: null })
    expect(await messageOf(waiting)).toMatchObject({ sealed: Buffer.from('sealed'), given_up_at: null })
    expect(await db`select given_up_at from auth.jobs`).toEqual([{ given_up_at: null }])
  })

  test('of another kind is none of ours, and a job that waits is left alone', async () => {
    const id = await putMessage()
    await put(id, true, 'other')
    await put(id, false)
    await clean()
    expect(await db`select 1 from auth.jobs`).toHaveLength(2)
    expect(await messageOf(id)).toMatchObject({ given_up_at: null })
  })
})

describe('cleaning up', () => {
  const putSendings = (count: number) => db`
    insert into auth.sendings (kind, recipient, sent_at)
    select 'recovery', int4send(number), ${ago(day)} from generate_series(1, ${count}::integer) as number`

  test('takes a mountain away in steps of a thousand', async () => {
    await putSendings(2500)
    const counts: number[] = []
    const counting = Object.assign(
      async (template: TemplateStringsArray, ...values: Parameters<Db>[1][]) => {
        const rows = await db(template, ...values)
        if (template.join('').includes('delete from auth.sendings')) counts.push(rows.count)
        return rows
      },
      { begin: db.begin, close: db.close },
    ) as Db
    await clean({ db: counting })
    expect(counts).toEqual([1000, 1000, 500])
    expect(log.lines).toMatchObject([{ level: 'debug', message: 'cleaned up', rows: 2500 }])
  })

  test('waits for nobody: what somebody is at stays for the next time', async () => {
    await putSendings(3)
    const held = gate()
    const busy = db.begin(async (tx) => {
      await tx`update auth.sendings set sent_at = ${ago(day)} where recipient = int4send(2)`
      await held.enter()
    })
    await held.entered()
    await clean()
    expect(await db`select recipient from auth.sendings`).toEqual([{ recipient: Buffer.from([0, 0, 0, 2]) }])
    held.leave(1, undefined)
    await busy
    await clean()
    expect(await db`select 1 from auth.sendings`).toEqual([])
  })

  test('is done by several at once without a word', async () => {
    await putSendings(1500)
    await Promise.all([clean(), clean(), clean()])
    expect(await db`select 1 from auth.sendings`).toEqual([])
    expect(log.lines.filter(({ level }) => level !== 'debug')).toEqual([])
  })

  test('that fails is said, and harms nobody', async () => {
    const down = Object.assign(() => Promise.reject(new Error('down')), { begin: db.begin, close: db.close }) as Db
    await clean({ db: down })
    expect(log.lines).toMatchObject([{ level: 'warn', message: 'cleaning up failed, and is tried again later' }])
  })

  test('that finds nothing says nothing', async () => {
    await clean()
    expect(log.lines).toEqual([])
  })
})
