import { createHash, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { actorOf, findUser } from '../store/users.ts'
import { adminAuthorization, createAccount, signIn, startIdentity } from '../testing.ts'

type Body = Record<string, unknown>

let service: Awaited<ReturnType<typeof startIdentity>>
beforeAll(async () => {
  service = await startIdentity()
})
afterAll(() => service.stop())

const call = (what: string, json?: unknown, headers: Record<string, string> = {}) =>
  service.call(what, {
    headers: { authorization: adminAuthorization(service), ...headers },
    ...(json === undefined ? {} : { json }),
  })
const fresh = () => `${randomUUID()}@site.test`
const freshPhone = () => `49${Math.floor(Math.random() * 1e10 + 1e10)}`
const create = async (body: Body) => (await call('POST /admin/users', body)).json<Body & { id: string }>()
const change = (id: string, body: Body) => call(`PUT /admin/users/${id}`, body)
const refusal = ({ status, json }: Awaited<ReturnType<typeof call>>) => {
  const { error_code: code, msg } = json<{ error_code: string; msg: string }>()
  return `${status} ${code}: ${msg}`
}
const password = (email: string, password: string) =>
  service.call('POST /token?grant_type=password', { json: { email, password } })
const sessionsOf = async (id: string) => (await service.app.db`select from auth.sessions where user_id = ${id}`).length
const byProvider = (identities: Body[]) => Object.fromEntries(identities.map((each) => [String(each.provider), each]))
const notesOn = async (id: string) =>
  service.app.db<{ payload: Body; address: string }>`
    select payload, ip_address as address from auth.audit_log_entries where payload -> 'traits' ->> 'user_id' = ${id}
    order by created_at, age(xmin) desc`

test('an account is shown with its identities', async () => {
  const { userId } = await createAccount(service)
  const answer = await call(`GET /admin/users/${userId.toUpperCase()}`)
  expect(answer.status).toBe(200)
  expect(answer.json()).toMatchObject({ id: userId, identities: [{ provider: 'email', user_id: userId }] })
})

test.each(['GET', 'PUT', 'DELETE'])('%s of an id that is none, or nobody’s, is a 404', async (method) => {
  const json = method === 'GET' ? undefined : {}
  for (const id of ['ann', '123', `${randomUUID()}x`, '%27or%201=1'])
    expect(refusal(await call(`${method} /admin/users/${id}`, json))).toBe('404 validation_failed: user_id must be an UUID')
  expect(refusal(await call(`${method} /admin/users/${randomUUID()}`, json))).toBe('404 user_not_found: User not found')
  expect((await call(`${method} /admin/users/${'a'.repeat(5000)}`, json)).status).toBe(404)
})

test('nobody is given a password on behalf of an account that is not there', async () => {
  const answer = await change(randomUUID(), { password: 'long enough' })
  expect(refusal(answer)).toBe('404 user_not_found: User not found')
})

test('POST with an id in the path creates the account that the path names', async () => {
  const id = randomUUID()
  const email = fresh()
  const answer = await call(`POST /admin/users/${id.toUpperCase()}`, { email, role: 'editor', email_confirm: true })
  expect(answer.status).toBe(200)
  expect(answer.json()).toMatchObject({ id, email, role: 'editor', identities: [{ id, identity_data: { sub: id } }] })
  expect((await call(`GET /admin/users/${id}`)).json()).toMatchObject({ id, email })
})

test.each([
  ['no UUID', 'ann', { email: 'x@site.test' }, '404 validation_failed: user_id must be an UUID'],
  [
    'the nil UUID',
    '00000000-0000-0000-0000-000000000000',
    { email: 'x@site.test' },
    '400 validation_failed: ID cannot be a nil uuid',
  ],
  [
    'another id than the body',
    randomUUID(),
    { id: randomUUID(), email: 'x@site.test' },
    '400 validation_failed: id: Must be the one in the path, or left out',
  ],
])('POST with %s in the path is refused', async (_, id, body, expected) => {
  expect(refusal(await call(`POST /admin/users/${id}`, body))).toBe(expected)
})

test('an id that somebody has is not given twice', async () => {
  const { userId } = await createAccount(service)
  const expected = '422 user_already_exists: A user with this id already exists'
  expect(refusal(await call(`POST /admin/users/${userId}`, { email: fresh() }))).toBe(expected)
  expect(refusal(await call('POST /admin/users', { id: userId, email: fresh() }))).toBe(expected)
})

test('what is left out of a change stays, and an empty text says nothing', async () => {
  const before = await create({ email: fresh(), role: 'editor', user_metadata: { nick: 'ann' }, app_metadata: { plan: 'pro' } })
  for (const body of [{}, { role: '', email: '', phone: '', ban_duration: '', password_hash: '' }]) {
    const after = (await change(before.id, body)).json()
    expect({ ...after, updated_at: before.updated_at }).toEqual(before)
  }
})

test('false confirms nothing and takes nothing back; id and aud are passed over', async () => {
  const { id, email } = await create({ email: fresh(), email_confirm: true })
  const body = { email_confirm: false, id: randomUUID(), aud: 'elsewhere' }
  expect((await change(id, body)).json()).toMatchObject({
    id,
    email,
    aud: 'authenticated',
    email_confirmed_at: expect.any(String),
  })
})

test('metadata is merged key by key, and a null takes a key away', async () => {
  const { id } = await create({
    email: fresh(),
    user_metadata: { a: 1, b: { c: 2, d: 3 }, e: 5 },
    app_metadata: { plan: 'pro', x: 1 },
  })
  const answer = await change(id, { user_metadata: { b: { c: 9 }, e: null, f: '😀' }, app_metadata: { x: null, y: [1] } })
  expect(answer.json()).toMatchObject({ user_metadata: { a: 1, b: { c: 9 }, f: '😀' } })
  expect(answer.json<{ user_metadata: Body }>().user_metadata).toEqual({ a: 1, b: { c: 9 }, f: '😀' })
  expect(answer.json<{ app_metadata: Body }>().app_metadata).toEqual({
    provider: 'email',
    providers: ['email'],
    plan: 'pro',
    y: [1],
  })
})

test('two changes of metadata at once both stay', async () => {
  const { id } = await create({ email: fresh() })
  const keys = Array.from({ length: 10 }, (_, index) => `key${index}`)
  await Promise.all(keys.map((key) => change(id, { user_metadata: { [key]: 1 } })))
  const { user_metadata: metadata } = (await call(`GET /admin/users/${id}`)).json<{ user_metadata: Body }>()
  expect(Object.keys(metadata).filter((key) => key.startsWith('key'))).toHaveLength(10)
})

test('app_metadata that tokens could not carry is refused, also when it comes in pieces', async () => {
  const expected = '400 validation_failed: app_metadata: Must be at most 8192 bytes of JSON in all'
  const { id } = await create({ email: fresh(), app_metadata: { one: 'x'.repeat(5000) } })
  expect(refusal(await change(id, { app_metadata: { two: 'x'.repeat(5000) } }))).toBe(expected)
  expect(refusal(await call('POST /admin/users', { email: fresh(), app_metadata: { one: '😀'.repeat(2100) } }))).toBe(expected)
  expect((await change(id, { app_metadata: { one: null, two: 'x'.repeat(5000) } })).status).toBe(200)
  expect((await change(id, { role: 'editor' })).status).toBe(200)
})

test('a new password opens the account, and all sessions and codes of the old one are over', async () => {
  const email = fresh()
  const { id } = await create({ email, email_confirm: true, password: 'the old one' })
  const { refreshToken } = await signIn(service, id)
  await signIn(service, id)
  await service.app
    .db`insert into auth.one_time_tokens (user_id, token_type, token_hash, relates_to) values (${id}, 'recovery_token', 'x', ${email})`
  await service.app
    .db`insert into auth.flow_state (id, user_id, provider_type, authentication_method) values (gen_random_uuid(), ${id}, 'email', 'recovery')`
  expect((await change(id, { password: 'the new one' })).status).toBe(200)
  expect(await sessionsOf(id)).toBe(0)
  expect(await service.app.db`select from auth.one_time_tokens where user_id = ${id}`).toHaveLength(0)
  expect(await service.app.db`select from auth.flow_state where user_id = ${id}`).toHaveLength(0)
  expect((await service.call('POST /token?grant_type=refresh_token', { json: { refresh_token: refreshToken } })).status).toBe(400)
  expect((await password(email, 'the old one')).status).toBe(400)
  expect((await password(email, 'the new one')).status).toBe(200)
})

test('a change of anything else leaves sessions alone', async () => {
  const { userId } = await createAccount(service)
  await change(userId, { role: 'editor', email: fresh(), ban_duration: '1h', user_metadata: { a: 1 } })
  expect(await sessionsOf(userId)).toBe(1)
})

test.each([
  ['a short password', { password: 'abc' }, '422 weak_password: Password should be at least 6 characters.'],
  ['an empty password', { password: '' }, '422 weak_password: Password should be at least 6 characters.'],
  ['73 bytes', { password: 'é'.repeat(37) }, '400 validation_failed: Password cannot be longer than 72 characters'],
  [
    'a password and a hash',
    { password: 'long enough', password_hash: '$2b$04$x' },
    '400 validation_failed: Only a password or a password hash should be provided',
  ],
  [
    'a hash of no kind',
    { password_hash: 'swordfish' },
    '400 validation_failed: password_hash: a password hash must be of argon2id, argon2i, bcrypt, Firebase scrypt or PBKDF2',
  ],
  ['a broken address', { email: 'ann' }, '400 validation_failed: Unable to validate email address: invalid format'],
  ['a broken number', { phone: '12ab' }, '400 validation_failed: Invalid phone number format (E.164 required)'],
  [
    'a ban without a unit',
    { ban_duration: '24' },
    '400 validation_failed: invalid format for ban duration: time: missing unit in duration "24"',
  ],
  ['a role of 10 kB', { role: 'r'.repeat(10_240) }, '400 validation_failed: role: Must be at most 255 characters long'],
])('%s is refused', async (_, body, expected) => {
  const { userId } = await createAccount(service)
  expect(refusal(await change(userId, body))).toBe(expected)
})

test.each([
  { role: 1 },
  { email: ['a@site.test'] },
  { phone: 491512345678 },
  { password: {} },
  { password_hash: true },
  { email_confirm: 'true' },
  { phone_confirm: 1 },
  { user_metadata: [] },
  { user_metadata: 'text' },
  { app_metadata: 7 },
  { ban_duration: 24 },
  { user_metadata: { nick: 'a\u0000b' } },
  { role: '\ud800' },
])('%j is of the wrong kind, or holds what cannot be kept', async (body) => {
  const { userId } = await createAccount(service)
  const answer = await change(userId, body)
  expect(answer.status).toBe(400)
  expect(answer.json()).toMatchObject({ error_code: 'bad_json' })
})

test('a role of 255 emojis is kept', async () => {
  const { userId } = await createAccount(service)
  expect((await change(userId, { role: '😀'.repeat(255) })).json()).toMatchObject({ role: '😀'.repeat(255) })
})

test('a hash that was made elsewhere opens the account, and ends its sessions', async () => {
  const { userId } = await createAccount(service)
  const hash = await service.app.passwords.hash('from elsewhere')
  expect((await change(userId, { password_hash: hash })).status).toBe(200)
  expect(await sessionsOf(userId)).toBe(0)
  expect((await password(`${userId}@site.test`, 'from elsewhere')).status).toBe(200)
})

test('an address changes at once, with its identity, and what was under way is over', async () => {
  const { userId } = await createAccount(service)
  await service.app.db`update auth.users set email_change = 'pending@site.test' where id = ${userId}`
  const email = fresh()
  const answer = await change(userId, { email: ` ${email.toUpperCase()} ` })
  expect(answer.json()).toMatchObject({
    email,
    identities: [{ email, identity_data: { email, email_verified: false, sub: userId } }],
  })
  expect(answer.json()).not.toHaveProperty('new_email')
  expect((await change(userId, { email, email_confirm: true })).json()).toMatchObject({
    identities: [{ identity_data: { email_verified: true } }],
    user_metadata: { email_verified: true },
  })
})

test('a number makes an identity of its own, and the account says so', async () => {
  const { userId } = await createAccount(service)
  service.now.advance(1)
  const phone = freshPhone()
  const answer = await change(userId, {
    phone: `+${phone.slice(0, 2)} (${phone.slice(2, 5)}) ${phone.slice(5)}`,
    phone_confirm: true,
  })
  expect(answer.json()).toMatchObject({
    phone,
    phone_confirmed_at: service.now().toISOString(),
    app_metadata: { provider: 'email', providers: ['email', 'phone'] },
    identities: [{ provider: 'email' }, { provider: 'phone', identity_data: { phone, phone_verified: true } }],
  })
})

test('confirming proves the address to its identity too', async () => {
  const { id } = await create({ email: fresh(), phone: freshPhone() })
  const changed = (await change(id, { email_confirm: true, phone_confirm: true })).json<Body & { identities: Body[] }>()
  expect(changed).toMatchObject({
    email_confirmed_at: service.now().toISOString(),
    phone_confirmed_at: service.now().toISOString(),
    user_metadata: { email_verified: true, phone_verified: true },
  })
  expect(byProvider(changed.identities)).toMatchObject({
    email: { identity_data: { email_verified: true, phone_verified: false } },
    phone: { identity_data: { phone_verified: true, email_verified: false } },
  })
})

test('somebody anonymous becomes permanent with an address that is confirmed, not before', async () => {
  const { userId } = await createAccount(service, {
    email: null,
    isAnonymous: true,
    emailConfirmedAt: null,
    identities: [],
    appMetadata: {},
  })
  expect((await change(userId, { email_confirm: true })).json()).toMatchObject({ is_anonymous: true, email: '' })
  expect((await change(userId, { email: fresh() })).json()).toMatchObject({ is_anonymous: true })
  expect((await change(userId, { email_confirm: true })).json()).toMatchObject({
    id: userId,
    is_anonymous: false,
    app_metadata: { provider: 'email', providers: ['email'] },
    identities: [{ provider: 'email' }],
  })
})

test('an address or number of somebody else is refused, and nothing is changed', async () => {
  const phone = freshPhone()
  const other = await create({ email: fresh(), phone })
  const { userId } = await createAccount(service)
  const exists = '422 email_exists: A user with this email address has already been registered'
  expect(refusal(await change(userId, { email: other.email, role: 'editor' }))).toBe(exists)
  expect(refusal(await change(userId, { phone }))).toBe('422 phone_exists: Phone number already registered by another user')
  expect((await call(`GET /admin/users/${userId}`)).json()).toMatchObject({ role: 'authenticated', email: `${userId}@site.test` })
  expect(await notesOn(userId)).toHaveLength(0)
})

test('twenty accounts that are given one address at once: one gets it', async () => {
  const email = fresh()
  const accounts = await Promise.all(Array.from({ length: 20 }, () => createAccount(service)))
  const answers = await Promise.all(accounts.map(({ userId }) => change(userId, { email })))
  const statuses = answers.map(({ status }) => status).sort()
  expect(statuses).toEqual([200, ...Array.from({ length: 19 }, () => 422)])
})

test('a ban lasts from now on, stays when it is over, and none ends it', async () => {
  const { userId, authorization } = await createAccount(service)
  const until = (seconds: number) => new Date(service.now().getTime() + seconds * 1000).toISOString()
  expect((await change(userId, { ban_duration: '1h30m' })).json()).toMatchObject({ banned_until: until(5400) })
  expect((await service.call('GET /user', { headers: { authorization } })).json()).toMatchObject({ error_code: 'user_banned' })
  expect((await change(userId, { role: 'editor' })).json()).toMatchObject({ banned_until: until(5400) })
  expect((await change(userId, { ban_duration: '-1h' })).json()).toMatchObject({ banned_until: until(-3600) })
  expect((await service.call('GET /user', { headers: { authorization } })).status).toBe(200)
  expect((await change(userId, { ban_duration: 'none' })).json()).not.toHaveProperty('banned_until')
})

test('a change is noted with who made it and whom it was about', async () => {
  const operator = await createAccount(service, { role: 'supabase_admin', userMetadata: { full_name: 'Ada' } })
  const { id, email } = await create({ email: fresh() })
  await change(id, { role: 'editor' })
  await call(`PUT /admin/users/${id}`, { role: 'author' }, { authorization: operator.authorization })
  const user = await findUser(service.app.db, operator.userId)
  const [made, byKey, byPerson] = await notesOn(id)
  const traits = { user_id: id, user_email: email, user_phone: '' }
  const service_role = { actor_id: '00000000-0000-0000-0000-000000000000', actor_username: 'service_role', actor_via_sso: false }
  expect(made?.payload).toEqual({ ...service_role, action: 'user_signedup', log_type: 'team', traits })
  expect(byKey?.payload).toEqual({ ...service_role, action: 'user_modified', log_type: 'user', traits })
  expect(user && actorOf(user)).toEqual({ id: operator.userId, username: `${operator.userId}@site.test`, name: 'Ada' })
  expect(byPerson?.payload).toMatchObject({
    actor_id: operator.userId,
    actor_username: `${operator.userId}@site.test`,
    actor_name: 'Ada',
  })
  expect(byPerson?.address).not.toBe('')
})

test('an account is deleted with all that hangs on it, with or without a body', async () => {
  for (const body of [undefined, {}, { should_soft_delete: false }]) {
    const { userId, authorization } = await createAccount(service)
    const answer = await call(`DELETE /admin/users/${userId}`, body)
    expect(`${answer.status} ${answer.text}`).toBe('200 {}')
    expect(await service.app.db`select from auth.identities where user_id = ${userId}`).toHaveLength(0)
    expect(await sessionsOf(userId)).toBe(0)
    expect((await service.call('GET /user', { headers: { authorization } })).json()).toMatchObject({
      error_code: 'user_not_found',
    })
    expect(await notesOn(userId)).toMatchObject([
      { payload: { action: 'user_deleted', log_type: 'team', traits: { user_email: `${userId}@site.test`, user_phone: '' } } },
    ])
    expect((await call(`DELETE /admin/users/${userId}`)).status).toBe(404)
  }
})

test.each([[{ should_soft_delete: 'yes' }], [[true]], ['soft']])('DELETE with %j deletes nothing', async (body) => {
  const { userId } = await createAccount(service)
  expect((await call(`DELETE /admin/users/${userId}`, body)).json()).toMatchObject({ code: 400, error_code: 'bad_json' })
  expect((await call(`GET /admin/users/${userId}`)).status).toBe(200)
})

const scrambled = (text: string) => createHash('sha256').update(text).digest('base64url')

test('a soft deletion leaves a row in which nobody is recognised, and no way in', async () => {
  const [email, phone] = [fresh(), freshPhone()]
  const { id } = await create({ email, phone, email_confirm: true, password: 'the old one', user_metadata: { name: 'Ann' } })
  await signIn(service, id)
  await service.app.db`update auth.users set email_change = 'next@site.test' where id = ${id}`
  expect((await call(`DELETE /admin/users/${id}`, { should_soft_delete: true })).json()).toEqual({})
  const left = (await call(`GET /admin/users/${id}`)).json<Body & { identities: Body[] }>()
  expect(left).toMatchObject({
    id,
    email: scrambled(`${id}${email}`),
    phone: scrambled(`${id}${phone}`).slice(0, 15),
    new_email: scrambled(`${id}next@site.test`),
    user_metadata: {},
    app_metadata: {},
    deleted_at: service.now().toISOString(),
  })
  expect(byProvider(left.identities)).toMatchObject({
    email: { id: scrambled(`${id}email:${id}`), identity_data: {} },
    phone: { id: scrambled(`${id}phone:${id}`), identity_data: {} },
  })
  expect(left.identities[0]?.identity_data).toEqual({})
  const [row] = await service.app.db`select encrypted_password as hash from auth.users where id = ${id}`
  expect(row).toEqual({ hash: null })
  expect(await sessionsOf(id)).toBe(0)
  expect((await password(email, 'the old one')).status).toBe(400)
})

test('what was not there is not scrambled into something', async () => {
  const { userId } = await createAccount(service)
  await call(`DELETE /admin/users/${userId}`, { should_soft_delete: true })
  const left = (await call(`GET /admin/users/${userId}`)).json()
  expect(left).toMatchObject({ phone: '' })
  expect(left).not.toHaveProperty('new_phone')
})

test('a soft deletion twice is one; what it freed can be had again; a hard one takes the rest', async () => {
  const { userId } = await createAccount(service)
  const softly = () => call(`DELETE /admin/users/${userId}`, { should_soft_delete: true })
  await softly()
  const left = (await call(`GET /admin/users/${userId}`)).text
  service.now.advance(1)
  expect((await softly()).status).toBe(200)
  expect((await call(`GET /admin/users/${userId}`)).text).toBe(left)
  expect(await notesOn(userId)).toHaveLength(1)
  expect((await call('POST /admin/users', { email: `${userId}@site.test` })).status).toBe(200)
  expect((await call(`DELETE /admin/users/${userId}`)).status).toBe(200)
  expect((await call(`GET /admin/users/${userId}`)).status).toBe(404)
})

test('an account of an older installation, with nothing where there is a text today, is shown and changed', async () => {
  const id = randomUUID()
  await service.app.db`insert into auth.users (id) values (${id})`
  expect((await call(`GET /admin/users/${id}`)).json()).toMatchObject({ id, email: '', phone: '', role: '', user_metadata: {} })
  expect((await change(id, { user_metadata: { a: 1 }, role: 'editor' })).json()).toMatchObject({
    role: 'editor',
    user_metadata: { a: 1 },
  })
  expect((await call(`DELETE /admin/users/${id}`, { should_soft_delete: true })).status).toBe(200)
})
