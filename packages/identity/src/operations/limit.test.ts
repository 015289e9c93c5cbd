import { randomUUID } from 'node:crypto'
import { takeFromBucket } from '@tollgate/kit/buckets'
import type { Incoming } from '@tollgate/kit/endpoint'
import type { Failure } from '@tollgate/kit/failure'
import { callerRate, parseRate, type Rate } from '@tollgate/kit/rate'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { App } from '../app.ts'
import { adminAuthorization, createAccount, startIdentity, startWithInbox } from '../testing.ts'
import { limitCaller, limitMail, limitSms } from './limit.ts'

type Tested = Awaited<ReturnType<typeof startIdentity>>
let service: Tested
let other: Tested
let strict: Tested

beforeAll(async () => {
  service = await startIdentity({ AUTH_RATE_LIMIT_HEADER: 'X-Real-Caller', AUTH_RATE_LIMIT_EMAIL_SENT: '1000000' })
  const shared = service.app.config.db.url.reveal()
  other = await startIdentity({ AUTH_RATE_LIMIT_HEADER: 'X-Real-Caller', DATABASE_URL: shared })
  strict = await startIdentity({ AUTH_RATE_LIMIT_HEADER: 'X-Real-Caller', AUTH_SECURITY_PROFILE: 'strict', DATABASE_URL: shared })
})
afterAll(() => Promise.all([other.stop(), strict.stop()]).then(() => service.stop()))
beforeEach(() => service.app.db`truncate auth.rate_limits`)

const from = (caller: string | undefined, peer = '192.0.2.1'): Incoming => ({
  id: 'request',
  method: 'POST',
  path: '/recover',
  query: '',
  headers: caller === undefined ? {} : { 'x-real-caller': caller },
  peer,
})

/** What came of it: `taken`, or after how many seconds to ask again. */
async function outcome(asking: Promise<void>): Promise<string> {
  return asking.then(
    () => 'taken',
    (problem: Failure) => `${problem.status} ${problem.code} ${problem.headers['retry-after'] ?? 'never'}`,
  )
}

const rateOf = (text: string) => parseRate(text) as Rate
const ask = (rate: Rate, { app = service.app, caller = 'ann', what = 'recover' } = {}) =>
  outcome(limitCaller(app, from(caller), what, rate))

async function askTimes(times: number, rate: Rate): Promise<number> {
  let taken = 0
  for (let time = 0; time < times; time++) if ((await ask(rate)) === 'taken') taken++
  return taken
}

describe('a bucket', () => {
  test('of thirty gives a hundred who ask at once exactly thirty', async () => {
    const outcomes = await Promise.all(Array.from({ length: 100 }, () => ask(rateOf('30'))))
    expect(outcomes.filter((each) => each === 'taken')).toHaveLength(30)
    expect(new Set(outcomes)).toEqual(new Set(['taken', '429 over_request_rate_limit 3600']))
  })

  test('is one for all services on a database', async () => {
    const apps = [service.app, other.app]
    const outcomes = await Promise.all(
      Array.from({ length: 100 }, (_, index) => ask(rateOf('30'), { app: apps[index % 2] as App })),
    )
    expect(outcomes.filter((each) => each === 'taken')).toHaveLength(30)
  })

  test('of a number an hour is full again an hour after the first was taken, and not a second before', async () => {
    const rate = rateOf('3')
    expect(await ask(rate)).toBe('taken')
    service.now.advance(3000)
    expect(await askTimes(5, rate)).toBe(2)
    expect(await ask(rate)).toBe('429 over_request_rate_limit 600')
    service.now.advance(599)
    expect(await ask(rate)).toBe('429 over_request_rate_limit 1')
    service.now.advance(1)
    expect(await askTimes(5, rate)).toBe(3)
    expect(await ask(rate)).toBe('429 over_request_rate_limit 3600')
  })

  test('of a number and a duration is given one back every so often, up to the number', async () => {
    const rate = rateOf('3/5m')
    expect(await askTimes(5, rate)).toBe(3)
    expect(await ask(rate)).toBe('429 over_request_rate_limit 300')
    service.now.advance(299.5)
    expect(await ask(rate)).toBe('429 over_request_rate_limit 1')
    service.now.advance(0.5)
    expect(await askTimes(3, rate)).toBe(1)
    service.now.advance(700)
    expect(await askTimes(5, rate)).toBe(2)
    expect(await ask(rate)).toBe('429 over_request_rate_limit 200')
    service.now.advance(86_400)
    expect(await askTimes(9, rate)).toBe(3)
  })

  test('that was full gives no more than it holds within one step, whenever that begins', async () => {
    const rate = rateOf('3/5m')
    expect(await ask(rate)).toBe('taken')
    service.now.advance(899)
    expect(await askTimes(5, rate)).toBe(3)
    service.now.advance(2)
    expect(await ask(rate)).toBe('429 over_request_rate_limit 298')
  })

  test('of nothing gives nothing, and says no time at which it would', async () => {
    expect(await ask(rateOf('0'))).toBe('429 over_request_rate_limit never')
    expect(await ask(callerRate(0, 300, 30))).toBe('429 over_request_rate_limit never')
    expect(await service.app.db`select 1 from auth.rate_limits`).toEqual([])
  })

  test('that was larger before a restart gives no more than it holds now', async () => {
    expect(await ask(rateOf('30'))).toBe('taken')
    expect(await askTimes(9, rateOf('2'))).toBe(2)
  })

  test('is not given anything back by a clock that runs behind', async () => {
    const rate = rateOf('1/1m')
    expect(await ask(rate)).toBe('taken')
    const behind = { ...service.app, now: () => new Date(service.now().getTime() - 30_000) }
    expect(await ask(rate, { app: behind })).toBe('429 over_request_rate_limit 90')
  })

  test('never gives more than it holds and what came back since, in any order of asking and waiting', async () => {
    const steps = fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 5, maxLength: 25 })
    await fc.assert(
      fc.asyncProperty(steps, fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 5 }), async (waits, most, amount) => {
        const rate = { most, amount: Math.min(most, amount), seconds: 10 }
        const key = Buffer.from(randomUUID())
        let model = { held: most, at: 0 }
        let time = 0
        for (const wait of waits) {
          time += wait
          const passed = Math.floor((time - model.at) / rate.seconds)
          const held = Math.min(most, model.held + passed * rate.amount)
          model = { held, at: held === most ? time : model.at + passed * rate.seconds }
          const { taken } = await takeFromBucket(service.app.db, key, rate, new Date(time * 1000))
          expect(taken).toBe(model.held > 0)
          if (taken) model.held--
        }
      }),
      { numRuns: 30 },
    )
  })
})

describe('a caller', () => {
  const one = rateOf('1')

  test('is told apart from others, and each of their endpoints from the rest', async () => {
    expect(await ask(one)).toBe('taken')
    expect(await ask(one)).toMatch(/^429/)
    expect(await ask(one, { caller: 'bob' })).toBe('taken')
    expect(await ask(one, { what: 'otp' })).toBe('taken')
  })

  test('is the first that the header names', async () => {
    expect(await ask(one, { caller: ' ann , proxy' })).toBe('taken')
    expect(await ask(one, { caller: 'ann' })).toMatch(/^429/)
    expect(await ask(one, { caller: 'ann,another proxy' })).toMatch(/^429/)
    expect(await ask(one, { caller: 'proxy, ann' })).toBe('taken')
  })

  test('is the whole of a network of IPv6, of which whoever has one address has them all', async () => {
    expect(await ask(one, { caller: '2001:db8:1:2::1' })).toBe('taken')
    expect(await ask(one, { caller: '2001:db8:1:2:ffff::9' })).toMatch(/^429/)
    expect(await ask(one, { caller: '2001:DB8:1:2::1, proxy' })).toMatch(/^429/)
    expect(await ask(one, { caller: '2001:db8:1:3::1' })).toBe('taken')
  })

  test.each([undefined, '', ' ', ',', ' , ann'])('whom the header does not name, %j, is not limited', async (caller) => {
    for (let time = 0; time < 3; time++)
      expect(await outcome(limitCaller(service.app, from(caller), 'recover', one))).toBe('taken')
    expect(await service.app.db`select 1 from auth.rate_limits`).toEqual([])
  })

  test('whom the header does not name is, under the strict profile, whoever connected', async () => {
    const asks = (caller: string | undefined, peer: string) =>
      outcome(limitCaller(strict.app, from(caller, peer), 'recover', one))
    expect(await asks(undefined, '192.0.2.1')).toBe('taken')
    expect(await asks(undefined, '192.0.2.1')).toMatch(/^429/)
    expect(await asks('', '192.0.2.1')).toMatch(/^429/)
    expect(await asks(undefined, '192.0.2.2')).toBe('taken')
    expect(await asks('ann', '192.0.2.1')).toBe('taken')
  })

  test('cannot be read off the table', async () => {
    await ask(one, { caller: '203.0.113.77' })
    const [row] = await service.app.db<{ row: string }>`select to_jsonb(r)::text as row from auth.rate_limits r`
    expect(row?.row).not.toContain(Buffer.from('203.0.113.77').toString('hex'))
  })

  test('who asks for the 31st recovery within five minutes is refused, over HTTP', async () => {
    const recover = (caller: string) =>
      service.call('POST /recover', { json: { email: `${randomUUID()}@site.test` }, headers: { 'x-real-caller': caller } })
    const answers = await Promise.all(Array.from({ length: 31 }, () => recover('198.51.100.7, 10.0.0.1')))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(30)
    const refused = answers.find(({ status }) => status === 429)
    expect(refused?.json()).toEqual({ code: 429, error_code: 'over_request_rate_limit', msg: 'Request rate limit reached' })
    expect(refused?.headers['retry-after']).toBe('10')
    expect((await recover('198.51.100.8')).status).toBe(200)
    service.now.advance(10)
    expect((await recover('198.51.100.7')).status).toBe(200)
    expect((await recover('198.51.100.7')).status).toBe(429)
  })
})

describe('mails in all', () => {
  test('beyond the limit are refused, whatever their kind and whether anybody is there, and nothing of the request is kept', async () => {
    const small = await startWithInbox({ AUTH_RATE_LIMIT_EMAIL_SENT: '3', AUTH_SMTP_MAX_FREQUENCY: '0' })
    try {
      const { call, app, now } = small
      const account = await createAccount(small, { email: 'known@site.test' })
      const json = (email: string) => ({ json: { email, password: 'correct horse' } })
      expect((await call('POST /signup', json('first@site.test'))).status).toBe(200)
      now.advance(600)
      expect((await call('POST /recover', json('unknown@site.test'))).status).toBe(200)
      expect((await call('POST /magiclink', json('known@site.test'))).status).toBe(200)
      await expect.poll(() => app.db`select 1 from auth.jobs`, { interval: 5 }).toEqual([])
      const before = await everythingKept(app)

      const admin = { authorization: adminAuthorization(small) }
      const refused = await Promise.all([
        call('POST /signup', json('new@site.test')),
        call('POST /signup', json('known@site.test')),
        call('POST /signup', json('first@site.test')),
        call('POST /recover', json('known@site.test')),
        call('POST /recover', json('nobody@site.test')),
        call('POST /magiclink', json('new@site.test')),
        call('POST /otp', { json: { email: 'known@site.test' } }),
        call('POST /otp', { json: { email: 'nobody@site.test', create_user: false } }),
        call('POST /resend', { json: { type: 'signup', email: 'first@site.test' } }),
        call('POST /resend', { json: { type: 'signup', email: 'nobody@site.test' } }),
        call('POST /invite', { ...json('invited@site.test'), headers: admin }),
        call('PUT /user', { json: { email: 'changed@site.test' }, headers: { authorization: account.authorization } }),
      ])
      for (const answer of refused) {
        expect(answer.json()).toEqual({ code: 429, error_code: 'over_email_send_rate_limit', msg: 'email rate limit exceeded' })
        expect([answer.status, answer.headers['retry-after']]).toEqual([429, '3000'])
      }
      expect(await everythingKept(app)).toEqual(before)

      now.advance(3000)
      expect((await call('POST /signup', json('new@site.test'))).status).toBe(200)
      expect((await small.mailTo('new@site.test')).code).toMatch(/^\d{6}$/)
    } finally {
      await small.stop()
    }
  })

  test('are not counted where addresses are taken as confirmed, unless there are to be none at all', async () => {
    const { app } = service
    const mailing = (most: number) => {
      const smtp = { ...app.config.smtp, mailer: { ...app.config.smtp.mailer, autoconfirm: true } }
      const rateLimit = { ...app.config.rateLimit, emailSent: rateOf(String(most)) }
      return outcome(app.db.begin((tx) => limitMail({ ...app, config: { ...app.config, smtp, rateLimit } }, tx)))
    }
    expect([await mailing(1), await mailing(1)]).toEqual(['taken', 'taken'])
    expect(await mailing(0)).toBe('429 over_email_send_rate_limit never')
  })

  test('of a story that is rolled back were never taken', async () => {
    const { app } = service
    const config = { ...app.config, rateLimit: { ...app.config.rateLimit, emailSent: rateOf('1') } }
    const changed = app.db.begin(async (tx) => {
      await limitMail({ ...app, config }, tx)
      throw new Error('changed my mind')
    })
    await expect(changed).rejects.toThrow('changed my mind')
    expect(await outcome(app.db.begin((tx) => limitMail({ ...app, config }, tx)))).toBe('taken')
    expect(await outcome(app.db.begin((tx) => limitMail({ ...app, config }, tx)))).toBe('429 over_email_send_rate_limit 3600')
  })

  test('and SMS have a bucket each, and SMS are not counted where numbers are taken as confirmed', async () => {
    const { app } = service
    const rateLimit = { ...app.config.rateLimit, emailSent: rateOf('1'), smsSent: rateOf('1') }
    const config = { ...app.config, rateLimit }
    const texting = (autoconfirm: boolean) => {
      const sms = { ...config.sms, autoconfirm }
      return outcome(app.db.begin((tx) => limitSms({ ...app, config: { ...config, sms } }, tx)))
    }
    expect(await outcome(app.db.begin((tx) => limitMail({ ...app, config }, tx)))).toBe('taken')
    expect(await texting(false)).toBe('taken')
    expect(await texting(false)).toBe('429 over_sms_send_rate_limit 3600')
    expect(await texting(true)).toBe('taken')
  })
})

/** All that requests leave behind but the sends that have been counted. */
async function everythingKept({ db }: App) {
  const tables = await Promise.all([
    db`select to_jsonb(t) as row from auth.users t order by id`,
    db`select to_jsonb(t) as row from auth.identities t order by id`,
    db`select to_jsonb(t) as row from auth.one_time_tokens t order by id`,
    db`select to_jsonb(t) as row from auth.flow_state t order by id`,
    db`select to_jsonb(t) as row from auth.messages t order by id`,
    db`select to_jsonb(t) as row from auth.jobs t order by id`,
    db`select to_jsonb(t) as row from auth.sendings t order by kind, recipient`,
    db`select to_jsonb(t) as row from auth.audit_log_entries t order by id`,
    db`select to_jsonb(t) as row from auth.rate_limits t order by key`,
  ])
  return tables.map((rows) => rows.map(({ row }) => row))
}
