import { createHash, randomUUID } from 'node:crypto'
import { hash as bcrypt } from '@node-rs/bcrypt'
import type { Db, Sql, Tx } from '@tollgate/kit/db'
import { createTogether } from '@tollgate/kit/together'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { App } from '../app.ts'
import { createExchange } from '../operations/refresh-session.ts'
import { type Bearer, findBearers } from '../store/users.ts'
import { createAccount, startWithInbox } from '../testing.ts'

let service: Awaited<ReturnType<typeof startWithInbox>>
let single: typeof service
let hash: string

const password = 'correct horse'

beforeAll(async () => {
  service = await startWithInbox()
  single = await startWithInbox({ AUTH_SESSIONS_SINGLE_PER_USER: 'true' })
  hash = await service.app.passwords.hash(password)
})
afterAll(() => Promise.all([service.stop(), single.stop()]))

type Told = { access_token: string; refresh_token: string; expires_at: number; user: Record<string, unknown> & { id: string } }

async function grant(type: string, json: object, headers: Record<string, string> = {}, at = service) {
  const answer = await at.call(`POST /token?grant_type=${type}`, { json, headers })
  return { status: answer.status, headers: answer.headers, told: answer.json<Told>() }
}

const claimsOf = (token: string) =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>

describe('password', () => {
  test('the right one opens a session, whose token says all that today’s clients read', async () => {
    const { userId } = await createAccount(service, { passwordHash: hash, userMetadata: { full_name: 'Ann' } })
    const email = `${userId}@site.test`
    const { status, told, headers } = await grant(
      'password',
      { email: email.toUpperCase(), password },
      { 'user-agent': 'my phone' },
    )
    expect(status).toBe(200)
    const now = Math.floor(service.now().getTime() / 1000)
    expect(told).toMatchObject({
      token_type: 'bearer',
      expires_in: 3600,
      expires_at: now + 3600,
      weak_password: null,
      user: { id: userId },
    })
    const claims = claimsOf(told.access_token)
    expect(claims).toEqual({
      sub: userId,
      aud: 'authenticated',
      exp: now + 3600,
      iat: now,
      email,
      phone: '',
      app_metadata: { provider: 'email', providers: ['email'] },
      user_metadata: { full_name: 'Ann' },
      role: 'authenticated',
      aal: 'aal1',
      amr: [{ method: 'password', timestamp: now }],
      session_id: expect.any(String),
      is_anonymous: false,
    })
    expect(headers).toMatchObject({ 'sb-auth-user-id': userId, 'sb-auth-session-id': claims.session_id })
    const [row] = await service.app
      .db`select user_agent, host(ip) as ip from auth.sessions where id = ${String(claims.session_id)}`
    expect(row).toEqual({ user_agent: 'my phone', ip: '127.0.0.1' })
    const audits = await service.app.db`select payload from auth.audit_log_entries where payload ->> 'actor_id' = ${userId}`
    expect(audits).toMatchObject([
      {
        payload: {
          action: 'login',
          log_type: 'account',
          actor_username: email,
          actor_name: 'Ann',
          traits: { provider: 'email' },
        },
      },
    ])
  })

  test('a phone number may be written as people write it', async () => {
    const { userId } = await createAccount(service, { passwordHash: hash, phone: '4511223344', phoneConfirmedAt: service.now() })
    expect((await grant('password', { phone: '+45 11 22 33 44', password })).told.user.id).toBe(userId)
  })

  const refused = { code: 400, error_code: 'invalid_credentials', msg: 'Invalid login credentials' }
  test.each<[string, () => Parameters<typeof createAccount>[1] | undefined]>([
    ['unknown', () => undefined],
    ['known', () => ({ passwordHash: hash })],
    ['without a password', () => ({ passwordHash: null })],
    ['without wanting a password', () => ({ passwordHash: '' })],
    ['unconfirmed', () => ({ passwordHash: hash, emailConfirmedAt: null })],
    ['banned', () => ({ passwordHash: hash, bannedUntil: new Date('2099-01-01') })],
    ['of another audience', () => ({ passwordHash: hash, aud: 'others' })],
    ['with a hash that nobody understands', () => ({ passwordHash: 'nonsense' })],
  ])('a wrong one is refused alike for somebody %s', async (_, given) => {
    const account = given()
    const email = account ? `${(await createAccount(service, account)).userId}@site.test` : `${randomUUID()}@site.test`
    for (const wrong of ['wrong horse', '', 'x'.repeat(100_000)])
      expect((await grant('password', { email, password: wrong })).told).toEqual(refused)
  })

  test('who is refused stands in the log by their id, with where it came from, and a stranger as nobody', async () => {
    const { userId } = await createAccount(service, { passwordHash: hash })
    const before = service.lines.length
    for (const email of [`${userId}@site.test`, `${randomUUID()}@site.test`])
      await grant('password', { email, password: 'wrong horse' })
    const lines = service.lines.slice(before)
    const refusals = lines.filter(({ message }) => message === 'sign-in refused')
    expect(refusals).toMatchObject([
      {
        level: 'info',
        user: userId,
        grant: 'password',
        reason: 'invalid_credentials',
        address: '127.0.0.1',
        request_id: expect.any(String) as string,
      },
      { user: null },
    ])
    expect(JSON.stringify(lines)).not.toMatch(/@site\.test|wrong horse/)
  })

  test('only whoever knows the password is told what else is the matter', async () => {
    const unconfirmed = await createAccount(service, { passwordHash: hash, emailConfirmedAt: null })
    const banned = await createAccount(service, { passwordHash: hash, bannedUntil: new Date('2099-01-01') })
    const codes = await Promise.all(
      [unconfirmed, banned].map(async ({ userId }) => (await grant('password', { email: `${userId}@site.test`, password })).told),
    )
    expect(codes).toEqual([
      { code: 400, error_code: 'email_not_confirmed', msg: 'Email not confirmed' },
      { code: 400, error_code: 'user_banned', msg: 'User is banned' },
    ])
    const refusals = service.lines.filter(({ message }) => message === 'sign-in refused')
    expect(refusals).toContainEqual(expect.objectContaining({ user: unconfirmed.userId, reason: 'email_not_confirmed' }))
    expect(refusals).toContainEqual(expect.objectContaining({ user: banned.userId, reason: 'user_banned' }))
  })

  test('a hash of another kind is replaced by one of ours, once', async () => {
    const { userId } = await createAccount(service, { passwordHash: await bcrypt(password, 4) })
    const stored = async () =>
      (await service.app.db<{ hash: string }>`select encrypted_password as hash from auth.users where id = ${userId}`)[0]?.hash
    expect((await grant('password', { email: `${userId}@site.test`, password })).status).toBe(200)
    const upgraded = await stored()
    expect(upgraded).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    expect((await grant('password', { email: `${userId}@site.test`, password })).status).toBe(200)
    expect(await stored()).toBe(upgraded)
  })

  test('a password that the rules of today would refuse still opens, and is reported', async () => {
    const { userId } = await createAccount(service, { passwordHash: await service.app.passwords.hash('abc') })
    const { told } = await grant('password', { email: `${userId}@site.test`, password: 'abc' })
    expect(told).toMatchObject({ weak_password: { message: 'Password should be at least 6 characters.', reasons: ['length'] } })
  })

  test('metadata that no header holds is left out of the token, not out of the account', async () => {
    const { userId } = await createAccount(service, { passwordHash: hash, userMetadata: { story: 'x'.repeat(20_000) } })
    const { told } = await grant('password', { email: `${userId}@site.test`, password })
    expect(claimsOf(told.access_token).user_metadata).toEqual({})
    const me = await service.call('GET /user', { headers: { authorization: `Bearer ${told.access_token}` } })
    expect(me.json<{ user_metadata: { story: string } }>().user_metadata.story).toHaveLength(20_000)
  })

  test.each<[string, object, number, string, string]>([
    [
      'both contacts',
      { email: 'a@b.test', phone: '45', password },
      400,
      'validation_failed',
      'Only an email address or phone number should be provided on login.',
    ],
    ['no contact', { password }, 400, 'validation_failed', 'missing email or phone'],
  ])('%s is refused', async (_, json, status, error_code, msg) => {
    expect((await grant('password', json)).told).toEqual({ code: status, error_code, msg })
  })
})

test.each(['', 'implicit', '__proto__', 'constructor'])('the grant type %j is none', async (type) => {
  expect((await grant(type, {})).told).toEqual({ code: 400, error_code: 'invalid_credentials', msg: 'unsupported_grant_type' })
})

describe('refresh_token', () => {
  test('gives the next one, and a token with the account as it is now', async () => {
    const { userId, sessionId, refreshToken } = await createAccount(service)
    await service.app.db`update auth.users set role = 'editor' where id = ${userId}`
    service.now.advance(100)
    const { status, told } = await grant('refresh_token', { refresh_token: refreshToken }, { 'user-agent': 'my tablet' })
    expect(status).toBe(200)
    expect(told).not.toHaveProperty('weak_password')
    expect(claimsOf(told.access_token)).toMatchObject({ role: 'editor', session_id: sessionId, amr: [{ method: 'password' }] })
    const [row] = await service.app.db`select user_agent from auth.sessions where id = ${sessionId}`
    expect(row).toEqual({ user_agent: 'my tablet' })
    const audits = await service.app.db<{ action: string }>`
      select payload ->> 'action' as action from auth.audit_log_entries where payload ->> 'actor_id' = ${userId} order by 1`
    expect(audits.map(({ action }) => action)).toEqual(['token_refreshed', 'token_revoked'])
  })

  test.each(['', 'short', 'x'.repeat(600), 'with blanks in it', 'œuvre-œuvre-œuvre'])(
    '%j is no refresh token',
    async (refresh_token) => {
      expect((await grant('refresh_token', { refresh_token })).told).toMatchObject({
        code: 400,
        error_code: 'validation_failed',
        msg: 'Refresh token is not valid',
      })
    },
  )

  test('one that nobody was given is not found', async () => {
    expect((await grant('refresh_token', { refresh_token: 'abcdefghijkl' })).told).toMatchObject({
      code: 400,
      error_code: 'refresh_token_not_found',
    })
  })

  test('where people have one session, an older one ends when it is refreshed', async () => {
    const first = await createAccount(single, { passwordHash: hash })
    single.now.advance(1)
    const { told } = await grant('password', { email: `${first.userId}@site.test`, password }, {}, single)
    expect((await grant('refresh_token', { refresh_token: first.refreshToken }, {}, single)).told).toMatchObject({
      error_code: 'session_expired',
      msg: 'Invalid Refresh Token: Session Expired (Revoked by Newer Login)',
    })
    expect((await grant('refresh_token', { refresh_token: told.refresh_token }, {}, single)).status).toBe(200)
  })
})

describe('pkce', () => {
  const verifier = 'v'.repeat(50)
  const s256 = createHash('sha256').update(verifier).digest('base64url')

  async function codeFor(challenge: object): Promise<string> {
    const { userId } = await createAccount(service)
    const email = `${userId}@site.test`
    await service.call('POST /otp', { json: { email, ...challenge } })
    const { token, type } = await service.mailTo(email)
    const answer = await service.call(`GET /verify?token=${token}&type=${type}`)
    const location = new URL(String(answer.headers.location))
    expect([answer.status, location.hash]).toEqual([303, ''])
    return location.searchParams.get('code') ?? ''
  }

  test.each([
    ['s256', { code_challenge: s256, code_challenge_method: 's256' }],
    ['plain', { code_challenge: verifier, code_challenge_method: 'plain' }],
  ])('a code and the verifier of the flow open a session, once: %s', async (_, challenge) => {
    const auth_code = await codeFor(challenge)
    const { status, told } = await grant('pkce', { auth_code, code_verifier: verifier })
    expect(status).toBe(200)
    expect(claimsOf(told.access_token).amr).toMatchObject([{ method: 'magiclink' }])
    expect((await grant('pkce', { auth_code, code_verifier: verifier })).told).toMatchObject({
      code: 404,
      error_code: 'flow_state_not_found',
    })
  })

  test('a wrong verifier is refused and uses nothing up', async () => {
    const auth_code = await codeFor({ code_challenge: s256, code_challenge_method: 's256' })
    expect((await grant('pkce', { auth_code, code_verifier: 'w'.repeat(50) })).told).toMatchObject({
      code: 400,
      error_code: 'bad_code_verifier',
    })
    expect((await grant('pkce', { auth_code, code_verifier: verifier })).status).toBe(200)
    expect(service.lines.findLast(({ message }) => message === 'sign-in refused')).toMatchObject({
      grant: 'pkce',
      reason: 'bad_code_verifier',
      user: expect.any(String) as string,
    })
  })

  test('of twenty who present the same code one gets in', async () => {
    const auth_code = await codeFor({ code_challenge: s256, code_challenge_method: 's256' })
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => grant('pkce', { auth_code, code_verifier: verifier })))
    expect(outcomes.filter(({ status }) => status === 200)).toHaveLength(1)
  })

  test('a code is good for five minutes', async () => {
    const auth_code = await codeFor({ code_challenge: s256, code_challenge_method: 's256' })
    service.now.advance(301)
    expect((await grant('pkce', { auth_code, code_verifier: verifier })).told).toMatchObject({
      code: 422,
      error_code: 'flow_state_expired',
    })
  })

  test.each([{}, { auth_code: 'x' }, { code_verifier: 'x' }])('%j is not enough', async (json) => {
    expect((await grant('pkce', json)).told).toMatchObject({
      code: 400,
      msg: 'invalid request: both auth code and code verifier should be non-empty',
    })
  })
})

describe('statements', () => {
  /** How many statements a request costs, those inside of transactions included. */
  async function countOf(request: () => Promise<unknown>): Promise<number> {
    const dbs = service.apps.map(({ db }) => db)
    const put = (app: App, db: Db) => {
      const whoIs = createTogether((bearers: readonly Bearer[]) => findBearers(db, bearers))
      Object.assign(app, { db, whoIs, exchange: createExchange({ ...app, db }) })
    }
    let count = 0
    const counted =
      <S extends Sql>(sql: S): Sql =>
      (template, ...values) => {
        count++
        return sql(template, ...values)
      }
    for (const app of service.apps) {
      const { db } = app
      const begin = <T>(story: (tx: Tx) => Promise<T>) => db.begin((tx) => story(counted(tx) as Tx))
      put(app, Object.assign(counted(db), { begin, close: db.close }))
    }
    await request()
    for (const [index, app] of service.apps.entries()) put(app, dbs[index] as Db)
    return count
  }

  test('a refresh is one, a password grant two, telling who is signed in one', async () => {
    const { userId, refreshToken, authorization } = await createAccount(service, { passwordHash: hash })
    expect(await countOf(() => grant('refresh_token', { refresh_token: refreshToken }))).toBe(1)
    // The previous one again, inside of the interval.
    expect(await countOf(() => grant('refresh_token', { refresh_token: refreshToken }))).toBe(2)
    expect(await countOf(() => grant('password', { email: `${userId}@site.test`, password }))).toBe(2)
    expect(await countOf(() => service.call('GET /user', { headers: { authorization } }))).toBe(1)
  })
})
