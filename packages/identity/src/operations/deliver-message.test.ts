import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { Db } from '@tollgate/kit/db'
import { startHttpFake } from '@tollgate/kit/http-fake'
import { type Job, runJobs } from '@tollgate/kit/jobs'
import { Secret } from '@tollgate/kit/secret'
import { createTransport } from '@tollgate/kit/smtp'
import { startSmtpSink } from '@tollgate/kit/smtp-sink'
import { gate, keptLog, type StillClock, stillClock } from '@tollgate/kit/testing'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { App } from '../app.ts'
import { derivedKey } from '../rules/derived-key.ts'
import { seal } from '../rules/seal.ts'
import { type Channel, insertMessage } from '../store/messages.ts'
import { startIdentity } from '../testing.ts'
import { deliverMessage } from './deliver-message.ts'
import type { SealedMail, SealedSms } from './send-code.ts'

type Parts = Omit<App, 'nudge'>

let service: Awaited<ReturnType<typeof startIdentity>>
let gateway: Awaited<ReturnType<typeof startHttpFake>>
let db: Db
// Ahead of the service, whose own loop therefore never sees the jobs of these tests.
let now: StillClock
let log: ReturnType<typeof keptLog>

beforeAll(async () => {
  gateway = await startHttpFake({})
  service = await startIdentity({
    AUTH_EXTERNAL_PHONE_ENABLED: 'true',
    AUTH_SMS_PROVIDER: 'console',
    AUTH_SMS_CONSOLE_URL: gateway.origin,
    AUTH_INTERNAL_HTTP_TIMEOUT: '0.2',
  })
  db = service.app.db
})
afterAll(async () => {
  await service.stop()
  await gateway.close()
})
beforeEach(async () => {
  await db`truncate auth.messages, auth.jobs`
  now = stillClock('2031-01-01T00:00:00Z')
  log = keptLog()
  gateway.requests.splice(0)
})

const to = 'ann@people.test'
const code = '271828'
const tokenHash = 'a1b2c3d4e5f6a1b2c3d4e5f6a1b2c3d4e5f6a1b2c3d4e5f6a1b2c3d4'
const link = `https://auth.site.test/verify?token=${tokenHash}&type=signup`
const mail: SealedMail = {
  kind: 'confirmation',
  to,
  facts: { email: to, newEmail: undefined, sendingTo: to, link, code, tokenHash, redirectTo: 'https://site.test', data: {} },
}
const sms: SealedSms = { to: '4512345678', text: `Your code is ${code}`, code, whatsapp: false }

/** A message and its job, as stories queue them. */
async function queue(channel: Channel, content: SealedMail | SealedSms, lifetime: number | null = 86_400): Promise<string> {
  const id = randomUUID()
  const expiresAt = lifetime === null ? null : new Date(now().getTime() + lifetime * 1000)
  const sealed = seal(service.app.secrets.messages, id, content)
  await db.begin((tx) => insertMessage(tx, { id, channel, sealed, expiresAt, now: now() }))
  return id
}

type Row = {
  sealed: Buffer | null
  handed_over_at: Date | null
  sent_at: Date | null
  given_up_at: Date | null
  outside_id: string | null
  error: string | null
}

async function rowOf(id: string): Promise<Row> {
  const [row] = await db<Row>`
    select sealed, handed_over_at, sent_at, given_up_at, outside_id, error from auth.messages where id = ${id}`
  return row as Row
}

const jobs = () => db<{ attempts: number; run_at: Date; error: string | null }>`select attempts, run_at, error from auth.jobs`
const job = (message: string, attempts = 1): Job => ({ id: 0, kind: 'deliver', payload: { message }, attempts })

/** What a process needs to deliver, with a mail server at this port. */
function partsWith(port: number, more: Partial<Parts> = {}): Parts {
  const smtp = createTransport(
    { ...service.app.config.smtp, port },
    { clientName: 'auth.site.test', hostSetting: 'AUTH_SMTP_HOST' },
  )
  onTestFinished(() => smtp.close())
  return { ...service.app, now, log: log.log, smtp, ...more }
}

/** A process that does all jobs that are due, and ends. */
async function runDue(parts: Parts) {
  const loop = runJobs({
    db,
    log: parts.log,
    now,
    workers: { deliver: (each) => deliverMessage(parts, each) },
    pollSeconds: 3600,
  })
  const due = () => db`select 1 from auth.jobs where run_at <= ${now()} and given_up_at is null`
  await expect.poll(due, { interval: 2, timeout: 10_000 }).toEqual([])
  await loop.stop()
}

async function startSink() {
  const sink = await startSmtpSink()
  onTestFinished(() => sink.close())
  return sink
}

type Verdict = Error | null

/** A mail server that says what it is told to of a recipient, and of a mail that is there, and counts the mails that it took. */
async function startServer(says: Pick<SMTPServerOptions, 'onRcptTo'> & { ofMail?: () => Verdict | Promise<Verdict> }) {
  const taken: string[] = []
  const { ofMail = () => null, ...more } = says
  const server = new SMTPServer({
    authOptional: true,
    disableReverseLookup: true,
    logger: false,
    hideSTARTTLS: true,
    onData(stream, { envelope }, done) {
      stream.on('end', async () => {
        const verdict = await ofMail()
        if (!verdict) taken.push(envelope.rcptTo.map(({ address }) => address).join())
        done(verdict)
      })
      stream.resume()
    },
    ...more,
  })
  server.on('error', () => {})
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())))
  return { port: (server.server.address() as AddressInfo).port, taken }
}

const refusal = (responseCode: number, words: string) => Object.assign(new Error(words), { responseCode })

/** A port at which nobody listens, and where somebody may later. */
async function closedPort(): Promise<number> {
  const sink = await startSmtpSink()
  await sink.close()
  return sink.port
}

/** The first statement of this wording does its work and loses its answer: nobody can tell what came of it. */
function losingAnswer(wording: string): Db {
  let lost = false
  const run = async (template: TemplateStringsArray, ...values: Parameters<Db>[1][]) => {
    const answer = await db(template, ...values)
    if (lost || !template.join('?').includes(wording)) return answer
    lost = true
    throw new Error('the connection broke')
  }
  return Object.assign(run, { begin: db.begin, close: db.close }) as Db
}

const spoken = () => JSON.stringify(log.lines)

describe('a mail', () => {
  test('is sent once, and nothing that it said is kept', async () => {
    const sink = await startSink()
    const id = await queue('mail', mail)
    const parts = partsWith(sink.port)
    await runDue(parts)
    expect((await sink.next()).to).toEqual([to])
    expect(await rowOf(id)).toMatchObject({ sealed: null, sent_at: now(), given_up_at: null, outside_id: `<${id}@site.test>` })
    await deliverMessage(parts, job(id))
    expect(sink.mails()).toHaveLength(1)
    expect(await jobs()).toEqual([])
    expect(log.lines).toEqual([])
  })

  test('that the server puts off is tried again, later and later, and arrives once', async () => {
    let refusals = 3
    const { port, taken } = await startServer({
      onRcptTo: (_address, _session, done) => done(refusals-- > 0 ? refusal(451, `try ${to} later`) : null),
    })
    const id = await queue('mail', mail)
    const parts = partsWith(port)
    for (const [attempt, least, most] of [
      [1, 1500, 2500],
      [2, 3000, 5000],
      [3, 6000, 10_000],
    ] as const) {
      await runDue(parts)
      const [waiting] = await jobs()
      const pause = (waiting?.run_at.getTime() ?? 0) - now().getTime()
      expect([waiting?.attempts, pause >= least, pause <= most]).toEqual([attempt, true, true])
      now.advance(most / 1000)
    }
    await runDue(parts)
    expect(taken).toHaveLength(1)
    expect(await rowOf(id)).toMatchObject({ sent_at: now(), sealed: null, handed_over_at: now() })
    expect(spoken()).not.toContain(to)
  })

  test('that the server puts off after it had all of it goes out again, and arrives once', async () => {
    let refusals = 1
    const { port, taken } = await startServer({ ofMail: () => (refusals-- > 0 ? refusal(451, 'greylisted') : null) })
    const id = await queue('mail', mail)
    const parts = partsWith(port)
    await runDue(parts)
    expect(await rowOf(id)).toMatchObject({ handed_over_at: null, sent_at: null, given_up_at: null, sealed: expect.any(Buffer) })
    now.advance(3)
    await runDue(parts)
    expect(taken).toHaveLength(1)
    expect(await rowOf(id)).toMatchObject({ sent_at: now() })
  })

  test('that the server refuses for good is given up, and the log tells neither address nor code nor link', async () => {
    const words = `spam: ${link} with ${code} of ${tokenHash} for ${to}`
    const { port } = await startServer({ ofMail: () => refusal(554, words) })
    const id = await queue('mail', mail)
    await runDue(partsWith(port))
    const row = await rowOf(id)
    expect(row).toMatchObject({ given_up_at: now(), sealed: null, error: expect.stringContaining('DATA was answered 554') })
    expect(log.lines).toMatchObject([{ level: 'error', message: 'message given up', channel: 'mail', error: row.error }])
    for (const secret of [to, code, tokenHash]) expect(`${spoken()}${row.error}`).not.toContain(secret)
    expect(await jobs()).toEqual([])
  })

  test('whose code has expired is given up unsent', async () => {
    const sink = await startSink()
    const id = await queue('mail', mail, 600)
    now.advance(600)
    await runDue(partsWith(sink.port))
    expect(await rowOf(id)).toMatchObject({ given_up_at: now(), sealed: null, error: 'it could not be sent in time' })
    expect(sink.mails()).toEqual([])
  })

  test('that never expires is given up after five days', async () => {
    const sink = await startSink()
    const id = await queue('mail', mail, null)
    now.advance(5 * 86_400 - 1)
    const fresh = await queue('mail', mail, null)
    now.advance(1)
    await runDue(partsWith(sink.port))
    expect(await rowOf(id)).toMatchObject({ given_up_at: now(), sent_at: null })
    expect(await rowOf(fresh)).toMatchObject({ given_up_at: null, sent_at: now() })
  })

  test('that was sealed under another secret is given up at the first attempt, and the log says why', async () => {
    const sink = await startSink()
    const id = await queue('mail', mail)
    const messages = derivedKey(new Secret('another secret'), 'messages')
    await runDue(partsWith(sink.port, { secrets: { ...service.app.secrets, messages } }))
    expect(log.lines).toMatchObject([{ message: 'message given up', error: expect.stringContaining('AUTH_JWT_SECRET') }])
    expect(await rowOf(id)).toMatchObject({ given_up_at: now(), sealed: null })
    expect([sink.mails(), await jobs()]).toEqual([[], []])
  })

  test('to nobody vanishes', async () => {
    const sink = await startSink()
    const id = await queue('none', mail)
    await runDue(partsWith(sink.port))
    expect(await rowOf(id)).toBeUndefined()
    expect([sink.mails(), await jobs(), log.lines]).toEqual([[], [], []])
  })
})

describe('an outage', () => {
  test('of an hour loses no mail and doubles none', async () => {
    await outage(3600)
  })

  test('of five hours, when a job would have been given up long ago, neither', async () => {
    await outage(5 * 3600)
  })

  async function outage(seconds: number) {
    const port = await closedPort()
    const parts = partsWith(port)
    for (let number = 0; number < 4; number++) await queue('mail', mail)
    for (let passed = 0; passed < seconds; passed += 300) {
      await runDue(parts)
      now.advance(300)
    }
    expect(await db`select 1 from auth.messages where sealed is not null and given_up_at is null`).toHaveLength(4)
    const sink = await startSmtpSink({ port })
    onTestFinished(() => sink.close())
    for (let passed = 0; passed <= 1800; passed += 300) {
      now.advance(300)
      await runDue(parts)
    }
    expect(sink.mails()).toHaveLength(4)
    expect(new Set(sink.mails().map(({ headers }) => headers['message-id'])).size).toBe(4)
    expect(await jobs()).toEqual([])
    expect(await db`select 1 from auth.messages where sent_at is not null and sealed is null`).toHaveLength(4)
  }
})

describe('a process that dies', () => {
  test('before it sent the mail leaves it to whoever takes the job when its lease is over', async () => {
    const sink = await startSink()
    const id = await queue('mail', mail)
    await db`update auth.jobs set attempts = 1, run_at = ${new Date(now().getTime() + 120_000)}`
    const parts = partsWith(sink.port)
    now.advance(119)
    await runDue(parts)
    expect(sink.mails()).toEqual([])
    now.advance(1)
    await runDue(parts)
    expect(sink.mails()).toHaveLength(1)
    expect(await rowOf(id)).toMatchObject({ sent_at: now() })
  })

  test('while it was handing over, or before it wrote down that the mail was taken, has nobody send it again', async () => {
    const sink = await startSink()
    const id = await queue('mail', mail)
    await db`update auth.messages set handed_over_at = ${now()}`
    now.advance(120)
    await runDue(partsWith(sink.port))
    expect(sink.mails()).toEqual([])
    const error = 'the process ended while it was being handed over: it may have been sent'
    expect(await rowOf(id)).toMatchObject({ given_up_at: now(), sent_at: null, sealed: null, error })
    expect(log.lines).toMatchObject([{ message: 'message given up', error }])
    expect(await jobs()).toEqual([])
  })

  test('a mail that was taken, of which that could not be written down, is not sent again', async () => {
    const sink = await startSink()
    const id = await queue('mail', mail)
    const down = Object.assign(
      (template: TemplateStringsArray, ...values: Parameters<Db>[1][]) =>
        template.join('?').includes('set sent_at') ? Promise.reject(new Error('down')) : db(template, ...values),
      { begin: db.begin, close: db.close },
    ) as Db
    await runDue(partsWith(sink.port, { db: down }))
    expect(await rowOf(id)).toMatchObject({ sent_at: null, handed_over_at: now() })
    now.advance(120)
    await runDue(partsWith(sink.port))
    expect(sink.mails()).toHaveLength(1)
    expect(await rowOf(id)).toMatchObject({ given_up_at: now(), sealed: null })
  })

  test('a mail whose mark may or may not have been written is not sent, and arrives at the next attempt', async () => {
    const sink = await startSink()
    const id = await queue('mail', mail)
    await runDue(partsWith(sink.port, { db: losingAnswer('set handed_over_at = ?') }))
    expect(sink.mails()).toEqual([])
    expect(await rowOf(id)).toMatchObject({ handed_over_at: null, sealed: expect.any(Buffer) })
    now.advance(3)
    await runDue(partsWith(sink.port))
    expect(sink.mails()).toHaveLength(1)
  })
})

describe('two processes with one job', () => {
  test('send one mail when the second overtakes the first', async () => {
    const held = gate<void, null>()
    let first = true
    const { port, taken } = await startServer({
      onRcptTo(_address, _session, done) {
        if (!first) return done(null)
        first = false
        held.enter().then(done)
      },
    })
    const id = await queue('mail', mail)
    const slow = deliverMessage(partsWith(port), job(id, 1))
    await held.entered()
    await deliverMessage(partsWith(port), job(id, 2))
    expect(taken).toHaveLength(1)
    held.leave(1, null)
    await expect(slow).rejects.toThrow('held back')
    expect(taken).toHaveLength(1)
    expect(await rowOf(id)).toMatchObject({ sent_at: now(), given_up_at: null })
  })

  test('send one mail when the first is slow to be answered: the second keeps away', async () => {
    const { port, taken, held } = await startHolding()
    const id = await queue('mail', mail)
    const slow = deliverMessage(partsWith(port), job(id, 1))
    await held.entered()
    now.advance(89)
    await expect(deliverMessage(partsWith(port), job(id, 2))).rejects.toThrow('elsewhere')
    held.leave(1, null)
    await slow
    expect(taken).toHaveLength(1)
    expect(await rowOf(id)).toMatchObject({ sent_at: now(), given_up_at: null, sealed: null })
    await deliverMessage(partsWith(port), job(id, 3))
    expect(taken).toHaveLength(1)
  })

  test('when the second had given it up already, the first still tells that it was sent', async () => {
    const { port, taken, held } = await startHolding()
    const id = await queue('mail', mail)
    const slow = deliverMessage(partsWith(port), job(id, 1))
    await held.entered()
    now.advance(90)
    await deliverMessage(partsWith(port), job(id, 2))
    expect(await rowOf(id)).toMatchObject({ given_up_at: now(), sealed: null })
    held.leave(1, null)
    await slow
    expect(taken).toHaveLength(1)
    expect(await rowOf(id)).toMatchObject({ sent_at: now(), given_up_at: null, error: null })
  })

  test('send one mail of any number that begin at once', async () => {
    const sink = await startSink()
    const id = await queue('mail', mail)
    const processes = Array.from({ length: 4 }, () => partsWith(sink.port))
    const outcomes = await Promise.allSettled(processes.map((parts, index) => deliverMessage(parts, job(id, index + 1))))
    expect(sink.mails()).toHaveLength(1)
    expect(outcomes.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThanOrEqual(1)
    expect(await rowOf(id)).toMatchObject({ sent_at: now(), given_up_at: null })
  })

  /** Has a mail, and says that it takes it when it is let. */
  async function startHolding() {
    const held = gate<void, Verdict>()
    return { ...(await startServer({ ofMail: () => held.enter() })), held }
  }
})

test("the operator's headers are in the mail, and know its kind", async () => {
  const sink = await startSink()
  const id = await queue('mail', mail)
  const { config } = service.app
  const told = { ...config, smtp: { ...config.smtp, headers: { 'X-Kind': ['$messageType'] } } }
  await deliverMessage(partsWith(sink.port, { config: told }), job(id))
  expect((await sink.next()).headers).toMatchObject({ 'x-kind': 'confirmation', 'auto-submitted': 'auto-generated' })
})

describe('an SMS', () => {
  const nobody = 1

  test('is sent once, and nothing that it said is kept', async () => {
    gateway.answer({ 'POST /sms': { json: { id: 'sms-7' } } })
    const id = await queue('sms', sms, 60)
    await runDue(partsWith(nobody))
    expect(Object.fromEntries(new URLSearchParams(gateway.requests[0]?.body))).toEqual({ to: sms.to, text: sms.text })
    expect(await rowOf(id)).toMatchObject({ sent_at: now(), sealed: null, outside_id: 'sms-7' })
    expect(gateway.requests).toHaveLength(1)
  })

  test.each([
    ['does not answer in time', 'hang' as const],
    ['hangs up on it', 'cut' as const],
    ['hangs up in the middle of its answer', 'cut in the middle' as const],
    ['answers 200 with nonsense', { text: 'fine' }],
    ['answers 500 and does not say what broke', { status: 500, text: 'oops' }],
  ])('is not sent again when the gateway %s', async (_, answer) => {
    gateway.answer({ 'POST /sms': answer })
    const id = await queue('sms', sms, 3600)
    await runDue(partsWith(nobody))
    expect(await rowOf(id)).toMatchObject({
      given_up_at: now(),
      sealed: null,
      error: expect.stringContaining('may have been sent'),
    })
    now.advance(300)
    await runDue(partsWith(nobody))
    expect(gateway.requests).toHaveLength(1)
    expect(await jobs()).toEqual([])
  })

  test('that the gateway refuses is given up, and the log tells neither number nor code', async () => {
    const message = `The number +${sms.to} cannot get ${code}`
    gateway.answer({ 'POST /sms': { status: 400, json: { code: 21211, message } } })
    const id = await queue('sms', sms, 60)
    await runDue(partsWith(nobody))
    const row = await rowOf(id)
    expect(row).toMatchObject({ given_up_at: now(), sealed: null, error: expect.stringContaining('21211') })
    expect(log.lines).toMatchObject([{ level: 'error', message: 'message given up', channel: 'sms' }])
    for (const secret of [sms.to, code]) expect(`${spoken()}${row.error}`).not.toContain(secret)
    expect(gateway.requests).toHaveLength(1)
  })

  test('that the gateway knows to have failed on its side is sent again', async () => {
    gateway.answer({ 'POST /sms': { status: 503, json: { code: 20503, message: `busy, ${sms.to}` } } })
    const id = await queue('sms', sms, 60)
    await runDue(partsWith(nobody))
    expect(await rowOf(id)).toMatchObject({ handed_over_at: null, sealed: expect.any(Buffer), given_up_at: null })
    gateway.answer({ 'POST /sms': { json: { id: 'sms-8' } } })
    now.advance(3)
    await runDue(partsWith(nobody))
    expect(await rowOf(id)).toMatchObject({ sent_at: now(), outside_id: 'sms-8' })
    expect(gateway.requests).toHaveLength(2)
    expect(`${spoken()}`).not.toContain(sms.to)
  })

  test('for a gateway that cannot be reached waits, until its code has expired', async () => {
    const config = withGatewayAt(service.app.config, `http://127.0.0.1:${await closedPort()}`)
    const id = await queue('sms', sms, 60)
    await runDue(partsWith(nobody, { config }))
    expect(await rowOf(id)).toMatchObject({ sealed: expect.any(Buffer), handed_over_at: null })
    now.advance(60)
    await runDue(partsWith(nobody, { config }))
    expect(await rowOf(id)).toMatchObject({ given_up_at: now(), sealed: null, error: 'it could not be sent in time' })
  })

  test('is given up where nobody delivers SMS any more', async () => {
    const { config } = service.app
    const id = await queue('sms', sms, 60)
    await runDue(partsWith(nobody, { config: { ...config, sms: { ...config.sms, provider: undefined } } }))
    expect(await rowOf(id)).toMatchObject({ given_up_at: now(), error: expect.stringContaining('AUTH_SMS_PROVIDER') })
  })

  test('whose mark may or may not have been written is not sent, and goes out at the next attempt', async () => {
    gateway.answer({ 'POST /sms': { json: { id: 'sms-9' } } })
    const id = await queue('sms', sms, 60)
    await runDue(partsWith(nobody, { db: losingAnswer('set handed_over_at = ?') }))
    expect(gateway.requests).toHaveLength(0)
    now.advance(3)
    await runDue(partsWith(nobody))
    expect(gateway.requests).toHaveLength(1)
    expect(await rowOf(id)).toMatchObject({ sent_at: now() })
  })

  function withGatewayAt(config: App['config'], base: string): App['config'] {
    const console = { ...config.sms.gateways.console, base }
    return { ...config, sms: { ...config.sms, gateways: { ...config.sms.gateways, console } } }
  }
})
