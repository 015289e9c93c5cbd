import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { adminAuthorization, createAccount, startWithInbox } from '../testing.ts'

let service: Awaited<ReturnType<typeof startWithInbox>>
beforeAll(async () => {
  service = await startWithInbox({
    AUTH_SMTP_MAX_FREQUENCY: '0',
    AUTH_SMS_MAX_FREQUENCY: '0',
    AUTH_SMS_TEST_OTP: '4599999999:424242',
  })
})
afterAll(() => service.stop())

const password = 'correct horse'
const newEmail = () => `${randomUUID()}@site.test`
let lastPhone = 4_530_000_000
const newPhone = () => String(++lastPhone)

type Told = {
  access_token: string
  refresh_token: string
  type?: string
  user: Record<string, unknown> & { id: string }
  error_code?: string
}

async function present(json: object) {
  const answer = await service.call('POST /verify', { json })
  return { status: answer.status, told: answer.json<Told>() }
}

async function follow(query: Record<string, string>, headers: Record<string, string> = {}) {
  const answer = await service.call(`GET /verify?${new URLSearchParams(query)}`, { headers })
  const location = new URL(String(answer.headers.location ?? 'about:blank'))
  return {
    status: answer.status,
    location,
    fragment: Object.fromEntries(new URLSearchParams(location.hash.slice(1))),
    query: Object.fromEntries(location.searchParams),
  }
}

async function signUp(more: object = {}) {
  const email = newEmail()
  await service.call('POST /signup', { json: { email, password, ...more } })
  return { email, ...(await service.mailTo(email)) }
}

describe('a sign-up', () => {
  test('is confirmed by its code', async () => {
    const { email, code } = await signUp()
    const { status, told } = await present({ type: 'signup', email: email.toUpperCase(), token: code })
    expect(status).toBe(200)
    expect(told).toMatchObject({
      type: 'signup',
      token_type: 'bearer',
      user: {
        email,
        email_confirmed_at: service.now().toISOString(),
        user_metadata: { email_verified: true },
        identities: [{ identity_data: { email_verified: true } }],
      },
    })
    const { app_metadata, amr } = JSON.parse(
      Buffer.from(told.access_token.split('.')[1] ?? '', 'base64url').toString(),
    ) as Record<string, unknown>
    expect([app_metadata, amr]).toMatchObject([{ provider: 'email' }, [{ method: 'otp' }]])
    expect((await service.call('POST /token?grant_type=password', { json: { email, password } })).status).toBe(200)
  })

  test.each(['signup', 'invite', 'email'])('is confirmed by what its link carries, as type %s', async (type) => {
    const { token } = await signUp()
    expect((await present({ type, token_hash: token })).status).toBe(200)
    expect((await present({ type, token_hash: token })).told).toMatchObject({
      code: 403,
      error_code: 'otp_expired',
      msg: 'Email link is invalid or has expired',
    })
  })

  test('is confirmed by following its link, with a session in the fragment', async () => {
    const { email, link } = await signUp()
    const { pathname, search } = new URL(link)
    const answer = await service.call(`GET ${pathname}${search}`)
    expect(answer.status).toBe(303)
    expect(answer.headers.location).toMatch(
      /^https:\/\/site\.test#access_token=[\w.-]+&expires_at=\d+&expires_in=3600&refresh_token=[\w-]+&sb=&token_type=bearer&type=signup$/,
    )
    const { refresh_token = '' } = Object.fromEntries(new URLSearchParams(new URL(String(answer.headers.location)).hash.slice(1)))
    const again = await service.call('POST /token?grant_type=refresh_token', { json: { refresh_token } })
    expect(again.json<Told>().user.email).toBe(email)
  })

  test('is not used up by those who only look', async () => {
    const { token } = await signUp()
    const query = { token, type: 'signup', redirect_to: 'https://site.test/in' }
    const head = await service.call(`HEAD /verify?${new URLSearchParams(query)}`)
    expect([head.status, head.headers.location]).toEqual([303, 'https://site.test/in'])
    expect((await follow(query, { 'sec-purpose': 'prefetch;anonymous-client-ip' })).fragment).toEqual({})
    expect((await follow(query)).fragment).toHaveProperty('access_token')
  })
})

describe('codes', () => {
  test('five wrong guesses make one worthless, and its link stays good', async () => {
    const { email, code, token } = await signUp()
    const wrong = String((Number(code) + 1) % 1_000_000).padStart(6, '0')
    for (let guess = 0; guess < 5; guess++)
      expect((await present({ type: 'signup', email, token: wrong })).told.error_code).toBe('otp_expired')
    expect((await present({ type: 'signup', email, token: code })).told).toMatchObject({
      code: 403,
      error_code: 'otp_expired',
      msg: 'Token has expired or is invalid',
    })
    expect((await present({ type: 'signup', token_hash: token })).status).toBe(200)
  })

  test('guesses that come all at once are counted all the same', async () => {
    const { email, code } = await signUp()
    const guesses = Array.from({ length: 100 }, (_, index) =>
      String((Number(code) + index) % 1_000_000).padStart(6, '0'),
    ).toReversed()
    const outcomes = await Promise.all(guesses.map((token) => present({ type: 'signup', email, token })))
    const [{ attempts } = { attempts: 0 }] = await service.app.db<{ attempts: number }>`
      select coalesce(max(attempts), 5) as attempts from auth.one_time_tokens where relates_to = ${email}`
    expect(attempts).toBe(5)
    expect(outcomes.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1)
  })

  test('of twenty who present the right one one gets in', async () => {
    const { email, token } = await signUp()
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => present({ type: 'signup', token_hash: token })))
    expect(outcomes.filter(({ status }) => status === 200)).toHaveLength(1)
    const sessions = await service.app
      .db`select from auth.sessions s join auth.users u on u.id = s.user_id where u.email = ${email}`
    expect(sessions).toHaveLength(1)
  })

  test('a mailed one is good for a day, an SMS for a minute', async () => {
    const [one, other] = [await signUp(), await signUp()]
    service.now.advance(86_400)
    expect((await present({ type: 'signup', email: one.email, token: one.code })).status).toBe(200)
    service.now.advance(1)
    expect((await present({ type: 'signup', token_hash: other.token })).told.error_code).toBe('otp_expired')
    const phone = newPhone()
    await service.call('POST /otp', { json: { phone } })
    const sms = await service.nextSms()
    service.now.advance(61)
    expect((await present({ type: 'sms', phone, token: sms.code })).told.error_code).toBe('otp_expired')
  })

  test('one is good for its own address and type alone', async () => {
    const [one, other] = [await signUp(), await signUp()]
    expect((await present({ type: 'signup', email: other.email, token: one.code })).status).toBe(
      one.code === other.code ? 200 : 403,
    )
    expect((await present({ type: 'recovery', email: one.email, token: one.code })).told.error_code).toBe('otp_expired')
    expect((await present({ type: 'sms', phone: '4512341234', token: one.code })).told.error_code).toBe('otp_expired')
    expect((await present({ type: 'recovery', token_hash: one.token })).told.error_code).toBe('otp_expired')
  })

  test('whoever gets in by one needs none of the others', async () => {
    const { email, token } = await signUp()
    await service.call('POST /recover', { json: { email } })
    const recovery = await service.mailTo(email)
    expect((await present({ type: 'recovery', token_hash: recovery.token })).told).toMatchObject({
      type: 'recovery',
      user: { email_confirmed_at: expect.any(String) },
    })
    expect((await present({ type: 'signup', token_hash: token })).told.error_code).toBe('otp_expired')
  })

  test('somebody banned does not get in, and may when the ban is over', async () => {
    const { email, token } = await signUp()
    const until = new Date(service.now().getTime() + 60_000)
    await service.app.db`update auth.users set banned_until = ${until} where email = ${email}`
    expect((await present({ type: 'signup', token_hash: token })).told).toMatchObject({ code: 403, error_code: 'user_banned' })
    service.now.advance(61)
    expect((await present({ type: 'signup', token_hash: token })).status).toBe(200)
  })
})

describe('by SMS', () => {
  test('a code opens a session, and the number counts as confirmed', async () => {
    const phone = newPhone()
    await service.call('POST /otp', { json: { phone: `+${phone}` } })
    const { code } = await service.nextSms()
    const { status, told } = await present({ type: 'sms', phone: `+${phone}`, token: code, redirect_to: 'https://site.test' })
    expect(status).toBe(200)
    expect(told.user).toMatchObject({
      phone,
      phone_confirmed_at: service.now().toISOString(),
      app_metadata: { provider: 'phone' },
    })
  })

  test('a number for tests accepts its code at any time, and nothing is sent', async () => {
    const before = service.gateway.requests.length
    await service.call('POST /otp', { json: { phone: '4599999999' } })
    service.now.advance(3600)
    expect((await present({ type: 'sms', phone: '4599999999', token: '424242' })).status).toBe(200)
    expect(service.gateway.requests.length).toBe(before)
  })
})

describe('an invitation', () => {
  async function invite() {
    const email = newEmail()
    await service.call('POST /invite', { json: { email }, headers: { authorization: adminAuthorization(service) } })
    return { email, ...(await service.mailTo(email)) }
  }

  test('is accepted by its link, and a password may be chosen afterwards', async () => {
    const { token, type } = await invite()
    expect(type).toBe('invite')
    expect((await follow({ token, type })).fragment).toMatchObject({ type: 'invite', access_token: expect.any(String) })
  })

  test('presented as a sign-up it needs a password, which has to be a good one', async () => {
    const { email, token } = await invite()
    expect((await present({ type: 'signup', token_hash: token })).told).toMatchObject({
      code: 422,
      error_code: 'validation_failed',
    })
    expect((await present({ type: 'signup', token_hash: token, password: 'abc' })).told).toMatchObject({
      code: 422,
      error_code: 'weak_password',
    })
    expect((await present({ type: 'signup', token_hash: token, password })).status).toBe(200)
    expect((await service.call('POST /token?grant_type=password', { json: { email, password } })).status).toBe(200)
  })

  test('whoever came in by a code has chosen to have no password, and needs none', async () => {
    const email = newEmail()
    await service.call('POST /otp', { json: { email } })
    const { token, type } = await service.mailTo(email)
    expect(type).toBe('signup')
    expect((await present({ type, token_hash: token })).status).toBe(200)
  })

  test('a password that comes along for somebody who has one changes nothing', async () => {
    const { email, token } = await signUp()
    expect((await present({ type: 'signup', token_hash: token, password: 'another one' })).status).toBe(200)
    expect((await service.call('POST /token?grant_type=password', { json: { email, password } })).status).toBe(200)
  })
})

describe('following a link that is not good', () => {
  test('leads on, and tells why in the fragment', async () => {
    const { status, location, fragment } = await follow({
      token: 'f'.repeat(56),
      type: 'signup',
      redirect_to: 'https://site.test/in?a=1#old',
    })
    expect([status, location.origin + location.pathname + location.search]).toEqual([303, 'https://site.test/in?a=1'])
    expect(fragment).toEqual({
      error: 'access_denied',
      error_code: 'otp_expired',
      error_description: 'Email link is invalid or has expired',
      sb: '',
    })
  })

  test('tells clients with a challenge in the query, too', async () => {
    const { query, fragment } = await follow({ token: `pkce_${'f'.repeat(56)}`, type: 'recovery' })
    expect(query).toEqual({
      error: 'access_denied',
      error_code: 'otp_expired',
      error_description: 'Email link is invalid or has expired',
    })
    expect(fragment).toMatchObject(query)
  })

  test('never leads to somebody else', async () => {
    for (const redirect_to of [
      'https://evil.test',
      '//evil.test',
      'javascript:alert(1)',
      'https://site.test@evil.test',
      'https://site.test.evil.test',
    ])
      expect((await follow({ token: 'x', type: 'signup', redirect_to })).location.origin).toBe('https://site.test')
  })

  test.each([
    [{ token: 'x' }, 'Verify requires a verification type'],
    [{ type: 'signup' }, 'Verify requires a token or a token hash'],
  ])('%j is refused where it stands', async (query, msg) => {
    const answer = await service.call(`GET /verify?${new URLSearchParams(query as Record<string, string>)}`)
    expect(answer.json()).toMatchObject({ code: 400, error_code: 'validation_failed', msg })
  })

  test.each(['sms', 'phone_change', 'nothing', '__proto__'])('the type %s is none that a link has', async (type) => {
    expect((await follow({ token: 'x', type })).fragment).toMatchObject({
      error: 'invalid_request',
      error_description: 'Invalid email verification type',
    })
  })
})

test.each<[object, number, string]>([
  [{ token: '123456', email: 'a@b.test' }, 400, 'Verify requires a verification type'],
  [{ type: 'signup' }, 400, 'Verify requires either a token or a token hash'],
  [{ type: 'signup', token: '1', token_hash: '1' }, 400, 'Verify requires either a token or a token hash'],
  [{ type: 'signup', token: '1' }, 400, 'Only an email address or phone number should be provided on verify'],
  [
    { type: 'signup', token: '1', email: 'a@b.test', phone: '45' },
    400,
    'Only an email address or phone number should be provided on verify',
  ],
  [{ type: 'signup', token: '1', email: 'nobody' }, 422, 'Invalid email format'],
  [{ type: 'sms', token: '1', phone: '0' }, 400, 'Invalid phone number format (E.164 required)'],
  [{ type: 'signup', token_hash: '1', email: 'a@b.test' }, 400, 'Only the token_hash and type should be provided'],
  [{ type: 'nothing', token_hash: '1' }, 400, 'Invalid email verification type'],
])('%j is refused', async (json, status, msg) => {
  expect((await present(json)).told).toMatchObject({ code: status, error_code: 'validation_failed', msg })
})

test('what is refused stands in the log with whose it was, as far as that is known, and without what was presented', async () => {
  const { email, code, token } = await signUp()
  const [account] = await service.app.db<{ id: string }>`select id from auth.users where email = ${email}`
  const before = service.lines.length
  const wrong = String((Number(code) + 1) % 1_000_000).padStart(6, '0')
  await present({ type: 'signup', email, token: wrong })
  await present({ type: 'signup', email: newEmail(), token: wrong })
  await present({ type: 'signup', token_hash: token.toUpperCase() })
  await follow({ type: 'signup', token: token.toUpperCase() })
  await service.app.db`update auth.users set banned_until = ${new Date('2099-01-01')} where email = ${email}`
  await follow({ type: 'signup', token })
  const lines = service.lines.slice(before)
  const refusal = {
    level: 'info',
    grant: 'otp',
    reason: 'otp_expired',
    address: '127.0.0.1',
    request_id: expect.any(String) as string,
  }
  expect(lines.filter(({ message }) => message === 'sign-in refused')).toMatchObject([
    { ...refusal, user: account?.id },
    { ...refusal, user: null },
    { ...refusal, user: null },
    { ...refusal, user: null },
    { ...refusal, user: account?.id, reason: 'user_banned' },
  ])
  expect(JSON.stringify(lines).toLowerCase()).not.toMatch(new RegExp(`${email}|\\b${wrong}\\b|${token}`))
})

test('a code is of no use once the address has changed', async () => {
  const { userId } = await createAccount(service)
  const email = `${userId}@site.test`
  await service.call('POST /recover', { json: { email } })
  const { token } = await service.mailTo(email)
  await service.app.db`update auth.users set email = ${newEmail()} where id = ${userId}`
  expect((await present({ type: 'recovery', token_hash: token })).told.error_code).toBe('otp_expired')
})

describe('with a page before the link', () => {
  let paged: Awaited<ReturnType<typeof startWithInbox>>
  beforeAll(async () => {
    paged = await startWithInbox({
      AUTH_SMTP_MAX_FREQUENCY: '0',
      AUTH_MAILER_LINK_PAGE_ENABLED: 'true',
      AUTH_URI_ALLOW_LIST: 'com.app://**,http://localhost:3000/**',
    })
  })
  afterAll(() => paged.stop())

  async function askForLink(more: object = {}, query = '') {
    const email = newEmail()
    await paged.call(`POST /otp${query}`, { json: { email, ...more } })
    return { email, ...(await paged.mailTo(email)) }
  }

  /** What the button of a page sends. */
  function pressOf(page: string): string {
    const fields = [...page.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g)]
    const decode = (text: string) => text.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
    return `GET /verify?${new URLSearchParams(fields.map(([, name = '', value = '']): [string, string] => [name, decode(value)]))}`
  }

  const linkPath = (link: string) => new URL(link).pathname + new URL(link).search

  test('a scanner that opens the link in every way uses nothing up, and the person after it gets in by the button', async () => {
    const { link } = await askForLink({}, '?redirect_to=https://site.test/in')
    for (const method of ['HEAD', 'GET', 'HEAD', 'GET', 'GET']) {
      const answer = await paged.call(`${method} ${linkPath(link)}`)
      expect([answer.status, answer.headers.location]).toEqual([200, undefined])
    }
    const looking = await paged.call(`GET ${linkPath(link)}`, { headers: { 'sec-purpose': 'prefetch' } })
    const { text } = await paged.call(`GET ${linkPath(link)}`)
    expect(looking.text).toBe(text)
    expect((await paged.call(`HEAD ${pressOf(text).slice('GET '.length)}`)).headers.location).toBe('https://site.test/in')
    const pressed = await paged.call(pressOf(text))
    expect([pressed.status, pressed.headers.location]).toEqual([
      303,
      expect.stringMatching(/^https:\/\/site\.test\/in#access_token=/),
    ])
    expect((await paged.call(pressOf(text))).headers.location).toContain('error_code=otp_expired')
  })

  test('a link that is proved by a challenge ends in a code, as it does without a page', async () => {
    const challenge = { code_challenge: 'a'.repeat(43), code_challenge_method: 's256' }
    const { link } = await askForLink(challenge)
    const { text } = await paged.call(`GET ${linkPath(link)}`)
    expect((await paged.call(pressOf(text))).headers.location).toMatch(/^https:\/\/site\.test\?code=[\w-]{32}$/)
  })

  test('it is a page that nobody keeps, frames or learns of, and that runs nothing but its own', async () => {
    const { status, headers } = await paged.call('GET /verify?token=x&type=signup')
    expect(status).toBe(200)
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    })
    expect(headers['content-security-policy']).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/]{43}='; script-src 'sha256-[\w+/]{43}='; base-uri 'none'; form-action 'self' https:; frame-ancestors 'none'$/,
    )
  })

  test.each([
    ['signup', 'Confirm your email address', 'Confirm my address'],
    ['invite', 'You have been invited', 'Accept the invitation'],
    ['recovery', 'Reset your password', 'Reset my password'],
    ['magiclink', 'Sign in', 'Sign in'],
    ['email', 'Sign in', 'Sign in'],
    ['email_change', 'Confirm your new email address', 'Confirm the change'],
  ])('%s is told as "%s"', async (type, heading, button) => {
    const { text } = await paged.call(`GET /verify?token=x&type=${type}`)
    expect(text).toContain(`<h1>${heading}</h1>`)
    expect(text).toContain(`<button>${button}</button>`)
    expect(text).toContain('site.test')
  })

  test('a wrong link has the same page as a right one: the button tells', async () => {
    const { link, token } = await askForLink()
    const right = await paged.call(`GET ${linkPath(link)}`)
    const wrong = await paged.call(`GET ${linkPath(link).replace(token, 'f'.repeat(token.length))}`)
    expect(wrong.text.replaceAll('f'.repeat(token.length), '')).toBe(right.text.replaceAll(token, ''))
    expect((await paged.call(pressOf(wrong.text))).headers.location).toContain('error_code=otp_expired')
  })

  test.each([
    '"><script>alert(1)</script>',
    "'><img src=x onerror=alert(1)>",
    '"></form><form action="https://evil.test"><input type="hidden" name="token" value="',
    '</style><script>',
    '&quot;&#34;&lt;',
    '\r\n; script-src *',
  ])('a token like %j stays a token', async (token) => {
    const query = new URLSearchParams({ token, type: 'signup' })
    const { text, headers } = await paged.call(`GET /verify?${query}`)
    expect(text.match(/<(script|img|form|input|button)\b/g)?.join('')).toBe('<form<input<input<input<input<button<script')
    expect(new URLSearchParams(pressOf(text).split('?')[1]).get('token')).toBe(token)
    expect(headers['content-security-policy']).toMatch(/^[^*]* script-src 'sha256-[\w+/]{43}=';[^*]*$/)
  })

  test.each([
    ['https://evil.test', 'https://site.test', 'https:'],
    ['javascript:alert(1)', 'https://site.test', 'https:'],
    ['https://site.test/"><script>', 'https://site.test/"><script>', 'https:'],
    ['com.app://open', 'com.app://open', 'com.app:'],
    ['http://localhost:3000/in', 'http://localhost:3000/in', 'http:'],
  ])('for %s the page leads on to %s', async (redirect_to, destination, scheme) => {
    const { text, headers } = await paged.call(`GET /verify?${new URLSearchParams({ token: 'x', type: 'signup', redirect_to })}`)
    expect(text.match(/<script/g)).toHaveLength(1)
    expect(new URLSearchParams(pressOf(text).split('?')[1]).get('redirect_to')).toBe(destination)
    expect(headers['content-security-policy']).toContain(`form-action 'self' ${scheme};`)
    expect(String((await paged.call(pressOf(text))).headers.location).startsWith(destination)).toBe(true)
  })

  test('where somebody came from counts as it does without a page, although the button sends no word of it', async () => {
    const headers = { referer: 'https://site.test/mails' }
    const { text } = await paged.call('GET /verify?token=x&type=signup', { headers })
    expect((await paged.call(pressOf(text))).headers.location).toMatch(/^https:\/\/site\.test\/mails#error=/)
  })

  test.each(['sms', 'nothing', '__proto__', 'constructor'])('the type %s has no page', async (type) => {
    const { status, headers } = await paged.call(`GET /verify?token=x&type=${type}`)
    expect([status, headers.location]).toEqual([303, expect.stringContaining('Invalid+email+verification+type')])
  })

  test.each(['token=x', 'type=signup'])('%s alone is refused where it stands', async (query) => {
    expect((await paged.call(`GET /verify?${query}`)).json()).toMatchObject({ code: 400, error_code: 'validation_failed' })
  })

  test.each(['', 'no', 'YES', 'true'])('confirm=%s is no press', async (confirm) => {
    expect((await paged.call(`GET /verify?token=x&type=signup&confirm=${confirm}`)).status).toBe(200)
  })

  test('POST needs no page', async () => {
    const { token, type } = await askForLink()
    expect((await paged.call('POST /verify', { json: { type, token_hash: token } })).status).toBe(200)
  })
})
