import { createHash } from 'node:crypto'
import { startWithInbox } from '@tollgate/identity/testing'
import { type HttpFake, startHttpFake } from '@tollgate/kit/http-fake'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { newAddress, newClient, pass, shareClock } from './auth-js-client.ts'

// What an operator can ask for on top: captchas, strong passwords, nonces, sessions that end at once.
const stolen = 'Stolen-Horse-1'
const [prefix, suffix] = split(createHash('sha1').update(stolen).digest('hex').toUpperCase())

let service: Awaited<ReturnType<typeof startWithInbox>>
let captchas: HttpFake
let breaches: HttpFake
beforeAll(async () => {
  captchas = await startHttpFake(({ body }) => {
    const success = new URLSearchParams(body).get('response') === 'a person'
    return { json: success ? { success } : { success, 'error-codes': ['invalid-input-response'] } }
  })
  breaches = await startHttpFake(({ path }) => ({ text: path === `/range/${prefix}` ? `${suffix}:12` : '' }))
  service = await startWithInbox({
    AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
    AUTH_SECURITY_CAPTCHA_ENABLED: 'true',
    AUTH_SECURITY_CAPTCHA_SECRET: 'a captcha secret',
    AUTH_SECURITY_CAPTCHA_URL: captchas.origin,
    AUTH_PASSWORD_MIN_LENGTH: '10',
    AUTH_PASSWORD_REQUIRED_CHARACTERS: 'abcdefghijklmnopqrstuvwxyz:ABCDEFGHIJKLMNOPQRSTUVWXYZ:0123456789',
    AUTH_PASSWORD_HIBP_ENABLED: 'true',
    AUTH_PASSWORD_HIBP_URL: breaches.origin,
    AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_REAUTHENTICATION: 'true',
    AUTH_SECURITY_STRICT_LOGOUT: 'true',
    AUTH_SESSIONS_TIMEBOX: '7200',
  })
  shareClock(service)
})
afterAll(async () => {
  vi.useRealTimers()
  await service.stop()
  await Promise.all([captchas.close(), breaches.close()])
})

function split(hash: string): [string, string] {
  return [hash.slice(0, 5), hash.slice(5)]
}

const client = () => newClient(service)

const password = 'Correct-Horse-1'
const captchaToken = 'a person'
const options = { captchaToken }

async function join() {
  const auth = client()
  const email = newAddress()
  await auth.signUp({ email, password, options })
  const { code: token } = await service.mailTo(email)
  expect((await auth.verifyOtp({ type: 'signup', email, token })).error).toBeNull()
  return { auth, email }
}

const machine = { name: 'AuthApiError', status: 400, code: 'captcha_failed' }

test('whoever could be a machine has to solve a captcha', async () => {
  const { email } = await join()
  const phone = '+4512345678'
  const asked: Record<string, (given: { captchaToken?: string }) => Promise<{ error: unknown }>> = {
    signUp: (given) => client().signUp({ email: newAddress(), password, options: given }),
    signInAnonymously: (given) => client().signInAnonymously({ options: given }),
    signInWithPassword: (given) => client().signInWithPassword({ email, password, options: given }),
    signInWithOtp: (given) => client().signInWithOtp({ email, options: given }),
    'signInWithOtp by phone': (given) => client().signInWithOtp({ phone, options: given }),
    resetPasswordForEmail: (given) => client().resetPasswordForEmail(email, given),
    resend: (given) => client().resend({ type: 'signup', email: newAddress(), options: given }),
  }
  for (const [name, ask] of Object.entries(asked)) {
    expect((await ask({})).error, name).toMatchObject({
      ...machine,
      message: 'captcha protection: request disallowed (no captcha_token found)',
    })
    expect((await ask({ captchaToken: 'a machine' })).error, name).toMatchObject({
      ...machine,
      message: 'captcha protection: request disallowed (invalid-input-response)',
    })
    expect((await ask(options)).error, name).toBeNull()
  }
})

test('whoever is in needs no captcha to stay', async () => {
  const { auth } = await join()
  const before = captchas.requests.length
  expect((await auth.refreshSession()).error).toBeNull()
  expect(captchas.requests).toHaveLength(before)
})

test('while nobody checks captchas the client is told to try again', async () => {
  captchas.answer({})
  const { error } = await client().signUp({ email: newAddress(), password, options })
  captchas.answer(({ body }) => ({ json: { success: new URLSearchParams(body).get('response') === captchaToken } }))
  expect(error).toMatchObject({ name: 'AuthRetryableFetchError', status: 503 })
})

test('a weak password is refused with every reason', async () => {
  const reasons = async (weak: string) => {
    const { error } = await client().signUp({ email: newAddress(), password: weak, options })
    expect(error).toMatchObject({ name: 'AuthWeakPasswordError', status: 422, code: 'weak_password' })
    return (error as unknown as { reasons: string[] }).reasons
  }
  expect(await reasons('Sh0rt')).toEqual(['length'])
  expect(await reasons('only small letters')).toEqual(['characters'])
  expect(await reasons('small')).toEqual(['length', 'characters'])
  expect(await reasons(stolen)).toEqual(['pwned'])
})

test('a new password needs the nonce that came by mail', async () => {
  const { auth, email } = await join()
  const change = { password: 'Another-Horse-2' }
  expect((await auth.updateUser(change)).error).toMatchObject({ status: 400, code: 'reauthentication_needed' })
  expect(await auth.reauthenticate()).toEqual({ data: { user: null, session: null }, error: null })
  expect((await auth.reauthenticate()).error).toMatchObject({ status: 429, code: 'over_email_send_rate_limit' })
  const { code: nonce } = await service.mailTo(email)
  const wrong = nonce === '000000' ? '000001' : '000000'
  expect((await auth.updateUser({ ...change, nonce: wrong })).error).toMatchObject({
    name: 'AuthApiError',
    status: 422,
    code: 'reauthentication_not_valid',
  })
  expect((await auth.updateUser({ ...change, nonce })).error).toBeNull()
  expect((await client().signInWithPassword({ email, ...change, options })).error).toBeNull()
})

test('a session that was ended is missing at once', async () => {
  const { auth, email } = await join()
  const other = client()
  await other.signInWithPassword({ email, password, options })
  expect((await auth.signOut({ scope: 'others' })).error).toBeNull()
  expect((await other.getUser()).error).toMatchObject({ name: 'AuthSessionMissingError' })
  expect((await other.getSession()).data.session).toBeNull()
  expect((await auth.getUser()).error).toBeNull()
})

test('a session that has had its time is over', async () => {
  const { auth } = await join()
  pass(service, 3700)
  expect((await auth.getSession()).error).toBeNull()
  pass(service, 3700)
  const { data, error } = await auth.getSession()
  expect(data.session).toBeNull()
  expect(error).toMatchObject({ name: 'AuthApiError', status: 400, code: 'session_expired' })
})

test('where identities are not linked by hand they are not unlinked either', async () => {
  const { auth } = await join()
  const { data } = await auth.getUserIdentities()
  const [identity] = data?.identities ?? []
  if (!identity) throw new Error('There is no identity')
  expect((await auth.unlinkIdentity(identity)).error).toMatchObject({
    name: 'AuthApiError',
    status: 404,
    code: 'manual_linking_disabled',
  })
})
