import { randomUUID } from 'node:crypto'
import { type HttpFake, startHttpFake } from '@tollgate/kit/http-fake'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { adminAuthorization, createAccount, startIdentity } from '../testing.ts'

type Tested = Awaited<ReturnType<typeof startIdentity>>
const secret = '0x-the-captcha-secret'
let verifier: HttpFake
let service: Tested

beforeAll(async () => {
  verifier = await startHttpFake({})
  service = await startIdentity({
    AUTH_SECURITY_CAPTCHA_ENABLED: 'true',
    AUTH_SECURITY_CAPTCHA_SECRET: secret,
    AUTH_SECURITY_CAPTCHA_TIMEOUT: '0.2',
    AUTH_SECURITY_CAPTCHA_URL: `${verifier.origin}/siteverify`,
    AUTH_RATE_LIMIT_EMAIL_SENT: '1000000',
    AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
  })
})
afterAll(async () => {
  await service.stop()
  await verifier.close()
})
beforeEach(() => {
  verifier.requests.splice(0)
  verifier.answer({ 'POST /siteverify': { json: { success: true, hostname: 'site.test' } } })
})

const newAddress = () => `${randomUUID()}@site.test`
const recover = (more: object, headers: Record<string, string> = {}) =>
  service.call('POST /recover', { json: { email: newAddress(), ...more }, headers })
const refusal = (reason: string) => ({
  code: 400,
  error_code: 'captcha_failed',
  msg: `captcha protection: request disallowed (${reason})`,
})

describe('what the provider is asked', () => {
  test('is whether the token is good, with our secret and the address that it came from', async () => {
    const answer = await recover(
      { gotrue_meta_security: { captcha_token: ' good-token ' } },
      { 'x-forwarded-for': '203.0.113.9' },
    )
    expect([answer.status, answer.json()]).toEqual([200, {}])
    const [asked] = verifier.requests
    expect(asked).toMatchObject({ method: 'POST', path: '/siteverify' })
    expect(asked?.headers['content-type']).toBe('application/x-www-form-urlencoded')
    expect(Object.fromEntries(new URLSearchParams(asked?.body))).toEqual({
      secret,
      response: 'good-token',
      remoteip: '203.0.113.9',
    })
  })

  test.each([
    ['nested', { gotrue_meta_security: { captcha_token: 'one' } }, 'one'],
    ['at the top', { captcha_token: 'two' }, 'two'],
    ['nested before at the top', { captcha_token: 'two', gotrue_meta_security: { captcha_token: 'one' } }, 'one'],
    ['at the top when nested is empty', { captcha_token: 'two', gotrue_meta_security: { captcha_token: '' } }, 'two'],
    ['at the top when nested has none', { captcha_token: 'two', gotrue_meta_security: {} }, 'two'],
  ])('is the token %s', async (_, more, token) => {
    expect((await recover(more)).status).toBe(200)
    expect(new URLSearchParams(verifier.requests[0]?.body).get('response')).toBe(token)
  })

  test('a token cannot smuggle in fields of its own', async () => {
    await recover({ captcha_token: 'x&secret=mine&response=other' })
    const form = new URLSearchParams(verifier.requests[0]?.body)
    expect([form.getAll('secret'), form.getAll('response')]).toEqual([[secret], ['x&secret=mine&response=other']])
  })

  test.each([
    ['hcaptcha', 'https://hcaptcha.com/siteverify'],
    ['turnstile', 'https://challenges.cloudflare.com/turnstile/v0/siteverify'],
  ])('%s is at %s when nothing else is set', async (provider, address) => {
    const asked: string[] = []
    const usual = await startIdentity({
      AUTH_SECURITY_CAPTCHA_ENABLED: 'true',
      AUTH_SECURITY_CAPTCHA_PROVIDER: provider,
      AUTH_SECURITY_CAPTCHA_SECRET: secret,
    })
    try {
      // Nobody outside is called by a test: the request is seen on its way, and answered by our own server.
      const { fetch } = usual.app
      usual.app.fetch = (url, options) => {
        asked.push(url)
        return fetch(`${verifier.origin}/siteverify`, options)
      }
      const answer = await usual.call('POST /recover', { json: { email: newAddress(), captcha_token: 'good' } })
      expect([answer.status, asked]).toEqual([200, [address]])
    } finally {
      await usual.stop()
    }
  })
})

describe('a request is refused', () => {
  test.each([
    ['without a token', {}],
    ['with an empty one', { captcha_token: '', gotrue_meta_security: { captcha_token: '' } }],
    ['with a blank one', { captcha_token: '  ' }],
  ])('%s, and the provider is not asked', async (_, more) => {
    const answer = await recover(more)
    expect([answer.status, answer.json()]).toEqual([400, refusal('no captcha_token found')])
    expect(verifier.requests).toEqual([])
  })

  test.each([
    ['one code', { success: false, 'error-codes': ['invalid-input-response'] }, 'invalid-input-response'],
    [
      'several',
      { success: false, 'error-codes': ['timeout-or-duplicate', 'invalid-input-secret'] },
      'timeout-or-duplicate, invalid-input-secret',
    ],
    ['none', { success: false }, ''],
    ['codes that are none', { success: false, 'error-codes': ['<script>', 7, {}, 'bad-request'] }, '7, bad-request'],
    ['a success that is not true', { success: 'true' }, ''],
    ['an empty answer', {}, ''],
    ['a list', [], ''],
    ['null', null, ''],
  ])('when the provider says no, with %s', async (_, json, codes) => {
    verifier.answer({ 'POST /siteverify': { json } })
    const sendings = () => service.app.db`select 1 from auth.sendings`
    const before = await sendings()
    const answer = await recover({ captcha_token: 'bad' })
    expect([answer.status, answer.json()]).toEqual([400, refusal(codes)])
    expect(await sendings()).toEqual(before)
  })

  test.each([
    ['is slow', 'hang' as const],
    ['hangs up', 'cut' as const],
    ['breaks off', 'cut in the middle' as const],
    ['talks no HTTP', 'garbage' as const],
    ['answers with something that is not JSON', { text: 'success' }],
    ['is broken', { status: 500, json: { success: true } }],
    ['sends us elsewhere', { status: 302, headers: { location: '/yes' }, json: { success: true } }],
  ])('for now when the provider %s', async (_, answering) => {
    verifier.answer({ 'POST /siteverify': answering, 'GET /yes': { json: { success: true } } })
    const answer = await recover({ captcha_token: 'good' })
    expect([answer.status, answer.json().error_code]).toEqual([503, 'unavailable'])
    expect(JSON.stringify(service.lines)).not.toContain(secret)
  })

  test('for now when the provider is not there', async () => {
    const gone = await startHttpFake({})
    await gone.close()
    const alone = await startIdentity({
      AUTH_SECURITY_CAPTCHA_ENABLED: 'true',
      AUTH_SECURITY_CAPTCHA_PROVIDER: 'turnstile',
      AUTH_SECURITY_CAPTCHA_SECRET: secret,
      AUTH_SECURITY_CAPTCHA_URL: gone.origin,
    })
    try {
      const answer = await alone.call('POST /recover', { json: { email: newAddress(), captcha_token: 'good' } })
      expect(answer.status).toBe(503)
      expect(JSON.stringify(alone.lines)).toContain('turnstile')
      expect(JSON.stringify(alone.lines)).not.toContain(secret)
    } finally {
      await alone.stop()
    }
  })
})

describe('who is asked for a captcha', () => {
  test.each([
    ['/signup', { password: 'correct horse' }],
    ['/recover', {}],
    ['/magiclink', {}],
    ['/otp', {}],
    ['/resend', { type: 'signup' }],
    ['/token?grant_type=password', { password: 'correct horse' }],
    ['/token?grant_type=other', {}],
    ['/token', {}],
  ])('whoever calls %s', async (path, more) => {
    const email = newAddress()
    const without = await service.call(`POST ${path}`, { json: { email, ...more } })
    expect([without.status, without.json()]).toEqual([400, refusal('no captcha_token found')])
    await service.call(`POST ${path}`, { json: { email, ...more, captcha_token: 'good' } })
    expect(verifier.requests).toHaveLength(1)
  })

  test('whoever signs up anonymously', async () => {
    expect((await service.call('POST /signup', { json: {} })).json()).toEqual(refusal('no captcha_token found'))
    expect((await service.call('POST /signup', { json: { captcha_token: 'good' } })).status).toBe(200)
  })

  test('not whoever refreshes a session or ends a flow', async () => {
    const { refreshToken } = await createAccount(service)
    const refreshed = await service.call('POST /token?grant_type=refresh_token', { json: { refresh_token: refreshToken } })
    expect(refreshed.status).toBe(200)
    const flow = await service.call('POST /token?grant_type=pkce', { json: { auth_code: 'code', code_verifier: 'verifier' } })
    expect(flow.json().error_code).toBe('flow_state_not_found')
    expect(verifier.requests).toEqual([])
  })

  test('not an admin, but whoever says to be one without a good token', async () => {
    expect((await recover({}, { authorization: adminAuthorization(service) })).status).toBe(200)
    expect(verifier.requests).toEqual([])
    const { authorization } = await createAccount(service)
    const forged = `${adminAuthorization(service).slice(0, -4)}AAAA`
    const expired = `Bearer ${service.app.keys.sign({ role: 'service_role', exp: Math.floor(service.now().getTime() / 1000) - 1 })}`
    for (const claim of [authorization, forged, expired, 'Bearer none'])
      expect((await recover({}, { authorization: claim })).status).toBe(400)
  })

  test('nobody where captchas are not enabled', async () => {
    const open = await startIdentity()
    try {
      expect((await open.call('POST /recover', { json: { email: newAddress() } })).status).toBe(200)
    } finally {
      await open.stop()
    }
  })
})
