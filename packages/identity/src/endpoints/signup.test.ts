import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { adminAuthorization, startIdentity, startWithInbox } from '../testing.ts'

let service: Awaited<ReturnType<typeof startWithInbox>>
let open: Awaited<ReturnType<typeof startIdentity>>
let closed: Awaited<ReturnType<typeof startIdentity>>
let picky: Awaited<ReturnType<typeof startIdentity>>

beforeAll(async () => {
  service = await startWithInbox()
  open = await startIdentity({
    AUTH_MAILER_AUTOCONFIRM: 'true',
    AUTH_SMS_AUTOCONFIRM: 'true',
    AUTH_EXTERNAL_PHONE_ENABLED: 'true',
    AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
  })
  closed = await startIdentity({ AUTH_DISABLE_SIGNUP: 'true', AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true' })
  picky = await startIdentity({ AUTH_PASSWORD_FORBIDDEN_WORDS: 'Rocket, acme' })
})
afterAll(() => Promise.all([service.stop(), open.stop(), closed.stop(), picky.stop()]))

const password = 'correct horse'
const newEmail = () => `${randomUUID()}@site.test`
let lastPhone = 4_520_000_000
const newPhone = () => String(++lastPhone)

type Told = Record<string, unknown> & { id: string; identities: Record<string, unknown>[] }
const signUp = async (json: object, path = '/signup') => {
  const answer = await service.call(`POST ${path}`, { json })
  return { status: answer.status, told: answer.json<Told>() }
}

describe('with an email address', () => {
  test('a newcomer is told about the account, and gets a mail with a link and a code', async () => {
    const email = newEmail()
    const { status, told } = await signUp({ email: ` ${email.toUpperCase()} `, password, data: { nick: 'ann', email: 'x' } })
    expect(status).toBe(200)
    const data = { sub: told.id, email, email_verified: false, phone_verified: false, nick: 'ann' }
    expect(told).toMatchObject({
      aud: 'authenticated',
      role: 'authenticated',
      email,
      phone: '',
      confirmation_sent_at: service.now().toISOString(),
      app_metadata: { provider: 'email', providers: ['email'] },
      user_metadata: data,
      identities: [{ id: told.id, user_id: told.id, provider: 'email', identity_data: data, email }],
      is_anonymous: false,
    })
    expect(told).not.toHaveProperty('email_confirmed_at')
    const { link, code, type, redirectTo, mail } = await service.mailTo(email)
    expect(link).toMatch(/^https:\/\/auth\.site\.test\/verify\?token=[0-9a-f]{56}&type=signup&redirect_to=/)
    expect([code.length, type, redirectTo, mail.subject]).toEqual([6, 'signup', 'https://site.test', 'Confirm Your Signup'])
  })

  test('nothing that opens the account can be read in the database or the log', async () => {
    const email = newEmail()
    await signUp({ email, password })
    const { code, token } = await service.mailTo(email)
    const { db } = service.app
    const tables = ['users', 'one_time_tokens', 'messages', 'jobs', 'sendings', 'audit_log_entries', 'flow_state']
    const rows = await Promise.all([
      db`select to_jsonb(t)::text as row from auth.users t`,
      db`select to_jsonb(t)::text as row from auth.one_time_tokens t`,
      db`select to_jsonb(t)::text as row from auth.messages t`,
      db`select to_jsonb(t)::text as row from auth.jobs t`,
      db`select to_jsonb(t)::text as row from auth.audit_log_entries t`,
    ])
    const all = JSON.stringify([rows, service.lines, tables])
    for (const secret of [password, token, `"${code}"`]) expect(all).not.toContain(secret)
  })

  test('somebody who has not confirmed yet is told the same, and gets another mail once the interval is over', async () => {
    const email = newEmail()
    const first = await signUp({ email, password, data: { nick: 'ann' } })
    const old = await service.mailTo(email)
    expect((await signUp({ email, password: 'another one', data: { nick: 'eve' } })).status).toBe(429)
    service.now.advance(900)
    const { status, told } = await signUp({ email, password: 'another one', data: { nick: 'eve' } })
    expect(status).toBe(200)
    expect(told).toMatchObject({ id: first.told.id, user_metadata: { nick: 'eve' }, created_at: service.now().toISOString() })
    const { code, token } = await service.mailTo(email)
    expect([old.code, old.token]).not.toEqual([code, token])
    const answer = await service.call('POST /verify', { json: { type: 'signup', token_hash: old.token } })
    expect(answer.json()).toMatchObject({ error_code: 'otp_expired' })
  })

  test('an account that exists is answered like a newcomer, field for field, and alike every time; no mail goes out', async () => {
    const [known, fresh] = [newEmail(), newEmail()]
    const mine = await signUp({ email: known, password })
    const { token } = await service.mailTo(known)
    await service.call('POST /verify', { json: { type: 'signup', token_hash: token } })
    service.now.advance(900)
    const decoy = await signUp({ email: known, password, data: { nick: 'eve' } })
    const real = await signUp({ email: fresh, password, data: { nick: 'eve' } })
    expect(decoy.status).toBe(200)
    const shape = (told: Told) =>
      JSON.stringify(told, (_, value) =>
        typeof value === 'string' ? value.replace(/[0-9a-f]/g, '0').replace(/0+/g, '0') : value,
      )
    expect(shape(decoy.told).replaceAll(known, '')).toBe(shape(real.told).replaceAll(fresh, ''))
    expect(decoy.told.id).not.toBe(mine.told.id)
    expect(decoy.told.created_at).toBe(real.told.created_at)

    service.now.advance(900)
    const again = await signUp({ email: known, password, data: { nick: 'eve' } })
    const settled = (told: Told, moment: unknown) => JSON.stringify(told).replaceAll(String(moment), 'now')
    expect(settled(again.told, again.told.created_at)).toBe(settled(decoy.told, decoy.told.created_at))
    await service.mailTo(fresh)
    expect(service.mails.mails().filter(({ to }) => to.includes(known))).toHaveLength(1)
  })

  test('where time goes on, the dates of both are as far apart', async () => {
    const own = await startWithInbox({ AUTH_SMTP_MAX_FREQUENCY: '0' })
    const still = own.now()
    let ticks = 0
    for (const app of own.apps) app.now = () => new Date(still.getTime() + ++ticks)
    const apart = async (email: string) => {
      const told = (await own.call('POST /signup', { json: { email, password } })).json<Record<string, string>>()
      return Date.parse(told.confirmation_sent_at ?? '') > Date.parse(told.created_at ?? '')
    }
    const email = newEmail()
    expect(await apart(email)).toBe(true)
    expect(await apart(email)).toBe(true)
    await own.app.db`update auth.users set email_confirmed_at = ${still} where email = ${email}`
    expect(await apart(email)).toBe(true)
    await own.stop()
  })

  test('whoever wants the reference’s decoys gets its empty identities', async () => {
    const own = await startWithInbox({ AUTH_SECURITY_SIGNUP_DECOY: 'reference', AUTH_SMTP_MAX_FREQUENCY: '0' })
    const email = newEmail()
    await own.call('POST /signup', { json: { email, password } })
    const { token } = await own.mailTo(email)
    await own.call('POST /verify', { json: { type: 'signup', token_hash: token } })
    const answer = await own.call('POST /signup', { json: { email, password } })
    await own.stop()
    expect(answer.json<Told>().identities).toEqual([])
  })

  test('what is written about somebody who was invited is not told to whoever types their address', async () => {
    const email = newEmail()
    const headers = { authorization: adminAuthorization(service) }
    await service.call('POST /invite', { json: { email, data: { salary: 'high' } }, headers })
    const { status, told } = await signUp({ email, password })
    expect(status).toBe(200)
    expect(JSON.stringify(told)).not.toMatch(/salary|invited_at/)
  })

  test('twenty sign-ups at once make one account and send one mail', async () => {
    const email = newEmail()
    const answers = await Promise.all(Array.from({ length: 20 }, () => signUp({ email, password })))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array.from({ length: 19 }, () => 429)])
    expect(await service.app.db`select from auth.users where email = ${email}`).toHaveLength(1)
  })

  test('with a code challenge, the link leads back to whoever began', async () => {
    const email = newEmail()
    const challenge = { code_challenge: 'a'.repeat(43), code_challenge_method: 's256' }
    expect((await signUp({ email, password, ...challenge })).status).toBe(200)
    expect((await service.mailTo(email)).token).toMatch(/^pkce_[0-9a-f]{56}$/)
  })

  test('the link leads where redirect_to says, if that is allowed', async () => {
    const [one, other] = [newEmail(), newEmail()]
    await signUp({ email: one, password }, '/signup?redirect_to=https://site.test/welcome?a=1%26b=2')
    expect((await service.mailTo(one)).redirectTo).toBe('https://site.test/welcome?a=1&b=2')
    await signUp({ email: other, password }, '/signup?redirect_to=https://evil.test/')
    expect((await service.mailTo(other)).redirectTo).toBe('https://site.test')
  })
})

describe('with a phone number', () => {
  test('a newcomer gets a code by SMS, and is known by digits alone', async () => {
    const phone = newPhone()
    const { status, told } = await signUp({ phone: `+${phone.slice(0, 2)} (${phone.slice(2, 5)}) ${phone.slice(5)}`, password })
    expect([status, told.phone, told.email]).toEqual([200, phone, ''])
    expect(await service.nextSms()).toMatchObject({ to: phone, text: expect.stringMatching(/^Your code is \d{6}$/) })
    expect((await signUp({ phone, password })).status).toBe(429)
  })
})

describe('where nothing has to be confirmed', () => {
  test('whoever joins is in', async () => {
    const email = newEmail()
    const answer = await open.call('POST /signup', { json: { email, password } })
    expect(answer.status).toBe(200)
    const told = answer.json<{ access_token: string; user: Told }>()
    expect(told).toMatchObject({
      token_type: 'bearer',
      expires_in: 3600,
      user: { email, email_confirmed_at: open.now().toISOString() },
    })
    expect(answer.headers['sb-auth-user-id']).toBe(told.user.id)
    const me = await open.call('GET /user', { headers: { authorization: `Bearer ${told.access_token}` } })
    expect(me.json()).toMatchObject({ id: told.user.id, user_metadata: { email_verified: true } })
  })

  test.each([
    ['an email address', 422, () => ({ email: newEmail() })],
    ['a phone number', 400, () => ({ phone: newPhone() })],
  ])('%s that is taken is refused with %i', async (_, status, contact) => {
    const json = { ...contact(), password }
    expect((await open.call('POST /signup', { json })).status).toBe(200)
    const answer = await open.call('POST /signup', { json })
    expect([answer.status, answer.json()]).toEqual([
      status,
      { code: status, error_code: 'user_already_exists', msg: 'User already registered' },
    ])
  })
})

describe('without either', () => {
  test('somebody may begin without saying who they are', async () => {
    const answer = await open.call('POST /signup', { json: { data: { theme: 'dark' } } })
    expect(answer.status).toBe(200)
    expect(answer.json()).toMatchObject({
      user: { is_anonymous: true, email: '', phone: '', identities: [], app_metadata: {}, user_metadata: { theme: 'dark' } },
    })
  })

  test('but not where that is not wanted', async () => {
    expect((await service.call('POST /signup', { json: {} })).json()).toMatchObject({
      code: 422,
      error_code: 'anonymous_provider_disabled',
    })
    expect((await closed.call('POST /signup', { json: {} })).json()).toMatchObject({ code: 422, error_code: 'signup_disabled' })
  })
})

test.each<[string, object, number, string, string]>([
  ['no password', { email: 'a@b.test' }, 400, 'validation_failed', 'Signup requires a valid password'],
  [
    'a password of five letters',
    { email: 'a@b.test', password: 'abcde' },
    422,
    'weak_password',
    'Password should be at least 6 characters.',
  ],
  [
    'a password of 73 bytes',
    { email: 'a@b.test', password: 'x'.repeat(73) },
    400,
    'validation_failed',
    'Password cannot be longer than 72 characters',
  ],
  [
    'both contacts',
    { email: 'a@b.test', phone: '4512345678', password },
    400,
    'validation_failed',
    'Only an email address or phone number should be provided on signup.',
  ],
  [
    'an address that is none',
    { email: 'nobody', password },
    400,
    'validation_failed',
    'Unable to validate email address: invalid format',
  ],
  [
    'a number that is none',
    { phone: '0123', password },
    400,
    'validation_failed',
    'Invalid phone number format (E.164 required)',
  ],
  [
    'half a challenge',
    { email: 'a@b.test', password, code_challenge: 'x' },
    400,
    'validation_failed',
    'PKCE flow requires code_challenge_method and code_challenge',
  ],
  [
    'a challenge by phone',
    { phone: '4512345678', password, code_challenge: 'a'.repeat(43), code_challenge_method: 'S256' },
    400,
    'validation_failed',
    'PKCE not supported for phone signups',
  ],
  [
    'a channel that nobody has',
    { phone: '4512345678', password, channel: 'pigeon' },
    400,
    'validation_failed',
    expect.stringContaining('Invalid channel') as unknown as string,
  ],
  ['an address as a number', { email: 7, password }, 400, 'bad_json', expect.any(String) as unknown as string],
  ['data as a list', { email: 'a@b.test', password, data: [] }, 400, 'bad_json', expect.any(String) as unknown as string],
])('%s is refused', async (_, json, status, error_code, msg) => {
  const { told } = await signUp(json)
  expect(told).toMatchObject({ code: status, error_code, msg })
})

test('a weak password comes with its reasons, in both forms of an error', async () => {
  const json = { email: newEmail(), password: 'abc' }
  const weak_password = { reasons: ['length'] }
  expect((await service.call('POST /signup', { json })).json()).toMatchObject({ error_code: 'weak_password', weak_password })
  const newer = await service.call('POST /signup', { json, headers: { 'x-supabase-api-version': '2024-01-01' } })
  expect(newer.json()).toMatchObject({ code: 'weak_password', weak_password })
})

test('a password with a word that the operator forbids is refused, and no word is told', async () => {
  const answer = await picky.call('POST /signup', { json: { email: newEmail(), password: 'My-ROCKETS-fly-7' } })
  expect(answer.json()).toEqual({
    code: 422,
    error_code: 'weak_password',
    msg: 'Password contains a word that is too easy to guess here.',
    weak_password: { reasons: ['words'] },
  })
})

test('where signing up is disabled, it is', async () => {
  const answer = await closed.call('POST /signup', { json: { email: newEmail(), password } })
  expect(answer.json()).toEqual({ code: 422, error_code: 'signup_disabled', msg: 'Signups not allowed for this instance' })
})
