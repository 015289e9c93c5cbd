import { randomUUID } from 'node:crypto'
import type { EmailOtpType, GenerateLinkParams, Session } from '@supabase/auth-js'
import { adminAuthorization, startIdentity } from '@tollgate/identity/testing'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { newAddress, newClient, newNumber, pass, shareClock } from './auth-js-client.ts'

// What an operator's program does, where nobody can sign up by themselves.
let service: Awaited<ReturnType<typeof startIdentity>>
beforeAll(async () => {
  service = await startIdentity({ AUTH_DISABLE_SIGNUP: 'true', AUTH_EXTERNAL_PHONE_ENABLED: 'true' })
  shareClock(service)
})
afterAll(async () => {
  vi.useRealTimers()
  await service.stop()
})

const client = (headers: Record<string, string> = {}) => newClient(service, { headers })

/** The client as an operator has it, with a service key. */
const operator = (headers: Record<string, string> = {}) =>
  client({ Authorization: adminAuthorization(service), ...headers }).admin

const password = 'correct horse'

async function create(email = newAddress()) {
  const { data, error } = await operator().createUser({ email, password, email_confirm: true })
  expect(error).toBeNull()
  return { email, id: data.user?.id ?? '' }
}

async function signIn(email: string) {
  const auth = client()
  const { data, error } = await auth.signInWithPassword({ email, password })
  expect(error).toBeNull()
  return { auth, session: data.session as Session }
}

const notFound = { name: 'AuthApiError', status: 404, code: 'user_not_found', message: 'User not found' }
const ended = { name: 'AuthApiError', status: 400, code: 'refresh_token_not_found' }

describe('createUser', () => {
  test('makes an account that can sign in at once, although nobody can sign up', async () => {
    const email = newAddress()
    const phone = newNumber()
    const { data, error } = await operator().createUser({
      email,
      phone,
      password,
      email_confirm: true,
      phone_confirm: true,
      user_metadata: { nick: 'ann' },
      app_metadata: { plan: 'pro' },
      role: 'clerk',
    })
    expect(error).toBeNull()
    expect(data.user).toMatchObject({
      email,
      phone: phone.slice(1),
      role: 'clerk',
      user_metadata: { nick: 'ann' },
      app_metadata: { plan: 'pro', provider: 'email', providers: ['email', 'phone'] },
    })
    expect(data.user?.email_confirmed_at).toBeDefined()
    for (const contact of [{ email }, { phone }]) {
      const auth = client()
      expect(await auth.signInWithPassword({ ...contact, password })).toMatchObject({
        error: null,
        data: { user: { id: data.user?.id } },
      })
      expect((await auth.getClaims()).data?.claims).toMatchObject({ role: 'clerk', app_metadata: { plan: 'pro' } })
    }
    expect((await client().signUp({ email: newAddress(), password })).error).toMatchObject({
      name: 'AuthApiError',
      status: 422,
      code: 'signup_disabled',
    })
  })

  test('is the only way in where other ways are closed', async () => {
    const refused = async (call: Promise<{ error: unknown }>) => (await call).error
    expect(await refused(client().signInAnonymously())).toMatchObject({ status: 422, code: 'anonymous_provider_disabled' })
    expect(await refused(client().signUp({ phone: newNumber(), password }))).toMatchObject({
      status: 422,
      code: 'signup_disabled',
    })
  })

  test('takes an id', async () => {
    const id = randomUUID()
    expect((await operator().createUser({ id, email: newAddress() })).data.user?.id).toBe(id)
  })

  test('takes the hash of a password that was chosen elsewhere', async () => {
    const email = newAddress()
    // bcrypt's own example of a hash of "U*U".
    const password_hash = '$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW'
    expect((await operator().createUser({ email, password_hash, email_confirm: true })).error).toBeNull()
    expect((await client().signInWithPassword({ email, password: 'U*U' })).error).toBeNull()
    expect((await client().signInWithPassword({ email, password: 'U*V' })).error).toMatchObject({ code: 'invalid_credentials' })
  })

  test('refuses an address or number that is taken, and nobody at all', async () => {
    const { email } = await create()
    const phone = newNumber()
    await operator().createUser({ phone })
    const nobody = { data: { user: null } }
    expect(await operator().createUser({ email })).toMatchObject({
      ...nobody,
      error: { name: 'AuthApiError', status: 422, code: 'email_exists' },
    })
    expect(await operator().createUser({ phone })).toMatchObject({
      ...nobody,
      error: { name: 'AuthApiError', status: 422, code: 'phone_exists' },
    })
    expect(await operator().createUser({ password })).toMatchObject({
      ...nobody,
      error: { name: 'AuthApiError', status: 400, code: 'validation_failed' },
    })
  })
})

describe('listUsers', () => {
  /** An audience of its own has nobody else in it. */
  async function crowd(size: number) {
    const admin = operator({ 'X-JWT-AUD': randomUUID() })
    const ids: string[] = []
    for (let one = 0; one < size; one++) {
      pass(service, 1)
      ids.unshift((await admin.createUser({ email: newAddress() })).data.user?.id ?? '')
    }
    return { admin, ids }
  }

  test('goes through everybody page by page, newest first', async () => {
    const { admin, ids } = await crowd(5)
    const pages = [1, 2, 3].map((page) => admin.listUsers({ page, perPage: 2 }))
    const [first, second, third] = (await Promise.all(pages)).map(({ data, error }) => {
      expect(error).toBeNull()
      return { ...data, users: data.users.map(({ id }) => id) }
    })
    expect(first).toMatchObject({ users: ids.slice(0, 2), total: 5, nextPage: 2, lastPage: 3 })
    expect(second).toMatchObject({ users: ids.slice(2, 4), total: 5, nextPage: 3, lastPage: 3 })
    expect(third).toMatchObject({ users: ids.slice(4), total: 5, nextPage: null, lastPage: 3 })
    expect((await admin.listUsers({ page: 4, perPage: 2 })).data).toMatchObject({ users: [], total: 5, nextPage: null })
  })

  test('shows up to fifty people where no page is named', async () => {
    const { admin, ids } = await crowd(3)
    const { data, error } = await admin.listUsers()
    expect(error).toBeNull()
    expect(data).toMatchObject({ aud: expect.any(String), total: 3, nextPage: null, lastPage: 1 })
    expect(data.users.map(({ id }) => id)).toEqual(ids)
    expect(data.users[0]).toMatchObject({ email: expect.stringContaining('@site.test'), is_anonymous: false })
  })

  test('shows nobody where there is nobody', async () => {
    const { admin } = await crowd(0)
    expect((await admin.listUsers()).data).toMatchObject({ users: [], total: 0, nextPage: null, lastPage: 0 })
  })

  test('refuses a page that cannot be', async () => {
    const { data, error } = await operator().listUsers({ page: -1 })
    expect(data).toEqual({ users: [] })
    expect(error).toMatchObject({ name: 'AuthApiError', status: 400, code: 'validation_failed' })
  })
})

test('getUserById shows an account with its identities, or says that there is none', async () => {
  const { email, id } = await create()
  const { data, error } = await operator().getUserById(id)
  expect(error).toBeNull()
  expect(data.user).toMatchObject({ id, email, identities: [{ provider: 'email', identity_data: { email } }] })
  expect(await operator().getUserById(randomUUID())).toMatchObject({ data: { user: null }, error: notFound })
})

describe('updateUserById', () => {
  test('changes an account at once, and sends nothing', async () => {
    const { id } = await create()
    const email = newAddress()
    const phone = newNumber()
    const { data, error } = await operator().updateUserById(id, {
      email,
      phone,
      email_confirm: true,
      phone_confirm: true,
      user_metadata: { nick: 'ann', size: 38 },
      app_metadata: { plan: 'pro' },
      role: 'clerk',
    })
    expect(error).toBeNull()
    expect(data.user).toMatchObject({ id, email, phone: phone.slice(1), role: 'clerk', user_metadata: { nick: 'ann', size: 38 } })
    expect(data.user?.app_metadata).toMatchObject({ plan: 'pro', provider: 'email' })
    const { data: again } = await operator().updateUserById(id, { user_metadata: { size: null } })
    expect(again.user?.user_metadata).toMatchObject({ nick: 'ann' })
    expect(again.user?.user_metadata).not.toHaveProperty('size')
    expect((await client().signInWithPassword({ phone, password })).data.user).toMatchObject({ id, email })
  })

  test('sets a password, which ends all sessions', async () => {
    const { email, id } = await create()
    const { auth } = await signIn(email)
    expect((await operator().updateUserById(id, { password: 'another horse' })).error).toBeNull()
    expect((await auth.refreshSession()).error).toMatchObject(ended)
    expect((await client().signInWithPassword({ email, password })).error).toMatchObject({ code: 'invalid_credentials' })
    expect((await client().signInWithPassword({ email, password: 'another horse' })).error).toBeNull()
  })

  test('bans somebody, who is told only with the right password, and lets them in again', async () => {
    const { email, id } = await create()
    const { auth } = await signIn(email)
    const { data } = await operator().updateUserById(id, { ban_duration: '24h' })
    expect(Date.parse((data.user as unknown as { banned_until: string }).banned_until)).toBe(service.now().getTime() + 86_400_000)
    const banned = { name: 'AuthApiError', status: 400, code: 'user_banned' }
    expect((await client().signInWithPassword({ email, password })).error).toMatchObject(banned)
    expect((await client().signInWithPassword({ email, password: 'wrong horse' })).error).toMatchObject({
      code: 'invalid_credentials',
    })
    expect((await auth.refreshSession()).error).toMatchObject({ code: 'user_banned' })
    expect((await operator().updateUserById(id, { ban_duration: 'none' })).error).toBeNull()
    expect((await client().signInWithPassword({ email, password })).error).toBeNull()
    expect((await operator().updateUserById(id, { ban_duration: '24' })).error).toMatchObject({
      status: 400,
      code: 'validation_failed',
    })
  })

  test('refuses what is taken, what is weak and whom nobody knows', async () => {
    const { email } = await create()
    const { id } = await create()
    expect((await operator().updateUserById(id, { email })).error).toMatchObject({
      name: 'AuthApiError',
      status: 422,
      code: 'email_exists',
    })
    expect((await operator().updateUserById(id, { password: 'short' })).error).toMatchObject({
      name: 'AuthWeakPasswordError',
      status: 422,
      reasons: ['length'],
    })
    expect((await operator().updateUserById(randomUUID(), { role: 'clerk' })).error).toMatchObject(notFound)
  })
})

describe('deleteUser', () => {
  test('leaves nothing of an account', async () => {
    const { email, id } = await create()
    const { auth, session } = await signIn(email)
    expect((await operator().deleteUser(id)).error).toBeNull()
    expect((await operator().getUserById(id)).error).toMatchObject(notFound)
    expect((await client().getUser(session.access_token)).error).toMatchObject({ status: 403, code: 'user_not_found' })
    expect((await auth.refreshSession()).error).toMatchObject(ended)
    expect((await operator().createUser({ email })).error).toBeNull()
    expect((await operator().deleteUser(id)).error).toMatchObject(notFound)
  })

  test('can leave a row by which nobody is recognised, and the address free', async () => {
    const { email, id } = await create()
    const { auth } = await signIn(email)
    expect((await operator().deleteUser(id, true)).error).toBeNull()
    const { data } = await operator().getUserById(id)
    expect(data.user?.deleted_at).toBeDefined()
    expect(JSON.stringify(data.user)).not.toContain(email)
    expect((await auth.refreshSession()).error).toMatchObject(ended)
    expect((await client().signInWithPassword({ email, password })).error).toMatchObject({ code: 'invalid_credentials' })
    expect((await operator().createUser({ email })).error).toBeNull()
  })
})

describe('generateLink', () => {
  const confirmed = async () => (await create()).email
  const unknown = async () => newAddress()
  type Kind = { whom(): Promise<string>; more?: object; verified: EmailOtpType }
  const kinds: Record<string, Kind> = {
    signup: { whom: unknown, more: { password }, verified: 'signup' },
    invite: { whom: unknown, verified: 'invite' },
    magiclink: { whom: confirmed, verified: 'magiclink' },
    recovery: { whom: confirmed, verified: 'recovery' },
  }

  async function generate(type: string, more: object = {}) {
    const { whom, more: usual, verified } = kinds[type] as Kind
    const email = await whom()
    const { data, error } = await operator().generateLink({ type, email, ...usual, ...more } as GenerateLinkParams)
    expect(error).toBeNull()
    expect(data.user).toMatchObject({ email })
    expect(data.properties?.verification_type).toBe(verified)
    if (!data.properties) throw new Error('There is no link')
    return { email, user: data.user, type: verified, ...data.properties }
  }

  async function follow(link: string): Promise<URL> {
    const { origin, pathname, search } = new URL(link)
    expect(origin).toBe('https://auth.site.test')
    const answer = await fetch(`${service.origin}${pathname}${search}`, { redirect: 'manual' })
    return new URL(answer.headers.get('location') ?? '')
  }

  test.each(Object.keys(kinds))('of %s gives a link that leads to a session', async (type) => {
    const { email, action_link, redirect_to } = await generate(type)
    expect(redirect_to).toBe('https://site.test')
    const address = await follow(action_link)
    const { access_token = '', refresh_token = '', ...told } = Object.fromEntries(new URLSearchParams(address.hash.slice(1)))
    expect(told).toMatchObject({ token_type: 'bearer', expires_in: '3600', type })
    const auth = client()
    expect(await auth.setSession({ access_token, refresh_token })).toMatchObject({ error: null, data: { user: { email } } })
    expect((await auth.refreshSession()).error).toBeNull()
  })

  test.each(Object.keys(kinds))('of %s gives a code and a hash, either of which verifies', async (type) => {
    const byCode = await generate(type)
    expect(byCode.email_otp).toMatch(/^\d{6}$/)
    const { error } = await client().verifyOtp({ type: byCode.type, email: byCode.email, token: byCode.email_otp })
    expect(error).toBeNull()
    const byHash = await generate(type)
    expect(await client().verifyOtp({ type: byHash.type, token_hash: byHash.hashed_token })).toMatchObject({
      error: null,
      data: { session: { user: { email: byHash.email } } },
    })
  })

  // The client names the page in the query, and under a name of its own in the body.
  test.each(Object.keys(kinds))('of %s leads to the page that the client names', async (type) => {
    const redirectTo = 'https://site.test/in?a=1&b=2'
    const { action_link, redirect_to } = await generate(type, { options: { redirectTo } })
    expect(redirect_to).toBe(redirectTo)
    expect((await follow(action_link)).href).toMatch(/^https:\/\/site\.test\/in\?a=1&b=2#/)
  })

  test('keeps the data that comes with it', async () => {
    const { email, type, hashed_token } = await generate('signup', { options: { data: { nick: 'ann' } } })
    const { data } = await client().verifyOtp({ type, token_hash: hashed_token })
    expect(data.user).toMatchObject({ email, user_metadata: { nick: 'ann' } })
    expect((await client().signInWithPassword({ email, password })).error).toBeNull()
  })

  test('of a magic link for somebody unknown signs them up', async () => {
    const email = newAddress()
    const { data } = await operator().generateLink({ type: 'magiclink', email })
    expect(data.properties?.verification_type).toBe('signup')
    const token_hash = data.properties?.hashed_token ?? ''
    expect((await client().verifyOtp({ type: 'signup', token_hash })).data.user).toMatchObject({ id: data.user?.id, email })
  })

  test('of a change of address gives both halves, by hash and by code', async () => {
    const { email, id } = await create()
    const newEmail = newAddress()
    const { data: current } = await operator().generateLink({ type: 'email_change_current', email, newEmail })
    const { data: next } = await operator().generateLink({ type: 'email_change_new', email, newEmail })
    expect(current.properties?.verification_type).toBe('email_change_current')
    expect(next.properties?.verification_type).toBe('email_change_new')
    expect(next.user).toMatchObject({ id, email, new_email: newEmail })
    const token_hash = current.properties?.hashed_token ?? ''
    const nobody = { user: null, session: null }
    expect(await client().verifyOtp({ type: 'email_change', token_hash })).toEqual({ data: nobody, error: null })
    const token = next.properties?.email_otp ?? ''
    expect((await client().verifyOtp({ type: 'email_change', email: newEmail, token })).data.user).toMatchObject({
      id,
      email: newEmail,
    })
  })

  test('of a change of address gives links that lead on', async () => {
    const { email } = await create()
    const newEmail = newAddress()
    const hashes: string[] = []
    for (const type of ['email_change_new', 'email_change_current'] as const) {
      const { data } = await operator().generateLink({ type, email, newEmail })
      hashes.push((await follow(data.properties?.action_link ?? '')).hash)
    }
    expect(hashes).toEqual([expect.stringContaining('message=Confirmation'), expect.stringContaining('type=email_change')])
    expect((await client().signInWithPassword({ email: newEmail, password })).error).toBeNull()
  })

  test('refuses whom it is not for', async () => {
    const { email } = await create()
    const { email: taken } = await create()
    const refusal = async (params: GenerateLinkParams) => {
      const { data, error } = await operator().generateLink(params)
      expect(data).toEqual({ properties: null, user: null })
      return error
    }
    const exists = { name: 'AuthApiError', status: 422, code: 'email_exists' }
    expect(await refusal({ type: 'signup', email, password })).toMatchObject(exists)
    expect(await refusal({ type: 'invite', email })).toMatchObject(exists)
    expect(await refusal({ type: 'email_change_new', email, newEmail: taken })).toMatchObject(exists)
    expect(await refusal({ type: 'recovery', email: newAddress() })).toMatchObject({ status: 404, code: 'user_not_found' })
    expect(await refusal({ type: 'signup', email: newAddress(), password: 'short' })).toMatchObject({
      name: 'AuthWeakPasswordError',
    })
  })
})

test('inviteUserByEmail refuses somebody who is in already', async () => {
  const { email } = await create()
  expect(await operator().inviteUserByEmail(email)).toMatchObject({
    data: { user: null },
    error: { name: 'AuthApiError', status: 422, code: 'email_exists' },
  })
})

test.each([
  ['global', { own: false, other: false }],
  ['local', { own: false, other: true }],
  ['others', { own: true, other: false }],
] as const)('signOut of scope %s ends sessions by an access token alone', async (scope, goesOn) => {
  const { email } = await create()
  const own = await signIn(email)
  const other = await signIn(email)
  expect(await client().admin.signOut(own.session.access_token, scope)).toEqual({ data: null, error: null })
  expect((await own.auth.refreshSession()).error === null).toBe(goesOn.own)
  expect((await other.auth.refreshSession()).error === null).toBe(goesOn.other)
})

test('somebody who is no operator is refused everything', async () => {
  const { email, id } = await create()
  const { session } = await signIn(email)
  const calls = (headers: Record<string, string>) => {
    const { admin } = client(headers)
    return Promise.all([
      admin.createUser({ email: newAddress() }),
      admin.listUsers(),
      admin.getUserById(id),
      admin.updateUserById(id, { role: 'service_role' }),
      admin.deleteUser(id),
      admin.inviteUserByEmail(newAddress()),
      admin.generateLink({ type: 'recovery', email }),
    ])
  }
  for (const { error } of await calls({ Authorization: `Bearer ${session.access_token}` }))
    expect(error).toMatchObject({ name: 'AuthApiError', status: 403, code: 'not_admin' })
  for (const { error } of await calls({}))
    expect(error).toMatchObject({ name: 'AuthApiError', status: 401, code: 'no_authorization' })
  for (const { error } of await calls({ Authorization: 'Bearer not.a.token' }))
    expect(error).toMatchObject({ name: 'AuthApiError', status: 403, code: 'bad_jwt' })
  expect((await operator().getUserById(id)).data.user?.role).toBe('authenticated')
})
