import { createHash, randomUUID } from 'node:crypto'
import { type HttpFake, startHttpFake } from '@tollgate/kit/http-fake'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { adminAuthorization, createAccount, startWithInbox } from '../testing.ts'

let github: HttpFake
let service: Awaited<ReturnType<typeof startWithInbox>>
let closed: typeof service

/** Whom the provider tells of, until it is told otherwise. */
let person = newPerson()

function newPerson() {
  const id = Math.floor(Math.random() * 1e12)
  return { id, login: `user${id}`, name: 'Ann', email: `${id}@mail.test`, verified: true }
}

beforeAll(async () => {
  github = await startHttpFake({
    'POST /login/oauth/access_token': () => ({
      json: { access_token: 'their token', refresh_token: 'their refresh token', token_type: 'bearer' },
    }),
    'GET /api/v3/user': () => ({
      json: { id: person.id, login: person.login, name: person.name, avatar_url: 'https://pictures.test/1' },
    }),
    'GET /api/v3/user/emails': () => ({
      json: person.email === '' ? [] : [{ email: person.email, primary: true, verified: person.verified }],
    }),
  })
  const settings = {
    AUTH_EXTERNAL_GITHUB_ENABLED: 'true',
    AUTH_EXTERNAL_GITHUB_CLIENT_ID: 'our client',
    AUTH_EXTERNAL_GITHUB_SECRET: 'our secret',
    AUTH_EXTERNAL_GITHUB_REDIRECT_URI: 'https://auth.site.test/callback',
    AUTH_EXTERNAL_GITHUB_URL: github.origin,
  }
  service = await startWithInbox(settings)
  closed = await startWithInbox({ ...settings, AUTH_DISABLE_SIGNUP: 'true', AUTH_SECURITY_LINKING: 'never' })
})
beforeEach(() => {
  person = newPerson()
})
afterAll(async () => {
  await Promise.all([service.stop(), closed.stop()])
  await github.close()
})

type Query = Record<string, string>

/** The address at the provider that somebody is sent to. */
async function leave(query: Query = {}, at = service) {
  const answer = await at.call(`GET /authorize?${new URLSearchParams({ provider: 'github', ...query })}`)
  return { status: answer.status, answer, to: new URL(String(answer.headers.location ?? 'about:blank')) }
}

/** Where somebody ends up who comes back with a state and a code. */
async function comeBack(query: Query, at = service) {
  const answer = await at.call(`GET /callback?${new URLSearchParams(query)}`)
  const to = new URL(String(answer.headers.location))
  return {
    status: answer.status,
    to,
    query: Object.fromEntries(to.searchParams),
    fragment: Object.fromEntries(new URLSearchParams(to.hash.slice(1))),
  }
}

async function signIn(query: Query = {}, at = service) {
  const { to } = await leave(query, at)
  return comeBack({ state: to.searchParams.get('state') ?? '', code: 'their code' }, at)
}

async function userOf({ fragment }: { fragment: Query }, at = service) {
  const answer = await at.call('GET /user', { headers: { authorization: `Bearer ${fragment.access_token}` } })
  return answer.json<Record<string, unknown> & { id: string; app_metadata: Query; user_metadata: Query; identities: Query[] }>()
}

describe('leaving', () => {
  test('leads to the provider with all that it wants to know', async () => {
    const { status, to } = await leave({
      scopes: 'repo,gist',
      login: 'ann',
      client_id: 'forged',
      State: 'forged',
      redirect_uri: 'https://evil.test',
    })
    expect(status).toBe(302)
    expect(to.origin + to.pathname).toBe(`${github.origin}/login/oauth/authorize`)
    expect(Object.fromEntries(to.searchParams)).toMatchObject({
      client_id: 'our client',
      redirect_uri: 'https://auth.site.test/callback',
      response_type: 'code',
      scope: 'user:email repo gist',
      login: 'ann',
      state: expect.stringMatching(/^[0-9a-f-]{36}\.[\w-]{22}$/),
    })
    expect(to.searchParams.has('State')).toBe(false)
  })

  test('can be told instead of done', async () => {
    const { answer } = await leave({ skip_http_redirect: 'true' })
    expect([answer.status, answer.json<{ url: string }>().url]).toEqual([200, expect.stringContaining(github.origin)])
  })

  test.each([
    [{ provider: '' }, 'Unsupported provider: Provider  could not be found'],
    [{ provider: 'nobody' }, 'Unsupported provider: Provider nobody could not be found'],
    [{ provider: 'google' }, 'Unsupported provider: provider is not enabled'],
    [{ code_challenge: 'x' }, 'PKCE flow requires code_challenge_method and code_challenge'],
  ])('%j is refused', async (query, msg) => {
    expect((await leave(query)).answer.json()).toMatchObject({ code: 400, error_code: 'validation_failed', msg })
  })
})

describe('coming back', () => {
  test('somebody new gets an account and a session in the fragment', async () => {
    const back = await signIn({ redirect_to: 'https://site.test/in' })
    expect([back.status, back.to.origin + back.to.pathname]).toEqual([302, 'https://site.test/in'])
    expect(back.fragment).toMatchObject({ token_type: 'bearer', provider: 'github', expires_in: '3600', sb: '' })
    expect(back.fragment).not.toHaveProperty('provider_token')
    const user = await userOf(back)
    expect(user).toMatchObject({
      email: person.email,
      email_confirmed_at: service.now().toISOString(),
      app_metadata: { provider: 'github', providers: ['github'] },
      user_metadata: { full_name: 'Ann', user_name: person.login, email_verified: true, avatar_url: 'https://pictures.test/1' },
      identities: [{ provider: 'github', id: String(person.id), email: person.email }],
    })
    const exchange = github.requests.filter(({ path }) => path === '/login/oauth/access_token').at(-1)
    expect(Object.fromEntries(new URLSearchParams(exchange?.body))).toMatchObject({
      code: 'their code',
      client_id: 'our client',
      client_secret: 'our secret',
      redirect_uri: 'https://auth.site.test/callback',
    })
  })

  test('the same person comes into the same account, as they are called today', async () => {
    const first = await userOf(await signIn())
    person = { ...person, name: 'Ann Other', email: 'another@mail.test' }
    const second = await userOf(await signIn())
    expect(second).toMatchObject({ id: first.id, email: first.email, user_metadata: { full_name: 'Ann Other' } })
  })

  test('twenty who come at once with the same identity come into one account', async () => {
    const users = await Promise.all(Array.from({ length: 20 }, async () => userOf(await signIn())))
    expect(new Set(users.map(({ id }) => id)).size).toBe(1)
    expect(await service.app.db`select from auth.users where email = ${person.email}`).toHaveLength(1)
  })

  test('whoever asked for more scopes is told the provider’s tokens', async () => {
    expect((await signIn({ scopes: 'repo' })).fragment).toMatchObject({
      provider_token: 'their token',
      provider_refresh_token: 'their refresh token',
    })
  })

  test('a client with a challenge gets a code, once, and the tokens with the session', async () => {
    const verifier = 'v'.repeat(50)
    const challenge = { code_challenge: createHash('sha256').update(verifier).digest('base64url'), code_challenge_method: 's256' }
    const back = await signIn({ ...challenge, scopes: 'repo' })
    expect([back.to.hash, Object.keys(back.query)]).toEqual(['', ['code']])
    const exchange = (code_verifier: string) =>
      service.call('POST /token?grant_type=pkce', { json: { auth_code: back.query.code, code_verifier } })
    expect((await exchange('w'.repeat(50))).json()).toMatchObject({ error_code: 'bad_code_verifier' })
    expect((await exchange(verifier)).json()).toMatchObject({ provider_token: 'their token', user: { email: person.email } })
    expect((await exchange(verifier)).json()).toMatchObject({ error_code: 'flow_state_not_found' })
  })

  test('nothing of a flow can be read at rest', async () => {
    await leave({ scopes: 'repo' })
    const rows = JSON.stringify(await service.app.db`select to_jsonb(f) from auth.flow_state f`)
    expect(rows).not.toMatch(/their token|our secret/)
  })
})

describe('whose account it is', () => {
  test('an address that the provider vouches for leads to the account that has it', async () => {
    const { userId } = await createAccount(service, { email: person.email })
    const user = await userOf(await signIn())
    expect(user).toMatchObject({ id: userId, app_metadata: { providers: ['email', 'github'] } })
  })

  test('one that it does not vouch for leads to nobody’s account', async () => {
    const { userId } = await createAccount(service, { email: person.email })
    person = { ...person, verified: false }
    const back = await signIn()
    const user = await userOf(back)
    expect(user.id).not.toBe(userId)
    expect(user.email).toBe('')
  })

  test('what a stranger laid into an account before its owner came is gone when the owner comes', async () => {
    const password = 'correct horse'
    await service.call('POST /signup', { json: { email: person.email, password, data: { evil: true } } })
    const user = await userOf(await signIn())
    expect(user.user_metadata).not.toHaveProperty('evil')
    expect(user.identities.map(({ provider }) => provider)).toEqual(['github'])
    const answer = await service.call('POST /token?grant_type=password', { json: { email: person.email, password } })
    expect(answer.json()).toMatchObject({ error_code: 'invalid_credentials' })
  })

  test('a typed address does not hand over an account that is proved by a phone number', async () => {
    const { userId } = await createAccount(service, {
      email: person.email,
      emailConfirmedAt: null,
      phone: `45${person.id}`.slice(0, 12),
      phoneConfirmedAt: service.now(),
    })
    expect((await userOf(await signIn())).id).not.toBe(userId)
  })

  test('where linking is not wanted, nobody is linked; where signing up is disabled, nobody joins', async () => {
    await createAccount(closed, { email: person.email })
    const back = await signIn({}, closed)
    expect(back.query).toMatchObject({ error: 'access_denied', error_code: 'signup_disabled' })
    expect(back.fragment).toMatchObject(back.query)
  })

  test('somebody without an address is not let in unless that is allowed', async () => {
    person = { ...person, email: '' }
    expect((await signIn()).query).toMatchObject({
      error: 'server_error',
      error_description: 'Error getting user email from external provider',
    })
  })

  test('somebody whose address nobody vouches for confirms it by mail first', async () => {
    person = { ...person, verified: false }
    const back = await signIn()
    expect(back.query).toMatchObject({ error: 'access_denied', error_code: 'provider_email_needs_verification' })
    const { token, type } = await service.mailTo(person.email)
    expect((await service.call('POST /verify', { json: { type, token_hash: token } })).status).toBe(200)
    expect((await userOf(await signIn())).email).toBe(person.email)
  })

  test('somebody banned stays outside', async () => {
    await createAccount(service, { email: person.email, bannedUntil: new Date('2099-01-01') })
    expect((await signIn()).query).toMatchObject({ error: 'access_denied', error_code: 'user_banned' })
  })

  test('an invitation is accepted with the invited address alone', async () => {
    const headers = { authorization: adminAuthorization(service) }
    await service.call('POST /invite', { json: { email: person.email }, headers })
    const { token } = await service.mailTo(person.email)
    const owner = person
    person = newPerson()
    expect((await signIn({ invite_token: token })).query).toMatchObject({
      error_description: 'Invited email does not match emails from external provider',
    })
    person = owner
    expect(await userOf(await signIn({ invite_token: token }))).toMatchObject({
      email: owner.email,
      invited_at: expect.any(String),
    })
    expect((await leave({ invite_token: token })).answer.json()).toMatchObject({ code: 404, error_code: 'user_not_found' })
  })
})

describe('attacks', () => {
  const states: [string, (state: string) => string, string][] = [
    ['missing', () => '', 'bad_oauth_callback'],
    ['forged', () => `${randomUUID()}.${'x'.repeat(22)}`, 'bad_oauth_state'],
    ['nonsense', () => '../../etc', 'bad_oauth_state'],
    ['of another flow, with this one’s signature', (state) => `${randomUUID()}.${state.split('.')[1]}`, 'bad_oauth_state'],
  ]
  test.each(states)('a state that is %s leads to the site, which is told', async (_, change, code) => {
    const { to } = await leave({ redirect_to: 'https://site.test/in' })
    const back = await comeBack({ state: change(to.searchParams.get('state') ?? ''), code: 'x' })
    expect([back.status, back.to.origin + back.to.pathname, back.to.hash]).toEqual([303, 'https://site.test/', ''])
    expect(back.query.error_code).toBe(code)
    expect(service.lines.findLast(({ message }) => message === 'sign-in refused')).toMatchObject({ grant: 'oauth', reason: code })
  })

  test('a state is good once', async () => {
    const { to } = await leave()
    const query = { state: to.searchParams.get('state') ?? '', code: 'x' }
    expect((await comeBack(query)).fragment).toHaveProperty('access_token')
    expect((await comeBack(query)).query.error_code).toMatch(/^(bad_oauth_state|flow_state_already_used)$/)
  })

  test('of twenty who come with the same state one gets in', async () => {
    const { to } = await leave()
    const query = { state: to.searchParams.get('state') ?? '', code: 'x' }
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => comeBack(query)))
    expect(outcomes.filter(({ fragment }) => fragment.access_token)).toHaveLength(1)
  })

  test('a state is good for five minutes', async () => {
    const { to } = await leave()
    service.now.advance(301)
    expect((await comeBack({ state: to.searchParams.get('state') ?? '', code: 'x' })).query).toMatchObject({
      error_code: 'bad_oauth_state',
      error_description: 'OAuth state has expired',
    })
  })

  test.each(['https://evil.test', '//evil.test', 'javascript:alert(1)', 'https://site.test@evil.test'])(
    'nobody is led to %s',
    async (redirect_to) => {
      expect((await signIn({ redirect_to })).to.origin).toBe('https://site.test')
    },
  )

  test('what the provider says went wrong is told, and nothing else happens', async () => {
    const { to } = await leave()
    const before = github.requests.length
    const back = await comeBack({
      state: to.searchParams.get('state') ?? '',
      error: 'access_denied',
      error_description: 'They said no',
    })
    expect(back.query).toMatchObject({ error: 'access_denied', error_description: 'They said no' })
    expect(github.requests.length).toBe(before)
  })

  test('a provider in trouble is told of without what it said', async () => {
    const { to } = await leave()
    github.answer({ 'POST /login/oauth/access_token': { status: 500, json: { error: 'secret stuff' } } })
    const back = await comeBack({ state: to.searchParams.get('state') ?? '', code: 'abcdefgh' })
    expect(back.query).toMatchObject({ error: 'server_error', error_description: 'Unable to exchange external code: abcd' })
  })

  test('an address of our own network is never asked, unless that is allowed', async () => {
    const own = await startWithInbox({
      AUTH_EXTERNAL_GITHUB_ENABLED: 'true',
      AUTH_EXTERNAL_GITHUB_CLIENT_ID: 'our client',
      AUTH_EXTERNAL_GITHUB_SECRET: 'our secret',
      AUTH_EXTERNAL_GITHUB_REDIRECT_URI: 'https://auth.site.test/callback',
      AUTH_EXTERNAL_GITHUB_URL: github.origin,
      AUTH_SECURITY_ALLOW_PRIVATE_ADDRESSES: 'false',
    })
    const before = github.requests.length
    expect((await signIn({}, own)).query).toMatchObject({ error: 'server_error' })
    expect(github.requests.length).toBe(before)
    await own.stop()
  })
})
