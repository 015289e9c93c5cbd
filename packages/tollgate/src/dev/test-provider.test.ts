import { createHash } from 'node:crypto'
import { request as httpRequest } from 'node:http'
import { ListenProblem } from '@tollgate/kit/listen'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testClient } from './test-client.ts'
import { startTestProvider, type TestProvider } from './test-provider.ts'

const redirectUri = 'http://localhost:8081/callback'
const verifier = 'a-verifier-that-is-long-enough-for-everybody-to-take'
let provider: TestProvider
let issuer: string

beforeAll(async () => {
  provider = await startTestProvider({ host: '127.0.0.1', port: 0, redirectUri })
  issuer = `http://localhost:${provider.port}`
})

afterAll(() => provider.close())

/** A browser without eyes: keeps cookies by path, follows nothing by itself. */
function browser() {
  const cookies: { name: string; value: string; path: string }[] = []
  return async (address: string, options: { form?: Record<string, string>; headers?: Record<string, string> } = {}) => {
    const url = new URL(address, issuer)
    const cookie = cookies.filter(({ path }) => url.pathname.startsWith(path)).map(({ name, value }) => `${name}=${value}`)
    const answer = await fetch(url, {
      method: options.form ? 'POST' : 'GET',
      redirect: 'manual',
      headers: { accept: 'text/html', cookie: cookie.join('; '), ...options.headers },
      ...(options.form ? { body: new URLSearchParams(options.form) } : {}),
    })
    for (const set of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
      cookies.push({ name, value, path: /path=([^;]+)/i.exec(set)?.[1] ?? '/' })
    }
    return {
      status: answer.status,
      headers: answer.headers,
      location: answer.headers.get('location') ?? '',
      text: await answer.text(),
    }
  }
}

function authorizeAddress(more: Record<string, string> = {}): string {
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  return `/auth?${new URLSearchParams({
    client_id: testClient.id,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'openid email profile',
    state: 'the-state',
    nonce: 'the-nonce',
    code_challenge: challenge,
    code_challenge_method: 'S256',
    ...more,
  })}`
}

type Visit = ReturnType<typeof browser>

/** From the app to the page of the provider, and back with a choice. */
async function choose(
  form: Record<string, string>,
  { more = {}, visit = browser() }: { more?: Record<string, string>; visit?: Visit } = {},
) {
  const { location: page } = await visit(authorizeAddress(more))
  const { location: resume } = await visit(page, { form })
  return new URL((await visit(resume)).location)
}

async function redeem(code: string, more: Record<string, string> = {}) {
  const body = new URLSearchParams({
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri,
    code_verifier: verifier,
    client_id: testClient.id,
    client_secret: testClient.secret,
    ...more,
  })
  const answer = await fetch(`${issuer}/token`, { method: 'POST', body })
  return { status: answer.status, json: (await answer.json()) as Record<string, string> }
}

async function userInfo(accessToken: string) {
  return (await fetch(`${issuer}/me`, { headers: { authorization: `Bearer ${accessToken}` } })).json()
}

async function arriveAs(form: Record<string, string>) {
  const back = await choose(form)
  const { json } = await redeem(back.searchParams.get('code') ?? '')
  return userInfo(json.access_token ?? '')
}

test('it describes itself as an issuer of its own port, with PKCE', async () => {
  const told = await (await fetch(`${issuer}/.well-known/openid-configuration`)).json()
  expect(told).toMatchObject({ issuer, token_endpoint_auth_methods_supported: ['client_secret_post'] })
  expect(told.code_challenge_methods_supported).toEqual(['S256'])
  expect(told.claims_supported).toEqual(expect.arrayContaining(['email', 'email_verified', 'name', 'given_name', 'picture']))
})

test('one click comes back with a code, whose id token is signed and tells who it is', async () => {
  const back = await choose({ person: 'ada' })
  expect(`${back.origin}${back.pathname}`).toBe(redirectUri)
  expect(Object.fromEntries(back.searchParams)).toMatchObject({ state: 'the-state', iss: issuer })
  const { status, json } = await redeem(back.searchParams.get('code') ?? '')
  expect(status).toBe(200)
  const keys = createRemoteJWKSet(new URL(`${issuer}/jwks`))
  const { payload } = await jwtVerify(json.id_token ?? '', keys, { issuer, audience: testClient.id })
  const claims = {
    email: 'ada@example.com',
    email_verified: true,
    name: 'Ada Lovelace',
    given_name: 'Ada',
    family_name: 'Lovelace',
    picture: `${issuer}/pictures/AL.svg`,
  }
  expect(payload).toMatchObject({ ...claims, nonce: 'the-nonce' })
  expect(await userInfo(json.access_token ?? '')).toMatchObject({ ...claims, sub: payload.sub })
  const picture = await fetch(claims.picture)
  expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/svg+xml'])
})

test('one person has an address that is not verified, and one has no name', async () => {
  expect(await arriveAs({ person: 'ben' })).toMatchObject({ name: 'Ben Carter', email_verified: false })
  const nameless = await arriveAs({ person: 'nameless' })
  expect(nameless).toMatchObject({ email: 'nameless@example.com', email_verified: true })
  expect(nameless).not.toHaveProperty('name')
  expect(nameless).not.toHaveProperty('picture')
})

test('anybody can be typed, and the same address is the same person', async () => {
  const first = await arriveAs({ action: 'type', email: ' Zoë@example.com ', name: 'Zoë', verified: 'true' })
  expect(first).toMatchObject({ email: 'Zoë@example.com', name: 'Zoë', given_name: 'Zoë', email_verified: true })
  const second = await arriveAs({ action: 'type', email: 'zoë@example.com', name: '' })
  expect(second).toMatchObject({ sub: first.sub, email_verified: false })
  expect(second).not.toHaveProperty('name')
})

test('who it is, is asked again by the same browser, and somebody else can be chosen', async () => {
  const visit = browser()
  const codes = [await choose({ person: 'ada' }, { visit }), await choose({ person: 'nameless' }, { visit })]
  const emails = codes.map(async (back) => {
    const { json } = await redeem(back.searchParams.get('code') ?? '')
    return (await userInfo(json.access_token ?? '')).email
  })
  expect(await Promise.all(emails)).toEqual(['ada@example.com', 'nameless@example.com'])
})

test.each(['login', 'consent', 'select_account', 'login consent'])(
  'an app that asks for prompt=%s gets the one page',
  async (prompt) => {
    expect((await choose({ person: 'ada' }, { more: { prompt } })).searchParams.get('code')).toBeTruthy()
  },
)

test('an app that asks for offline access gets a refresh token that works', async () => {
  const back = await choose({ person: 'ada' }, { more: { scope: 'openid email offline_access', prompt: 'consent' } })
  const { json } = await redeem(back.searchParams.get('code') ?? '')
  const again = await redeem('', { grant_type: 'refresh_token', refresh_token: json.refresh_token ?? '' })
  expect(again).toMatchObject({ status: 200, json: { access_token: expect.any(String) } })
})

test('an app that wants its answer by a form gets one, and its script is the only one that may run', async () => {
  const visit = browser()
  const { location: page } = await visit(authorizeAddress({ response_mode: 'form_post' }))
  const { location: resume } = await visit(page, { form: { person: 'ada' } })
  const { status, text, headers } = await visit(resume)
  expect(status).toBe(200)
  expect(text).toContain(`action="${redirectUri}"`)
  const [, script = ''] = /<script>(.*)<\/script>/s.exec(text) ?? []
  const hash = createHash('sha256').update(script).digest('base64')
  expect(headers.get('content-security-policy')).toContain(`script-src 'none' 'sha256-${hash}'`)
})

test('cancelling comes back with a refusal', async () => {
  const back = await choose({ action: 'cancel' })
  expect(Object.fromEntries(back.searchParams)).toMatchObject({
    error: 'access_denied',
    error_description: 'The sign-in was cancelled',
    state: 'the-state',
  })
})

test('prompt=none comes back at once, because nobody is remembered', async () => {
  const visit = browser()
  await choose({ person: 'ada' }, { visit })
  const { location } = await visit(authorizeAddress({ prompt: 'none' }))
  expect(new URL(location).searchParams.get('error')).toBe('login_required')
})

test('a request without PKCE is refused', async () => {
  const { location } = await browser()(authorizeAddress({ code_challenge: '', code_challenge_method: '' }))
  expect(new URL(location).searchParams.get('error')).toBe('invalid_request')
})

test('a code is good once, and only with its verifier and secret', async () => {
  for (const wrong of [{ code_verifier: `${verifier}x` }, { client_secret: 'guessed' }]) {
    const code = (await choose({ person: 'ada' })).searchParams.get('code') ?? ''
    expect((await redeem(code, wrong)).status).toBeGreaterThanOrEqual(400)
  }
  const code = (await choose({ person: 'ada' })).searchParams.get('code') ?? ''
  expect((await redeem(code)).status).toBe(200)
  expect((await redeem(code)).json).toMatchObject({ error: 'invalid_grant' })
})

test.each([
  ['another address to come back to', { redirect_uri: 'http://evil.example/callback' }],
  ['a client that it does not know', { client_id: 'somebody' }],
])('%s is told on a page, and nobody is sent there', async (_, more) => {
  const { status, location, text, headers } = await browser()(authorizeAddress(more))
  expect([status, location]).toEqual([400, ''])
  expect(text).toContain('This sign-in cannot go on')
  expect(headers.get('content-security-policy')).toContain("default-src 'none'")
})

test('what is typed is shown again with the complaint, and as text', async () => {
  const visit = browser()
  const { location: page } = await visit(authorizeAddress())
  for (const [form, complaint] of [
    [{ email: '"><script>alert(1)</script>', name: '<b>' }, 'An email address is'],
    [{ email: `${'a'.repeat(200)}@example.com` }, 'at most 200'],
    [{ person: 'toString' }, 'Nobody of that name'],
    [{}, 'An email address is'],
  ] as const) {
    const { status, text } = await visit(page, { form })
    expect(status).toBe(400)
    expect(text).toContain(complaint)
    expect(text).not.toContain('<script')
    expect(text).not.toContain('value="<b>')
  }
})

test('the address that an app hints at is typed already', async () => {
  const visit = browser()
  const { location } = await visit(authorizeAddress({ login_hint: 'cleo@example.com' }))
  expect((await visit(location)).text).toContain('value="cleo@example.com"')
})

test('a sign-in that nobody began, or that is over, is told so', async () => {
  const visit = browser()
  const { location: page } = await visit(authorizeAddress())
  expect(await browser()(page)).toMatchObject({ status: 400, text: expect.stringContaining('This sign-in is over') })
  const { location: resume } = await visit(page, { form: { person: 'ada' } })
  await visit(resume)
  for (const form of [undefined, { person: 'ben' }])
    expect(await visit(page, form ? { form } : {})).toMatchObject({
      status: 400,
      text: expect.stringContaining('This sign-in is over'),
    })
})

test('a page of another origin cannot choose for somebody', async () => {
  const visit = browser()
  const { location: page } = await visit(authorizeAddress())
  for (const headers of [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'http://localhost:3000' },
  ])
    expect((await visit(page, { form: { person: 'ada' }, headers })).status).toBe(403)
})

test('a form that is too large is refused', async () => {
  const visit = browser()
  const { location: page } = await visit(authorizeAddress())
  expect((await visit(page, { form: { name: 'x'.repeat(10_000) } })).status).toBe(413)
})

test('every page forbids scripts, framing, sniffing and referrers', async () => {
  const visit = browser()
  const { location: page } = await visit(authorizeAddress())
  for (const address of [page, '/', '/nowhere', authorizeAddress({ client_id: 'x' })]) {
    const { headers } = await visit(address)
    const policy = headers.get('content-security-policy')
    for (const rule of ["default-src 'none'", "script-src 'none'", "frame-ancestors 'none'"]) expect(policy).toContain(rule)
    expect(policy).not.toContain('unsafe')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
  }
})

test.each(['evil.example', 'localhost.evil.example', '10.0.0.1'])('the host %s is refused', async (host) => {
  const status = await new Promise((resolve, reject) => {
    const asked = httpRequest({
      host: '127.0.0.1',
      port: provider.port,
      path: '/.well-known/openid-configuration',
      headers: { host },
    })
    asked.once('response', (answer) => resolve(answer.resume().statusCode)).once('error', reject)
    asked.end()
  })
  expect(status).toBe(421)
})

test.each(['/pictures/%E0%A4%A.svg', '/pictures/%3Cb.svg', '/pictures/ABC.svg'])('%s is no picture', async (path) => {
  expect((await browser()(path)).status).toBe(404)
})

test('a taken port is told in a sentence', async () => {
  const second = startTestProvider({ host: '127.0.0.1', port: provider.port, redirectUri })
  await expect(second).rejects.toThrow(ListenProblem)
  await expect(second).rejects.toThrow('TOLLGATE_PROVIDER_PORT')
})

test('closing leaves nothing that answers', async () => {
  const short = await startTestProvider({ host: '127.0.0.1', port: 0, redirectUri })
  expect((await fetch(`http://127.0.0.1:${short.port}/.well-known/openid-configuration`)).status).toBe(200)
  await short.close()
  await expect(fetch(`http://127.0.0.1:${short.port}/`)).rejects.toThrow()
})
