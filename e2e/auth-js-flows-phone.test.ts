import type { Session } from '@supabase/auth-js'
import { startWithInbox } from '@tollgate/identity/testing'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { newClient, newNumber, pass, shareClock } from './auth-js-client.ts'

// Everything that goes by SMS.
let service: Awaited<ReturnType<typeof startWithInbox>>
beforeAll(async () => {
  service = await startWithInbox({
    AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
    AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_REAUTHENTICATION: 'true',
    AUTH_SMS_TEST_OTP: '4500000001:123456',
  })
  shareClock(service)
})
afterAll(async () => {
  vi.useRealTimers()
  await service.stop()
})

const client = (options: Parameters<typeof newClient>[1] = {}) => newClient(service, options)

const password = 'correct horse'
const digits = (phone: string) => phone.slice(1)

/** The code in the next SMS, which goes to this number. */
async function codeTo(phone: string): Promise<string> {
  const { to, code } = await service.nextSms()
  expect(to.replace('+', '')).toBe(digits(phone))
  return code
}

async function join(phone = newNumber()) {
  const auth = client()
  await auth.signUp({ phone, password })
  const { data, error } = await auth.verifyOtp({ type: 'sms', phone, token: await codeTo(phone) })
  expect(error).toBeNull()
  return { auth, phone, id: data.user?.id ?? '', session: data.session as Session }
}

const nobody = { user: null, session: null }
const expired = { name: 'AuthApiError', status: 403, code: 'otp_expired', message: 'Token has expired or is invalid' }
const tooSoon = { name: 'AuthApiError', status: 429, code: 'over_sms_send_rate_limit' }

test('a sign-up is confirmed by the code that came by SMS', async () => {
  const auth = client()
  const phone = newNumber()
  const { data, error } = await auth.signUp({ phone, password, options: { data: { nick: 'ann' } } })
  expect(error).toBeNull()
  expect(data).toMatchObject({ session: null, user: { phone: digits(phone), user_metadata: { nick: 'ann' } } })
  const token = await codeTo(phone)
  expect((await auth.signInWithPassword({ phone, password })).error).toMatchObject({
    name: 'AuthApiError',
    status: 400,
    code: 'phone_not_confirmed',
  })
  const verified = await auth.verifyOtp({ type: 'sms', phone, token })
  expect(verified).toMatchObject({
    error: null,
    data: { user: { id: data.user?.id, phone: digits(phone) }, session: { token_type: 'bearer', expires_in: 3600 } },
  })
  expect(verified.data.user?.phone_confirmed_at).toBeDefined()
  expect((await auth.getUser()).data.user?.identities).toMatchObject([{ provider: 'phone' }])
  expect((await client().signInWithPassword({ phone, password })).error).toBeNull()
  expect((await client().verifyOtp({ type: 'sms', phone, token })).error).toMatchObject(expired)
})

test('somebody signs in with a code by SMS, and is signed up on the way', async () => {
  const phone = newNumber()
  expect(await client().signInWithOtp({ phone, options: { data: { nick: 'bob' } } })).toMatchObject({ data: nobody, error: null })
  const { data } = await client().verifyOtp({ type: 'sms', phone, token: await codeTo(phone) })
  expect(data).toMatchObject({ user: { user_metadata: { nick: 'bob' } }, session: { expires_in: 3600 } })
  pass(service, 61)
  await client({ flowType: 'pkce' }).signInWithOtp({ phone })
  const again = await client().verifyOtp({ type: 'sms', phone, token: await codeTo(phone) })
  expect(again.data.user?.id).toBe(data.user?.id)
})

test('somebody unknown who is not to be signed up is answered alike, and gets nothing', async () => {
  const { phone } = await join()
  pass(service, 61)
  const unknown = newNumber()
  const options = { shouldCreateUser: false }
  expect(await client().signInWithOtp({ phone: unknown, options })).toEqual(await client().signInWithOtp({ phone, options }))
  // The next SMS of all is the one to the number that is known.
  expect(await codeTo(phone)).toMatch(/^\d{6}$/)
  expect((await client().signInWithOtp({ phone: unknown, options })).error).toMatchObject(tooSoon)
})

test('a code is over after a minute, and after a few wrong ones', async () => {
  const phone = newNumber()
  await client().signInWithOtp({ phone })
  const token = await codeTo(phone)
  pass(service, 61)
  expect(await client().verifyOtp({ type: 'sms', phone, token })).toMatchObject({ data: nobody, error: expired })
  await client().signInWithOtp({ phone })
  const second = await codeTo(phone)
  const wrong = second === '000000' ? '000001' : '000000'
  for (let guess = 0; guess < 20; guess++)
    expect((await client().verifyOtp({ type: 'sms', phone, token: wrong })).error).toMatchObject(expired)
  expect((await client().verifyOtp({ type: 'sms', phone, token: second })).error).toMatchObject(expired)
})

test('a number for tests gets no SMS, and is entered with its own code', async () => {
  const phone = '+4500000001'
  expect((await client().signInWithOtp({ phone })).error).toBeNull()
  expect((await client().verifyOtp({ type: 'sms', phone, token: '123456' })).data.user?.phone).toBe(digits(phone))
  const next = newNumber()
  await client().signInWithOtp({ phone: next })
  // The next SMS of all is this one.
  expect(await codeTo(next)).toMatch(/^\d{6}$/)
})

test('a new number counts once its code was entered', async () => {
  const { auth, phone, id } = await join()
  const newPhone = newNumber()
  const { data, error } = await auth.updateUser({ phone: newPhone })
  expect(error).toBeNull()
  expect(data.user).toMatchObject({ phone: digits(phone), new_phone: digits(newPhone) })
  const token = await codeTo(newPhone)
  expect((await auth.verifyOtp({ type: 'sms', phone: newPhone, token })).error).toMatchObject(expired)
  expect(await auth.verifyOtp({ type: 'phone_change', phone: newPhone, token })).toMatchObject({
    error: null,
    data: { user: { id, phone: digits(newPhone) }, session: { user: { phone: digits(newPhone) } } },
  })
  expect((await client().signInWithPassword({ phone: newPhone, password })).error).toBeNull()
  expect((await client().signInWithPassword({ phone, password })).error).toMatchObject({ code: 'invalid_credentials' })
})

test('a number makes somebody anonymous permanent', async () => {
  const auth = client()
  const { data: before } = await auth.signInAnonymously()
  const phone = newNumber()
  await auth.updateUser({ phone })
  const { data } = await auth.verifyOtp({ type: 'phone_change', phone, token: await codeTo(phone) })
  expect(data.user).toMatchObject({ id: before.user?.id, is_anonymous: false, identities: [{ provider: 'phone' }] })
})

test('the code of a sign-up is sent again after the interval', async () => {
  const auth = client()
  const phone = newNumber()
  await auth.signUp({ phone, password })
  const first = await codeTo(phone)
  expect((await auth.resend({ type: 'sms', phone })).error).toMatchObject(tooSoon)
  pass(service, 61)
  const { data, error } = await auth.resend({ type: 'sms', phone })
  expect(error).toBeNull()
  expect(data.messageId).toMatch(/^[0-9a-f-]{36}$/)
  const second = await codeTo(phone)
  if (first !== second) expect((await auth.verifyOtp({ type: 'sms', phone, token: first })).error).toMatchObject(expired)
  expect((await auth.verifyOtp({ type: 'sms', phone, token: second })).error).toBeNull()
})

test('the code for a new number is sent again to that number', async () => {
  const { auth, phone } = await join()
  const newPhone = newNumber()
  await auth.updateUser({ phone: newPhone })
  await codeTo(newPhone)
  pass(service, 61)
  const { data, error } = await auth.resend({ type: 'phone_change', phone })
  expect(error).toBeNull()
  expect(data.messageId).toMatch(/^[0-9a-f-]{36}$/)
  const token = await codeTo(newPhone)
  expect((await auth.verifyOtp({ type: 'phone_change', phone: newPhone, token })).error).toBeNull()
})

test('a new password needs the nonce that came by SMS', async () => {
  const { auth, phone } = await join()
  const change = { password: 'another horse' }
  expect((await auth.updateUser(change)).error).toMatchObject({
    name: 'AuthApiError',
    status: 400,
    code: 'reauthentication_needed',
  })
  expect(await auth.reauthenticate()).toEqual({ data: nobody, error: null })
  const nonce = await codeTo(phone)
  const wrong = nonce === '000000' ? '000001' : '000000'
  expect((await auth.updateUser({ ...change, nonce: wrong })).error).toMatchObject({
    name: 'AuthApiError',
    status: 422,
    code: 'reauthentication_not_valid',
  })
  expect((await auth.updateUser({ ...change, nonce })).error).toBeNull()
  expect((await client().signInWithPassword({ phone, ...change })).error).toBeNull()
  expect((await auth.updateUser({ password: 'a third horse', nonce })).error).toMatchObject({
    code: 'reauthentication_not_valid',
  })
})
