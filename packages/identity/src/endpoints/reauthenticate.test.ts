import { type HttpFake, startHttpFake } from '@tollgate/kit/http-fake'
import { type SmtpSink, startSmtpSink } from '@tollgate/kit/smtp-sink'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAccount, startIdentity } from '../testing.ts'

let sink: SmtpSink
let gateway: HttpFake
let service: Awaited<ReturnType<typeof startIdentity>>
let mute: typeof service

beforeAll(async () => {
  sink = await startSmtpSink()
  gateway = await startHttpFake({ 'POST /sms': { json: { id: '1' } } })
  const nonce = { AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_REAUTHENTICATION: 'true' }
  service = await startIdentity({
    ...nonce,
    AUTH_SMTP_PORT: String(sink.port),
    AUTH_SMS_PROVIDER: 'console',
    AUTH_SMS_CONSOLE_URL: gateway.origin,
  })
  mute = await startIdentity()
})
afterAll(async () => {
  await Promise.all([service.stop(), mute.stop()])
  await Promise.all([sink.close(), gateway.close()])
})

const ask = (authorization: string, at = service) => at.call('GET /reauthenticate', { headers: { authorization } })

const byPhone = (phone: string, at = service) =>
  createAccount(at, {
    email: null,
    emailConfirmedAt: null,
    phone,
    phoneConfirmedAt: at.now(),
    identities: [],
    appMetadata: { provider: 'phone', providers: ['phone'] },
  })

test('a nonce goes to the address of the account, and who asked is written down', async () => {
  const { userId, authorization } = await createAccount(service, { phone: '4520304050', phoneConfirmedAt: service.now() })
  const answer = await ask(authorization)
  expect(answer).toMatchObject({ status: 200, text: '{}' })
  const mail = await sink.next(({ to }) => to.includes(`${userId}@site.test`))
  expect(mail.subject).toMatch(/^\d{6} is your verification code$/)
  expect(gateway.requests).toHaveLength(0)
  const audits = await service.app.db<{ action: string }>`
    select payload ->> 'action' as action from auth.audit_log_entries where payload ->> 'actor_id' = ${userId}`
  expect(audits).toEqual([{ action: 'user_reauthenticate_requested' }])
  const shown = await service.call('GET /user', { headers: { authorization } })
  expect(shown.json()).toMatchObject({ reauthentication_sent_at: service.now().toISOString() })
})

test('a nonce goes to the number of an account without an address, and sets a password', async () => {
  const { authorization } = await byPhone('4511223344')
  expect((await ask(authorization)).status).toBe(200)
  const { body } = await gateway.request()
  const message = new URLSearchParams(body)
  expect(message.get('to')).toBe('4511223344')
  const nonce = /\d{6}/.exec(message.get('text') ?? '')?.[0]
  const json = { password: 'the new password', nonce }
  expect((await service.call('PUT /user', { headers: { authorization }, json })).status).toBe(200)
})

test.each([
  ['mail', (at: typeof service) => createAccount(at), 'over_email_send_rate_limit'],
  ['SMS', (at: typeof service) => byPhone('4599887766', at), 'over_sms_send_rate_limit'],
])('a second nonce by %s within the interval is refused, and a later one is not', async (_, create, error) => {
  const { userId, authorization } = await create(service)
  expect((await ask(authorization)).status).toBe(200)
  const refused = await ask(authorization)
  expect(refused.json()).toMatchObject({ code: 429, error_code: error })
  expect(refused.headers['retry-after']).toBe('60')
  const kept = await service.app.db`select from auth.one_time_tokens where user_id = ${userId}`
  expect(kept).toHaveLength(1)
  service.now.advance(60)
  expect((await ask(authorization)).status).toBe(200)
})

test('somebody without address and number is told so', async () => {
  const { authorization } = await createAccount(service, {
    email: null,
    emailConfirmedAt: null,
    isAnonymous: true,
    identities: [],
  })
  expect((await ask(authorization)).json()).toMatchObject({
    code: 400,
    error_code: 'validation_failed',
    msg: 'Reauthentication requires the user to have an email or a phone number',
  })
})

test('an address or number has to be confirmed first', async () => {
  const byMail = await createAccount(service, { emailConfirmedAt: null })
  expect((await ask(byMail.authorization)).json()).toMatchObject({
    code: 422,
    error_code: 'email_not_confirmed',
    msg: 'Please verify your email first.',
  })
  const bySms = await createAccount(service, { email: null, emailConfirmedAt: null, phone: '4577665544', identities: [] })
  expect((await ask(bySms.authorization)).json()).toMatchObject({
    code: 422,
    error_code: 'phone_not_confirmed',
    msg: 'Please verify your phone first.',
  })
})

test('where nobody delivers SMS, none is promised', async () => {
  const { authorization } = await byPhone('4512121212', mute)
  expect((await ask(authorization, mute)).json()).toMatchObject({ code: 400, error_code: 'phone_provider_disabled' })
})

test('whoever is not signed in is refused', async () => {
  expect((await service.call('GET /reauthenticate')).status).toBe(401)
})
