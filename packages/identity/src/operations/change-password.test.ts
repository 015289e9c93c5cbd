import { type SmtpSink, startSmtpSink } from '@tollgate/kit/smtp-sink'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findUser, lockUser } from '../store/users.ts'
import { createAccount, signIn, startIdentity } from '../testing.ts'
import { preparePassword, setPreparedPassword } from './change-password.ts'
import { startSession } from './start-session.ts'

type Started = Awaited<ReturnType<typeof startIdentity>>

let sink: SmtpSink
let service: Started
let withNonce: Started
let withCurrent: Started

beforeAll(async () => {
  sink = await startSmtpSink()
  const mail = {
    AUTH_SMTP_PORT: String(sink.port),
    AUTH_RATE_LIMIT_EMAIL_SENT: '1000',
    AUTH_MAILER_NOTIFICATIONS_PASSWORD_CHANGED_ENABLED: 'true',
    AUTH_MAILER_OTP_LENGTH: '10',
    AUTH_PASSWORD_HASH_QUEUE: '1000',
  }
  service = await startIdentity(mail)
  withNonce = await startIdentity({ ...mail, AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_REAUTHENTICATION: 'true' })
  withCurrent = await startIdentity({ ...mail, AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_CURRENT_PASSWORD: 'true' })
})
afterAll(async () => {
  await Promise.all([service.stop(), withNonce.stop(), withCurrent.stop()])
  await sink.close()
})

const put = (at: Started, authorization: string, json: object) => at.call('PUT /user', { headers: { authorization }, json })

async function accountWithPassword(at: Started, password = 'the old password') {
  const account = await createAccount(at, { passwordHash: await at.app.passwords.hash(password) })
  return { ...account, email: `${account.userId}@site.test` }
}

async function hashOf({ app }: Started, userId: string): Promise<string> {
  const [row] = await app.db<{ hash: string }>`select encrypted_password as hash from auth.users where id = ${userId}`
  return row?.hash ?? ''
}

async function opens(at: Started, userId: string, password: string): Promise<boolean> {
  return (await at.app.passwords.verify(password, await hashOf(at, userId))).matches
}

async function sessionsOf({ app }: Started, userId: string): Promise<string[]> {
  return (await app.db<{ id: string }>`select id from auth.sessions where user_id = ${userId}`).map(({ id }) => id)
}

async function auditsOf({ app }: Started, userId: string): Promise<string[]> {
  const rows = await app.db<{ action: string }>`
    select payload ->> 'action' as action from auth.audit_log_entries where payload ->> 'actor_id' = ${userId}`
  return rows.map(({ action }) => action).toSorted()
}

/** Asks for a nonce, and reads it in the mail. */
async function fetchNonce(at: Started, { authorization, email }: { authorization: string; email: string }): Promise<string> {
  expect((await at.call('GET /reauthenticate', { headers: { authorization } })).status).toBe(200)
  const { subject } = await sink.next(({ to, subject }) => to.includes(email) && subject.endsWith('is your verification code'))
  return /^\d{10}/.exec(subject)?.[0] ?? ''
}

test('a new password opens the account, the old one does not, and who changed it is written down and told', async () => {
  const { userId, email, authorization } = await accountWithPassword(service)
  const answer = await put(service, authorization, { password: 'the new password' })
  expect(answer.status).toBe(200)
  expect(answer.json()).toMatchObject({ id: userId, email })
  expect(answer.text).not.toMatch(/argon2|password/)
  expect(await opens(service, userId, 'the new password')).toBe(true)
  expect(await opens(service, userId, 'the old password')).toBe(false)
  expect(await auditsOf(service, userId)).toEqual(['user_modified', 'user_updated_password'])
  expect((await sink.next(({ to }) => to.includes(email))).subject).toBe('Your password was changed')
})

test('a new password ends all sessions but the one that asks', async () => {
  const { userId, sessionId, authorization } = await accountWithPassword(service)
  await signIn(service, userId)
  await put(service, authorization, { password: 'the new password' })
  expect(await sessionsOf(service, userId)).toEqual([sessionId])
})

test('a new password set with a token that has no session ends all sessions', async () => {
  const { userId } = await accountWithPassword(service)
  const token = service.app.keys.sign({ sub: userId, aud: 'authenticated', role: 'authenticated' })
  expect((await put(service, `Bearer ${token}`, { password: 'the new password' })).status).toBe(200)
  expect(await sessionsOf(service, userId)).toEqual([])
})

test('a new password ends what was under way: codes, and changes that waited for them', async () => {
  const { userId, authorization } = await accountWithPassword(service)
  expect((await put(service, authorization, { email: `new-${userId}@site.test` })).json()).toHaveProperty('new_email')
  const { text } = await put(service, authorization, { password: 'the new password' })
  expect(text).not.toMatch(/new_email|email_change_sent_at/)
  expect(await service.app.db`select from auth.one_time_tokens where user_id = ${userId}`).toHaveLength(0)
})

test('the same password again is refused, and ends nothing', async () => {
  const { userId, authorization } = await accountWithPassword(service)
  await signIn(service, userId)
  const answer = await put(service, authorization, { password: 'the old password' })
  expect(answer.json()).toMatchObject({ code: 422, error_code: 'same_password' })
  expect(await sessionsOf(service, userId)).toHaveLength(2)
})

test.each([
  ['too short', '12345', 422, 'weak_password'],
  ['empty', '', 422, 'weak_password'],
  ['too long', 'x'.repeat(73), 400, 'validation_failed'],
])('a password that is %s is refused before anything is hashed', async (_, password, code, error) => {
  const { authorization } = await accountWithPassword(service)
  const before = service.app.passwords.stats()
  expect((await put(service, authorization, { password })).json()).toMatchObject({ code, error_code: error })
  expect(service.app.passwords.stats()).toEqual(before)
})

test('somebody without a password sets their first one', async () => {
  for (const passwordHash of [null, '']) {
    const { userId, authorization } = await createAccount(withCurrent, { passwordHash })
    expect((await put(withCurrent, authorization, { password: 'the first password' })).status).toBe(200)
    expect(await opens(withCurrent, userId, 'the first password')).toBe(true)
  }
})

test('somebody anonymous sets no password without an address', async () => {
  const { authorization } = await createAccount(service, {
    email: null,
    emailConfirmedAt: null,
    isAnonymous: true,
    identities: [],
  })
  expect((await put(service, authorization, { password: 'the new password' })).json()).toMatchObject({
    code: 422,
    error_code: 'validation_failed',
    msg: 'Updating password of an anonymous user without an email or phone is not allowed',
  })
})

test('of two new passwords at once each is set against the one before it', async () => {
  const { userId, authorization } = await accountWithPassword(service)
  const answers = await Promise.all(
    ['the same new password', 'the same new password'].map((password) => put(service, authorization, { password })),
  )
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 422])
  expect(await opens(service, userId, 'the same new password')).toBe(true)
})

test('a password that somebody else replaces meanwhile is no longer the current one', async () => {
  const { userId, authorization } = await accountWithPassword(withCurrent)
  const answers = await Promise.all(
    ['new password one', 'new password two', 'new password three'].map((password) =>
      put(withCurrent, authorization, { password, current_password: 'the old password' }),
    ),
  )
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400, 400])
  expect(await opens(withCurrent, userId, 'the old password')).toBe(false)
})

test.each([
  ['missing', {}, 'current_password_required'],
  ['empty', { current_password: '' }, 'current_password_required'],
  ['wrong', { current_password: 'a wrong password' }, 'current_password_invalid'],
  ['too long to be one', { current_password: 'x'.repeat(100_000) }, 'current_password_invalid'],
])('where the current password is asked for, one that is %s is refused', async (_, given, error) => {
  const { userId, authorization } = await accountWithPassword(withCurrent)
  const answer = await put(withCurrent, authorization, { password: 'the new password', ...given })
  expect(answer.json()).toMatchObject({ code: 400, error_code: error })
  expect(await opens(withCurrent, userId, 'the old password')).toBe(true)
})

test('where the current password is asked for, it lets another one be set, but not itself', async () => {
  const { authorization } = await accountWithPassword(withCurrent)
  const current = { current_password: 'the old password' }
  const same = await put(withCurrent, authorization, { password: 'the old password', ...current })
  expect(same.json()).toMatchObject({ code: 422, error_code: 'same_password' })
  expect((await put(withCurrent, authorization, { password: 'the new password', ...current })).status).toBe(200)
})

test.each([
  ['otp', 200],
  ['magiclink', 200],
  ['recovery', 200],
  ['password', 400],
  ['oauth', 400],
])('a session that was entered by %s sets a password without the current one: %i', async (method, status) => {
  const { userId } = await accountWithPassword(withCurrent)
  const user = await findUser(withCurrent.app.db, userId)
  if (!user) throw new Error('There is no such account')
  const origin = { userAgent: '', address: null }
  const { accessToken } = await startSession(withCurrent.app, withCurrent.app.db, { user, method, origin })
  expect((await put(withCurrent, `Bearer ${accessToken}`, { password: 'the new password' })).status).toBe(status)
})

test('where a nonce is asked for, a password without one is refused, however new the session', async () => {
  const { authorization } = await accountWithPassword(withNonce)
  const answer = await put(withNonce, authorization, { password: 'the new password' })
  expect(answer.json()).toMatchObject({ code: 400, error_code: 'reauthentication_needed' })
})

test('a nonce sets one password, once', async () => {
  const account = await accountWithPassword(withNonce)
  const nonce = await fetchNonce(withNonce, account)
  expect((await put(withNonce, account.authorization, { password: 'the new password', nonce })).status).toBe(200)
  const again = await put(withNonce, account.authorization, { password: 'another password', nonce })
  expect(again.json()).toMatchObject({ code: 422, error_code: 'reauthentication_not_valid' })
  expect(await opens(withNonce, account.userId, 'the new password')).toBe(true)
})

test('twenty uses of one nonce at once: one passes', async () => {
  const account = await accountWithPassword(withNonce)
  const nonce = await fetchNonce(withNonce, account)
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) => put(withNonce, account.authorization, { password: `new password ${n}`, nonce })),
  )
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  const refusals = new Set(answers.filter(({ status }) => status !== 200).map((answer) => answer.json().error_code))
  expect([...refusals]).toEqual(['reauthentication_not_valid'])
})

test('after five wrong nonces the right one is worth nothing', async () => {
  const account = await accountWithPassword(withNonce)
  const nonce = await fetchNonce(withNonce, account)
  for (let n = 0; n < 5; n++) {
    const wrong = await put(withNonce, account.authorization, { password: 'the new password', nonce: 'x' })
    expect(wrong.json()).toMatchObject({ code: 422, error_code: 'reauthentication_not_valid' })
  }
  expect((await put(withNonce, account.authorization, { password: 'the new password', nonce })).status).toBe(422)
})

test('somebody else’s nonce is refused', async () => {
  const nonce = await fetchNonce(withNonce, await accountWithPassword(withNonce))
  const { authorization } = await accountWithPassword(withNonce)
  expect((await put(withNonce, authorization, { password: 'the new password', nonce })).status).toBe(422)
})

test.each([
  ['used elsewhere', false],
  ['sent to an address that is theirs no longer', true],
])('a nonce that was %s while the password was hashed is worth nothing', async (_, moved) => {
  const { app } = withNonce
  const account = await accountWithPassword(withNonce)
  const user = await findUser(app.db, account.userId)
  if (!user) throw new Error('There is no such account')
  const wish = { password: 'the new password', nonce: await fetchNonce(withNonce, account), currentPassword: '' }
  const prepared = await preparePassword(app, { user, sessionId: account.sessionId, claims: {} }, wish)
  if (moved) await app.db`update auth.users set email = ${`moved-${user.email}`} where id = ${user.id}`
  else await app.db`delete from auth.one_time_tokens where user_id = ${user.id}`
  const setting = app.db.begin(async (tx) => {
    const locked = await lockUser(tx, user.id)
    return locked && setPreparedPassword(app, tx, { user: locked, sessionId: account.sessionId, address: null }, prepared)
  })
  await expect(setting).rejects.toMatchObject({ code: 'reauthentication_not_valid' })
  expect(await opens(withNonce, user.id, 'the old password')).toBe(true)
})

test('a nonce expires with the codes of mails', async () => {
  const account = await accountWithPassword(withNonce)
  const nonce = await fetchNonce(withNonce, account)
  withNonce.now.advance(withNonce.app.config.smtp.mailer.otpLifetime + 1)
  const { authorization } = await signIn(withNonce, account.userId)
  expect((await put(withNonce, authorization, { password: 'the new password', nonce })).status).toBe(422)
})

test('neither password nor nonce nor hash is in the log, and neither password nor nonce in a table', async () => {
  const account = await accountWithPassword(withNonce, 'zebra-crossing-old')
  const nonce = await fetchNonce(withNonce, account)
  await put(withNonce, account.authorization, { password: 'zebra-crossing-old', nonce })
  await put(withNonce, account.authorization, { password: 'zebra-crossing-new', nonce: `${nonce}0` })
  const hashBefore = await hashOf(withNonce, account.userId)
  expect((await put(withNonce, account.authorization, { password: 'zebra-crossing-new', nonce })).status).toBe(200)
  const log = JSON.stringify(withNonce.lines)
  for (const secret of ['zebra-crossing', nonce, hashBefore, await hashOf(withNonce, account.userId)])
    expect(log).not.toContain(secret)
  const kept = await everything(withNonce)
  expect(kept).toContain(account.email)
  expect(kept).not.toContain('zebra-crossing')
  expect(kept).not.toContain(nonce)
})

/** All rows of all tables, as text. */
async function everything({ app }: Started): Promise<string> {
  const [row] = await app.db<{ text: string }>`
    select string_agg(query_to_xml(format('select * from auth.%I', table_name), true, false, '')::text, '') as text
    from information_schema.tables where table_schema = 'auth' and table_type = 'BASE TABLE'`
  return row?.text ?? ''
}
