import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAccount, startIdentity, startWithInbox } from '../testing.ts'

let service: Awaited<ReturnType<typeof startWithInbox>>
let closed: typeof service
beforeAll(async () => {
  service = await startWithInbox()
  closed = await startWithInbox({ AUTH_DISABLE_SIGNUP: 'true', AUTH_EXTERNAL_EMAIL_AUTHORIZED_ADDRESSES: 'ann@site.test' })
})
afterAll(() => Promise.all([service.stop(), closed.stop()]))

const newEmail = () => `${randomUUID()}@site.test`
const ask = (path: string, json: object, at: Pick<typeof service, 'call'> = service) => at.call(`POST ${path}`, { json })

describe.each(['/otp', '/magiclink'])('%s', (path) => {
  test('somebody known gets a magic link', async () => {
    const { userId } = await createAccount(service)
    const email = `${userId}@site.test`
    const answer = await ask(path, { email })
    expect([answer.status, answer.text]).toEqual([200, '{}'])
    const { mail, link, code } = await service.mailTo(email)
    expect([mail.subject, code.length]).toEqual(['Your Magic Link', 6])
    expect(link).toMatch(/\/verify\?token=[0-9a-f]{56}&type=magiclink&/)
    const [entry] = await service.app.db`select payload from auth.audit_log_entries where payload ->> 'actor_id' = ${userId}`
    expect(entry).toMatchObject({ payload: { action: 'user_recovery_requested', log_type: 'user' } })
  })

  test('somebody unknown is signed up, with the data that came along, and confirms by the mail', async () => {
    const email = newEmail()
    const answer = await ask(path, { email, data: { nick: 'ann' } })
    expect([answer.status, answer.text]).toEqual([200, '{}'])
    const { mail, code } = await service.mailTo(email)
    expect(mail.subject).toBe('Confirm Your Signup')
    const { user } = (await ask('/verify', { type: 'email', email, token: code })).json<{ user: object }>()
    expect(user).toMatchObject({ email, user_metadata: { nick: 'ann', email_verified: true } })
  })

  test('a second one within a minute is refused, known or not, and told when to come back', async () => {
    const { userId } = await createAccount(service)
    for (const email of [`${userId}@site.test`, newEmail()]) {
      await ask(path, { email })
      service.now.advance(20)
      const answer = await ask(path, { email })
      expect(answer.json()).toEqual({
        code: 429,
        error_code: 'over_email_send_rate_limit',
        msg: 'For security purposes, you can only request this after 40 seconds.',
      })
      expect(answer.headers['retry-after']).toBe('40')
      service.now.advance(40)
      expect((await ask(path, { email })).status).toBe(200)
    }
  })

  test('where only some addresses are written to, others are refused', async () => {
    closed.now.advance(60)
    expect((await ask(path, { email: 'ann+test@site.test' }, closed)).status).toBe(200)
    expect((await ask(path, { email: 'eve@site.test' }, closed)).json()).toMatchObject({
      code: 400,
      error_code: 'email_address_not_authorized',
    })
  })

  test.each([
    ['AUTH_EXTERNAL_EMAIL_ENABLED', 'Email logins are disabled'],
    ['AUTH_EXTERNAL_EMAIL_MAGIC_LINK_ENABLED', 'Login with magic link is disabled'],
  ])('without %s it is refused', async (setting, msg) => {
    const own = await startIdentity({ [setting]: 'false' })
    const answer = await ask(path, { email: newEmail() }, own)
    await own.stop()
    expect(answer.json()).toEqual({ code: 422, error_code: 'email_provider_disabled', msg })
  })
})

test('nobody is signed up where that is not wanted, and the answer does not tell', async () => {
  const [one, other] = [newEmail(), 'ann@site.test']
  closed.now.advance(60)
  const answers = [await ask('/otp', { email: one, create_user: false }), await ask('/otp', { email: other }, closed)]
  expect(answers.map(({ status, text }) => [status, text])).toEqual([
    [200, '{}'],
    [200, '{}'],
  ])
  expect(await service.app.db`select from auth.users where email = ${one}`).toHaveLength(0)
  expect(await closed.app.db`select from auth.users`).toHaveLength(0)
})

test('by SMS, people unknown so far are signed up, and the known are let in', async () => {
  const phone = '4540000001'
  for (const round of ['first', 'second']) {
    expect((await ask('/otp', { phone })).text).toBe('{}')
    const { code } = await service.nextSms()
    expect([round, (await ask('/verify', { type: 'sms', phone, token: code })).status]).toEqual([round, 200])
    service.now.advance(61)
  }
  expect(await service.app.db`select from auth.users where phone = ${phone}`).toHaveLength(1)
})

test.each<[object, string]>([
  [{}, 'One of email or phone must be set'],
  [{ email: 'a@b.test', phone: '4512345678' }, 'Only an email address or phone number should be provided'],
  [{ email: 'a@b.test', channel: 'sms' }, 'Channel should only be specified with Phone OTP'],
  [{ email: 'nobody' }, 'Unable to validate email address: invalid format'],
  [{ phone: '1' }, 'Invalid phone number format (E.164 required)'],
])('/otp refuses %j', async (json, msg) => {
  expect((await ask('/otp', json)).json()).toMatchObject({ code: 400, error_code: 'validation_failed', msg })
})

test('/magiclink without an address is refused', async () => {
  expect((await ask('/magiclink', {})).json()).toMatchObject({ code: 422, error_code: 'validation_failed' })
})
