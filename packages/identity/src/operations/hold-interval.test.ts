import { randomUUID } from 'node:crypto'
import type { Failure } from '@tollgate/kit/failure'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { App } from '../app.ts'
import { createAccount, startIdentity } from '../testing.ts'
import { holdInterval, type SendingKind } from './hold-interval.ts'

type Tested = Awaited<ReturnType<typeof startIdentity>>
let service: Tested
beforeAll(async () => {
  service = await startIdentity({
    AUTH_EXTERNAL_PHONE_ENABLED: 'true',
    AUTH_SMS_PROVIDER: 'console',
    AUTH_SMS_CONSOLE_URL: 'http://127.0.0.1:1',
    AUTH_RATE_LIMIT_EMAIL_SENT: '1000000',
    AUTH_RATE_LIMIT_SMS_SENT: '1000000',
  })
})
afterAll(() => service.stop())

const newAddress = () => `${randomUUID()}@site.test`

/** The service with other intervals; undefined is what it does when nothing is set. */
function withIntervals(mail: number | undefined, sms = 60): App {
  const { app } = service
  const config = {
    ...app.config,
    smtp: { ...app.config.smtp, maxFrequency: mail },
    sms: { ...app.config.sms, maxFrequency: sms },
  }
  return { ...app, config }
}

/** `sent`, or the code of the refusal and after how many seconds to ask again. */
function send(kind: SendingKind, recipient: string, app = service.app): Promise<string> {
  return app.db
    .begin((tx) => holdInterval(app, tx, kind, recipient))
    .then(
      () => 'sent',
      ({ code, message, headers }: Failure) => {
        expect(message).toBe(`For security purposes, you can only request this after ${headers['retry-after']} seconds.`)
        return `${code} ${headers['retry-after']}`
      },
    )
}

const mails: SendingKind[] = ['signup', 'magiclink', 'recovery', 'email_change', 'reauthentication']
const texts: SendingKind[] = ['sms', 'phone_change', 'sms_reauthentication']

test('a clock that went ahead and was put right again keeps nobody waiting', async () => {
  const recipient = newAddress()
  service.now.advance(10_800)
  expect(await send('recovery', recipient)).toBe('sent')
  service.now.advance(-10_800)
  expect(await send('recovery', recipient)).toBe('sent')
  expect(await send('recovery', recipient)).toBe('over_email_send_rate_limit 60')
})

test('clocks that differ a little let nobody have two', async () => {
  const recipient = newAddress()
  expect(await send('recovery', recipient)).toBe('sent')
  service.now.advance(-1)
  expect(await send('recovery', recipient)).toBe('over_email_send_rate_limit 61')
  service.now.advance(1)
})

describe('a second sending of a kind', () => {
  test.each([
    ...mails.map((kind) => [kind, kind === 'signup' ? 900 : 60, 'over_email_send_rate_limit'] as const),
    ...texts.map((kind) => [kind, 60, 'over_sms_send_rate_limit'] as const),
  ])('%s has to wait %i seconds', async (kind, seconds, code) => {
    const recipient = newAddress()
    expect(await send(kind, recipient)).toBe('sent')
    expect(await send(kind, recipient)).toBe(`${code} ${seconds}`)
    service.now.advance(seconds - 0.5)
    expect(await send(kind, recipient)).toBe(`${code} 1`)
    service.now.advance(0.5)
    expect(await send(kind, recipient)).toBe('sent')
    expect(await send(kind, recipient)).toBe(`${code} ${seconds}`)
  })

  test('waits for no other kind, and for nobody else', async () => {
    const recipient = newAddress()
    for (const kind of [...mails, ...texts]) expect([kind, await send(kind, recipient)]).toEqual([kind, 'sent'])
    for (const kind of [...mails, ...texts]) expect([kind, await send(kind, newAddress())]).toEqual([kind, 'sent'])
  })

  test('that was refused does not make the wait longer', async () => {
    const recipient = newAddress()
    await send('recovery', recipient)
    service.now.advance(40)
    expect(await send('recovery', recipient)).toBe('over_email_send_rate_limit 20')
    service.now.advance(20)
    expect(await send('recovery', recipient)).toBe('sent')
  })

  test('passes once of fifty at once', async () => {
    const recipient = newAddress()
    const outcomes = await Promise.all(Array.from({ length: 50 }, () => send('recovery', recipient)))
    expect(outcomes.filter((each) => each === 'sent')).toHaveLength(1)
    expect(outcomes.filter((each) => each === 'over_email_send_rate_limit 60')).toHaveLength(49)
  })

  test('waits for nothing that was rolled back', async () => {
    const recipient = newAddress()
    const changed = service.app.db.begin(async (tx) => {
      await holdInterval(service.app, tx, 'recovery', recipient)
      throw new Error('changed my mind')
    })
    await expect(changed).rejects.toThrow('changed my mind')
    expect(await send('recovery', recipient)).toBe('sent')
  })
})

describe('SMTP_MAX_FREQUENCY', () => {
  test('governs every kind of mail when it is set, and no SMS', async () => {
    const app = withIntervals(300)
    const recipient = newAddress()
    for (const kind of [...mails, ...texts]) await send(kind, recipient, app)
    for (const kind of mails) expect(await send(kind, recipient, app)).toBe('over_email_send_rate_limit 300')
    for (const kind of texts) expect(await send(kind, recipient, app)).toBe('over_sms_send_rate_limit 60')
  })

  test('of 0 is no interval, and so is an SMS_MAX_FREQUENCY of 0', async () => {
    const app = withIntervals(0, 0)
    const recipient = newAddress()
    for (const kind of [...mails, ...texts]) {
      expect(await send(kind, recipient, app)).toBe('sent')
      expect(await send(kind, recipient, app)).toBe('sent')
    }
  })
})

describe('over HTTP', () => {
  const post = (path: string, json: object) => service.call(`POST ${path}`, { json })

  test.each([
    ['/recover', 60],
    ['/magiclink', 60],
    ['/otp', 60],
    ['/signup', 900],
  ])('%s is refused alike for people known and unknown, and says when to come back', async (path, seconds) => {
    const known = newAddress()
    await createAccount(service, { email: known })
    const answers = await Promise.all(
      [known, newAddress()].map(async (email) => {
        const json = { email, password: 'correct horse', create_user: false }
        const first = await post(path, json)
        const second = await post(path, json)
        return { first: first.status, status: second.status, after: second.headers['retry-after'], body: second.json() }
      }),
    )
    const msg = `For security purposes, you can only request this after ${seconds} seconds.`
    const body = { code: 429, error_code: 'over_email_send_rate_limit', msg }
    const expected = { first: 200, status: 429, after: String(seconds), body }
    expect(answers).toEqual([expected, expected])
  })

  test('a number is refused alike, known or unknown', async () => {
    const known = '4520304050'
    await createAccount(service, { email: null, phone: known, phoneConfirmedAt: service.now(), identities: [] })
    const answers = await Promise.all(
      [known, '4520304051'].map(async (phone) => {
        const json = { phone, create_user: false }
        const first = await post('/otp', json)
        const second = await post('/otp', { ...json, phone: `+${phone}` })
        return [first.status, second.status, second.headers['retry-after'], second.json().error_code]
      }),
    )
    const expected = [200, 429, '60', 'over_sms_send_rate_limit']
    expect(answers).toEqual([expected, expected])
  })

  test('an address is the same in capitals', async () => {
    const email = newAddress()
    expect((await post('/recover', { email })).status).toBe(200)
    expect((await post('/recover', { email: ` ${email.toUpperCase()} ` })).status).toBe(429)
  })

  test('who it was cannot be read off the table', async () => {
    const email = newAddress()
    await post('/recover', { email })
    const rows = await service.app.db<{ recipient: Buffer }>`select recipient from auth.sendings`
    expect(rows.length).toBeGreaterThan(0)
    for (const { recipient } of rows) {
      expect(recipient).toHaveLength(32)
      expect(recipient.toString('latin1')).not.toContain('site.test')
    }
  })
})
