import { type HttpFake, startHttpFake } from '@tollgate/kit/http-fake'
import { type ReceivedMail, type SmtpSink, startSmtpSink } from '@tollgate/kit/smtp-sink'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { NewUser } from '../store/users.ts'
import { createAccount, startIdentity } from '../testing.ts'

type Started = Awaited<ReturnType<typeof startIdentity>>

let sink: SmtpSink
let gateway: HttpFake
/** As it comes, with intervals between messages. */
let service: Started
/** Without intervals; the new address alone confirms. */
let eager: Started
/** Nobody has to confirm anything. */
let trusting: Started

beforeAll(async () => {
  sink = await startSmtpSink()
  gateway = await startHttpFake({ 'POST /sms': { json: { id: '1' } } })
  const messages = {
    AUTH_SMTP_PORT: String(sink.port),
    AUTH_SMS_PROVIDER: 'console',
    AUTH_SMS_CONSOLE_URL: gateway.origin,
    AUTH_SMS_TEST_OTP: '4500000000:123456',
    AUTH_RATE_LIMIT_EMAIL_SENT: '1000',
    AUTH_RATE_LIMIT_SMS_SENT: '1000',
    AUTH_MAILER_OTP_LENGTH: '10',
    AUTH_SMS_OTP_LENGTH: '10',
    AUTH_EXTERNAL_PHONE_ENABLED: 'true',
  }
  service = await startIdentity(messages)
  eager = await startIdentity({
    ...messages,
    AUTH_SMTP_MAX_FREQUENCY: '0',
    AUTH_SMS_MAX_FREQUENCY: '0',
    AUTH_MAILER_SECURE_EMAIL_CHANGE_ENABLED: 'false',
  })
  trusting = await startIdentity({ ...messages, AUTH_MAILER_AUTOCONFIRM: 'true', AUTH_SMS_AUTOCONFIRM: 'true' })
})
afterAll(async () => {
  await Promise.all([service.stop(), eager.stop(), trusting.stop()])
  await Promise.all([sink.close(), gateway.close()])
})

const put = (at: Started, authorization: string, json: object, query = '') =>
  at.call(`PUT /user${query}`, { headers: { authorization }, json })

async function account(at: Started, given: Partial<NewUser> = {}) {
  const created = await createAccount(at, given)
  return { ...created, email: `${created.userId}@site.test`, newEmail: `new-${created.userId}@site.test` }
}

const anonymous: Partial<NewUser> = { email: null, emailConfirmedAt: null, isAnonymous: true, identities: [], appMetadata: {} }

let lastPhone = 4_520_000_000
const newPhone = () => String(++lastPhone)

const mailTo = (address: string) => sink.next(({ to }) => to.includes(address))
const codeIn = ({ text }: ReceivedMail) => /\b\d{10}\b/.exec(text)?.[0] ?? ''

async function smsTo(phone: string): Promise<string> {
  for (let number = 1; ; number++) {
    const message = new URLSearchParams((await gateway.request(number)).body)
    if (message.get('to') === phone) return /\d{10}/.exec(message.get('text') ?? '')?.[0] ?? ''
  }
}

const show = async (at: Started, authorization: string) => (await at.call('GET /user', { headers: { authorization } })).json()
const verify = (at: Started, json: object) => at.call('POST /verify', { json })

test('a new address is confirmed from both addresses, each with a code and link of its own', async () => {
  const { authorization, email, newEmail } = await account(service)
  const answer = await put(service, authorization, { email: newEmail.toUpperCase() }, '?redirect_to=https://site.test/changed')
  expect(answer.status).toBe(200)
  const pending = { email, new_email: newEmail, email_change_sent_at: service.now().toISOString() }
  expect(answer.json()).toMatchObject(pending)

  const [atOld, atNew] = await Promise.all([mailTo(email), mailTo(newEmail)])
  for (const mail of [atOld, atNew]) {
    expect(mail.subject).toBe('Confirm Email Change')
    const link = new URL(mail.links.find((each) => each.includes('/verify')) ?? '')
    expect(link.searchParams.get('type')).toBe('email_change')
    expect(link.searchParams.get('redirect_to')).toBe('https://site.test/changed')
  }
  expect(codeIn(atOld)).not.toBe(codeIn(atNew))
  expect(atOld.links[0]).not.toBe(atNew.links[0])

  expect((await verify(service, { type: 'email_change', email: newEmail, token: codeIn(atNew) })).json()).toHaveProperty('msg')
  expect(await show(service, authorization)).toMatchObject({ email, new_email: newEmail })
  expect((await verify(service, { type: 'email_change', email, token: codeIn(atOld) })).status).toBe(200)
  const changed = await show(service, authorization)
  expect(changed).toMatchObject({ email: newEmail, identities: [{ provider: 'email', email: newEmail }] })
  expect(changed).not.toHaveProperty('new_email')
})

test('where both addresses do not have to agree, only the new one is written to', async () => {
  const { authorization, email, newEmail } = await account(eager)
  await put(eager, authorization, { email: newEmail })
  const token = codeIn(await mailTo(newEmail))
  expect((await verify(eager, { type: 'email_change', email: newEmail, token })).status).toBe(200)
  expect(await show(eager, authorization)).toMatchObject({ email: newEmail })
  expect(sink.mails().some(({ to }) => to.includes(email))).toBe(false)
})

test('the address and number that an account has already are no change', async () => {
  const phone = newPhone()
  const { userId, authorization, email } = await account(service, { phone, phoneConfirmedAt: service.now() })
  const answer = await put(service, authorization, { email: ` ${email.toUpperCase()} `, phone: `+${phone}` })
  expect(answer.status).toBe(200)
  expect(answer.text).not.toMatch(/new_email|new_phone|change_sent_at/)
  expect(await service.app.db`select from auth.one_time_tokens where user_id = ${userId}`).toHaveLength(0)
})

test('an address or number that somebody else has is refused', async () => {
  const phone = newPhone()
  const { email } = await account(service, { phone, phoneConfirmedAt: service.now() })
  const { authorization } = await account(service)
  expect((await put(service, authorization, { email })).json()).toMatchObject({
    code: 422,
    error_code: 'email_exists',
    msg: 'A user with this email address has already been registered',
  })
  expect((await put(service, authorization, { phone })).json()).toMatchObject({
    code: 422,
    error_code: 'phone_exists',
    msg: 'A user with this phone number has already been registered',
  })
})

test('one account writes to one new address in a while, whichever, and nobody else to the same', async () => {
  const { authorization, newEmail } = await account(service)
  expect((await put(service, authorization, { email: newEmail })).status).toBe(200)
  const again = await put(service, authorization, { email: `x-${newEmail}` })
  expect(again.json()).toMatchObject({ code: 429, error_code: 'over_email_send_rate_limit' })
  const other = await account(service)
  expect((await put(service, other.authorization, { email: newEmail })).status).toBe(429)
  expect(await show(service, authorization)).toMatchObject({ new_email: newEmail })
  service.now.advance(60)
  expect((await put(service, authorization, { email: `x-${newEmail}` })).json()).toMatchObject({ new_email: `x-${newEmail}` })
})

test('one account texts one new number in a while, and nobody else the same', async () => {
  const { authorization } = await account(service)
  const phone = newPhone()
  expect((await put(service, authorization, { phone })).status).toBe(200)
  const again = await put(service, authorization, { phone: newPhone() })
  expect(again.json()).toMatchObject({ code: 429, error_code: 'over_sms_send_rate_limit' })
  expect((await put(service, (await account(service)).authorization, { phone })).status).toBe(429)
})

test('what is refused for its interval changes nothing else', async () => {
  const { authorization, newEmail } = await account(service)
  await put(service, authorization, { email: newEmail })
  expect((await put(service, authorization, { email: newEmail, data: { nick: 'ann' } })).status).toBe(429)
  expect(await show(service, authorization)).toMatchObject({ user_metadata: {} })
})

test('a later change makes the codes of an earlier one worthless', async () => {
  const { userId, authorization, newEmail } = await account(eager)
  await put(eager, authorization, { email: newEmail })
  const token = codeIn(await mailTo(newEmail))
  await put(eager, authorization, { email: `later-${newEmail}` })
  expect((await verify(eager, { type: 'email_change', email: newEmail, token })).status).toBe(403)

  const [first, second] = [newPhone(), newPhone()]
  await put(eager, authorization, { phone: first })
  const code = await smsTo(first)
  await put(eager, authorization, { phone: second })
  expect((await verify(eager, { type: 'phone_change', phone: first, token: code })).status).toBe(403)
  const codes = await eager.app.db<{ to: string }>`select relates_to as "to" from auth.one_time_tokens where user_id = ${userId}`
  expect(codes.map(({ to }) => to).toSorted()).toEqual([second, `later-${newEmail}`])
})

test('of two accounts that want one address at once, the first to confirm gets it', async () => {
  const [one, two] = [await account(eager), await account(eager)]
  const email = `wanted-${one.newEmail}`
  const answers = await Promise.all([one, two].map(({ authorization }) => put(eager, authorization, { email })))
  expect(answers.map(({ status }) => status)).toEqual([200, 200])
  const codes = [codeIn(await mailTo(email)), codeIn(await mailTo(email))]
  const outcomes = await Promise.all(codes.map((token) => verify(eager, { type: 'email_change', email, token })))
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual([200, 422])
  expect(outcomes.find(({ status }) => status === 422)?.json()).toMatchObject({ error_code: 'email_exists' })
})

test('of two changes of one account at once the later one counts, with its codes alone', async () => {
  const { userId, authorization, newEmail } = await account(eager)
  const wanted = [newEmail, `other-${newEmail}`]
  await Promise.all(wanted.map((email) => put(eager, authorization, { email })))
  const { new_email: pending } = await show(eager, authorization)
  const codes = await eager.app.db<{ to: string }>`select relates_to as "to" from auth.one_time_tokens where user_id = ${userId}`
  expect(codes).toEqual([{ to: pending }])
})

test('somebody anonymous becomes permanent by confirming an address, with the id they had', async () => {
  const { userId, authorization, newEmail } = await account(service, anonymous)
  const answer = await put(service, authorization, { email: newEmail, password: 'the first password', data: { nick: 'ann' } })
  expect(answer.json()).toMatchObject({ email: '', new_email: newEmail, is_anonymous: true, identities: [] })
  const token = codeIn(await mailTo(newEmail))
  expect((await verify(service, { type: 'email_change', email: newEmail, token })).status).toBe(200)
  const permanent = await show(service, authorization)
  expect(permanent).toMatchObject({
    id: userId,
    email: newEmail,
    email_confirmed_at: service.now().toISOString(),
    is_anonymous: false,
    app_metadata: { provider: 'email', providers: ['email'] },
    user_metadata: { nick: 'ann', email: newEmail, email_verified: true },
    identities: [{ id: userId, provider: 'email', email: newEmail, identity_data: { sub: userId, email_verified: true } }],
  })
  const signIn = { json: { email: newEmail, password: 'the first password' } }
  expect((await service.call('POST /token?grant_type=password', signIn)).json()).toMatchObject({ user: { id: userId } })
})

test('somebody anonymous becomes permanent by confirming a number', async () => {
  const { userId, authorization } = await account(service, anonymous)
  const phone = newPhone()
  expect((await put(service, authorization, { phone: `+${phone}` })).json()).toMatchObject({
    phone: '',
    new_phone: phone,
    phone_change_sent_at: service.now().toISOString(),
  })
  expect((await verify(service, { type: 'phone_change', phone, token: await smsTo(phone) })).status).toBe(200)
  expect(await show(service, authorization)).toMatchObject({
    id: userId,
    phone,
    is_anonymous: false,
    app_metadata: { provider: 'phone', providers: ['phone'] },
    identities: [{ id: userId, provider: 'phone', identity_data: { phone, phone_verified: true } }],
  })
})

test('where nobody has to confirm, somebody anonymous has the address at once, and everybody else confirms still', async () => {
  const nobody = await account(trusting, anonymous)
  expect((await put(trusting, nobody.authorization, { email: nobody.newEmail })).json()).toMatchObject({
    email: nobody.newEmail,
    email_confirmed_at: trusting.now().toISOString(),
    is_anonymous: false,
    app_metadata: { provider: 'email', providers: ['email'] },
    identities: [{ provider: 'email', email: nobody.newEmail }],
  })
  const somebody = await account(trusting)
  const answer = await put(trusting, somebody.authorization, { email: somebody.newEmail })
  expect(answer.json()).toMatchObject({ email: somebody.email, new_email: somebody.newEmail })
  const token = codeIn(await mailTo(somebody.newEmail))
  expect((await verify(trusting, { type: 'email_change', email: somebody.newEmail, token })).status).toBe(200)
  expect(await show(trusting, somebody.authorization)).toMatchObject({ email: somebody.newEmail })
})

test('of ten people without an address who want the same at once, one gets it', async () => {
  const people = await Promise.all(Array.from({ length: 10 }, () => account(trusting, anonymous)))
  const email = `wanted-${people[0]?.newEmail}`
  const answers = await Promise.all(people.map(({ authorization }) => put(trusting, authorization, { email })))
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  const refusals = answers.filter(({ status }) => status !== 200).map((answer) => answer.json())
  for (const refusal of refusals) expect(refusal).toMatchObject({ code: 422, error_code: 'email_exists' })
})

test('where numbers are not confirmed, an account has it at once; of ten that want the same, one', async () => {
  const people = await Promise.all(Array.from({ length: 10 }, () => account(trusting)))
  const phone = newPhone()
  const answers = await Promise.all(people.map(({ authorization }) => put(trusting, authorization, { phone })))
  const [winner] = answers.filter(({ status }) => status === 200)
  expect(winner?.json()).toMatchObject({
    phone,
    phone_confirmed_at: trusting.now().toISOString(),
    app_metadata: { provider: 'email', providers: ['email', 'phone'] },
  })
  const refusals = answers.filter((answer) => answer !== winner).map((answer) => answer.json())
  for (const refusal of refusals) expect(refusal).toMatchObject({ code: 422, error_code: 'phone_exists' })
})

test('a number that is for tests gets no SMS and accepts its code', async () => {
  const { authorization } = await account(eager)
  expect((await put(eager, authorization, { phone: '4500000000' })).status).toBe(200)
  expect((await verify(eager, { type: 'phone_change', phone: '4500000000', token: '123456' })).status).toBe(200)
  expect(gateway.requests.some(({ body }) => body.includes('4500000000'))).toBe(false)
})

test('a client that sends a challenge gets links that it has to prove', async () => {
  const { authorization, newEmail } = await account(eager)
  const challenge = { code_challenge: 'a'.repeat(43), code_challenge_method: 's256' }
  await put(eager, authorization, { email: newEmail, ...challenge })
  const { links } = await mailTo(newEmail)
  expect(links[0]).toContain('token=pkce_')
})

test.each([
  [{ email: 'nobody' }, 'Unable to validate email address: invalid format'],
  [{ phone: '123abc' }, 'Invalid phone number format (E.164 required)'],
  [{ phone: '4511111111', channel: 'pigeon' }, /^Invalid channel/],
  [{ phone: '4511111111', channel: 'whatsapp' }, /^Invalid channel/],
  [{ email: 'a@site.test', code_challenge: 'a'.repeat(43) }, /^PKCE flow requires/],
])('%j is refused with a reason', async (wish, reason) => {
  const { authorization } = await account(service)
  const { code, error_code: error, msg } = (await put(service, authorization, wish)).json()
  expect([code, error]).toEqual([400, 'validation_failed'])
  expect(msg).toMatch(reason)
})

test('where nobody delivers SMS, no number can be confirmed', async () => {
  const mute = await startIdentity()
  const { authorization } = await account(mute)
  const answer = await put(mute, authorization, { phone: '4511111111' })
  expect(answer.json()).toMatchObject({ code: 400, error_code: 'phone_provider_disabled' })
  await mute.stop()
})

test('codes are in no log and no table', async () => {
  const { authorization, newEmail } = await account(eager)
  const phone = newPhone()
  expect((await put(eager, authorization, { email: newEmail, phone })).status).toBe(200)
  const mail = await mailTo(newEmail)
  const link = new URL(mail.links.find((each) => each.includes('/verify')) ?? '').searchParams.get('token') ?? ''
  const secrets = [codeIn(mail), link, await smsTo(phone)]
  const [row] = await eager.app.db<{ text: string }>`
    select string_agg(query_to_xml(format('select * from auth.%I', table_name), true, false, '')::text, '') as text
    from information_schema.tables where table_schema = 'auth' and table_type = 'BASE TABLE'`
  expect(row?.text).toContain(newEmail)
  for (const secret of secrets) {
    expect(secret).toMatch(/^[0-9a-f]{10,}$/)
    expect(row?.text).not.toContain(secret)
    expect(JSON.stringify(eager.lines)).not.toContain(secret)
  }
})
