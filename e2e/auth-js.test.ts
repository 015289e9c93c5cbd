import { generateKeyPairSync, randomUUID } from 'node:crypto'
import type { Session } from '@supabase/auth-js'
import { startIdentity } from '@tollgate/identity/testing'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { newAddress, newClient, newNumber, pass, shareClock } from './auth-js-client.ts'

// Accounts, passwords and sessions, where nothing has to be confirmed and a key of ES256 signs.
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const signingKey = { ...privateKey.export({ format: 'jwk' }), kid: 'e2e', alg: 'ES256', key_ops: ['sign', 'verify'] }

let service: Awaited<ReturnType<typeof startIdentity>>
beforeAll(async () => {
  service = await startIdentity({
    AUTH_JWT_KEYS: JSON.stringify([signingKey]),
    AUTH_MAILER_AUTOCONFIRM: 'true',
    AUTH_SMS_AUTOCONFIRM: 'true',
    AUTH_EXTERNAL_PHONE_ENABLED: 'true',
    AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
    AUTH_SECURITY_MANUAL_LINKING_ENABLED: 'true',
  })
  shareClock(service)
})
afterAll(async () => {
  vi.useRealTimers()
  await service.stop()
})

const client = (options: Parameters<typeof newClient>[1] = {}) => newClient(service, options)

const password = 'correct horse'

async function signUp(email = newAddress()) {
  const auth = client()
  const { data, error } = await auth.signUp({ email, password })
  expect(error).toBeNull()
  return { auth, email, session: data.session as Session, id: data.user?.id ?? '' }
}

async function signIn(email: string) {
  const auth = client()
  const { data, error } = await auth.signInWithPassword({ email, password })
  expect(error).toBeNull()
  return { auth, session: data.session as Session }
}

/** The next time that the client says so. */
const told = (auth: ReturnType<typeof client>, event: string) =>
  new Promise<Session | null>((resolve) => {
    auth.onAuthStateChange((what, session) => {
      if (what === event) resolve(session)
    })
  })

test('whoever signs up with an address is in, with a session that the client keeps', async () => {
  const auth = client()
  const signedIn = told(auth, 'SIGNED_IN')
  const email = newAddress()
  const { data, error } = await auth.signUp({ email, password, options: { data: { nick: 'ann' } } })
  expect(error).toBeNull()
  expect(data.user).toMatchObject({ email, is_anonymous: false, role: 'authenticated', aud: 'authenticated' })
  expect(data.user?.user_metadata).toMatchObject({ nick: 'ann', email })
  expect(data.user?.identities).toMatchObject([{ provider: 'email', user_id: data.user?.id, identity_data: { email } }])
  const expiresAt = Math.floor(service.now().getTime() / 1000) + 3600
  expect(data.session).toMatchObject({ token_type: 'bearer', expires_in: 3600, expires_at: expiresAt, user: { email } })
  expect(await signedIn).toMatchObject({ access_token: data.session?.access_token })
  expect((await auth.getSession()).data.session).toEqual(data.session)
  expect((await auth.getUser()).data.user).toMatchObject({ id: data.user?.id, email, user_metadata: { nick: 'ann' } })
})

test('whoever signs up with a number signs in with it again, however it is written', async () => {
  const phone = newNumber()
  const { data, error } = await client().signUp({ phone, password })
  expect(error).toBeNull()
  expect(data).toMatchObject({ user: { phone: phone.slice(1), email: '' }, session: { user: { phone: phone.slice(1) } } })
  for (const written of [phone, phone.slice(1)]) {
    const again = await client().signInWithPassword({ phone: written, password })
    expect(again).toMatchObject({ error: null, data: { user: { id: data.user?.id }, session: { expires_in: 3600 } } })
  }
})

test('an address is signed in with however it is written', async () => {
  const { email, id } = await signUp()
  const { data, error } = await client().signInWithPassword({ email: ` ${email.toUpperCase()}`, password })
  expect(error).toBeNull()
  expect(data).toMatchObject({ user: { id, email }, session: { token_type: 'bearer' } })
  expect(data.weakPassword).toBeUndefined()
})

test('an address or a number that has an account cannot be signed up with again', async () => {
  const { email } = await signUp()
  const phone = newNumber()
  await client().signUp({ phone, password })
  expect(await client().signUp({ email, password })).toMatchObject({
    data: { user: null, session: null },
    error: { name: 'AuthApiError', status: 422, code: 'user_already_exists', message: 'User already registered' },
  })
  expect((await client().signUp({ phone, password })).error).toMatchObject({
    name: 'AuthApiError',
    status: 400,
    code: 'user_already_exists',
    message: 'User already registered',
  })
})

test('a wrong password and an unknown address are told alike, and nobody is signed in', async () => {
  const { email } = await signUp()
  for (const attempt of [
    { email, password: 'wrong horse' },
    { email: newAddress(), password },
    { phone: newNumber(), password },
    { email, password: '' },
  ]) {
    const auth = client()
    expect(await auth.signInWithPassword(attempt)).toMatchObject({
      data: { user: null, session: null },
      error: { name: 'AuthApiError', status: 400, code: 'invalid_credentials', message: 'Invalid login credentials' },
    })
    expect((await auth.getSession()).data.session).toBeNull()
  }
})

test('a weak password is refused with the reasons, at sign-up and at a change', async () => {
  const weak = { name: 'AuthWeakPasswordError', status: 422, code: 'weak_password', reasons: ['length'] }
  const { error } = await client().signUp({ email: newAddress(), password: 'short' })
  expect(error).toMatchObject(weak)
  const { auth } = await signUp()
  expect((await auth.updateUser({ password: 'short' })).error).toMatchObject(weak)
})

test('what cannot be an address, a number or a sign-up is refused in so many words', async () => {
  const refused = { name: 'AuthApiError', status: 400, code: 'validation_failed' }
  expect((await client().signUp({ email: 'nobody', password })).error).toMatchObject(refused)
  expect((await client().signUp({ phone: 'none', password })).error).toMatchObject(refused)
  expect((await client().signUp({ email: newAddress(), password: '' })).error).toMatchObject({
    ...refused,
    message: 'Signup requires a valid password',
  })
})

test('somebody anonymous is in without saying who they are', async () => {
  const auth = client()
  const { data, error } = await auth.signInAnonymously({ options: { data: { cart: 7 } } })
  expect(error).toBeNull()
  expect(data).toMatchObject({
    user: { is_anonymous: true, user_metadata: { cart: 7 }, identities: [] },
    session: { expires_in: 3600 },
  })
  expect((await auth.getUser()).data.user).toMatchObject({ id: data.user?.id, is_anonymous: true })
  expect((await auth.getClaims()).data?.claims).toMatchObject({ is_anonymous: true, amr: [{ method: 'anonymous' }] })
})

test('somebody anonymous becomes permanent under the same id, and signs in with the password', async () => {
  const auth = client()
  const { data: before } = await auth.signInAnonymously()
  expect((await auth.updateUser({ password })).error).toMatchObject({ status: 422, code: 'validation_failed' })
  const email = newAddress()
  const { data, error } = await auth.updateUser({ email, password })
  expect(error).toBeNull()
  expect(data.user).toMatchObject({ id: before.user?.id, email, is_anonymous: false, identities: [{ provider: 'email' }] })
  const { auth: elsewhere } = await signIn(email)
  expect((await elsewhere.getUser()).data.user?.id).toBe(before.user?.id)
  expect((await auth.refreshSession()).data.user).toMatchObject({ is_anonymous: false })
  expect((await auth.getClaims()).data?.claims).toMatchObject({ is_anonymous: false, email })
})

test('without a session the client says so itself', async () => {
  const missing = { name: 'AuthSessionMissingError' }
  expect((await client().getUser()).error).toMatchObject(missing)
  expect((await client().refreshSession()).error).toMatchObject(missing)
  expect((await client().updateUser({ data: {} })).error).toMatchObject(missing)
  expect((await client().reauthenticate()).error).toMatchObject(missing)
  expect((await client().getUserIdentities()).error).toMatchObject(missing)
  expect((await client().signOut()).error).toBeNull()
})

test('a token that nobody issued is refused', async () => {
  expect((await client().getUser('not.a.token')).error).toMatchObject({ name: 'AuthApiError', status: 403, code: 'bad_jwt' })
})

test('a refresh gives other tokens for the same person', async () => {
  const { auth, session, id } = await signUp()
  pass(service, 10)
  const refreshed = told(auth, 'TOKEN_REFRESHED')
  const { data, error } = await auth.refreshSession()
  expect(error).toBeNull()
  expect(data).toMatchObject({ user: { id }, session: { expires_at: (session.expires_at ?? 0) + 10 } })
  expect(data.session?.refresh_token).not.toBe(session.refresh_token)
  expect(data.session?.access_token).not.toBe(session.access_token)
  expect(await refreshed).toEqual(data.session)
  expect((await auth.getSession()).data.session).toEqual(data.session)
})

test('a session that is about to end goes on by itself', async () => {
  const { auth, session } = await signUp()
  pass(service, 3600 - 60)
  const { data, error } = await auth.getSession()
  expect(error).toBeNull()
  expect(data.session?.refresh_token).not.toBe(session.refresh_token)
  expect(data.session?.expires_at).toBe((session.expires_at ?? 0) + 3540)
})

test('a session is handed from one client to another, also when its access token is over', async () => {
  const { session, id } = await signUp()
  const other = client()
  expect(await other.setSession(session)).toMatchObject({
    error: null,
    data: { user: { id }, session: { access_token: session.access_token, expires_at: session.expires_at } },
  })
  pass(service, 3601)
  expect((await client().getUser(session.access_token)).error).toMatchObject({ status: 403, code: 'bad_jwt' })
  const third = client()
  const { data, error } = await third.setSession(session)
  expect(error).toBeNull()
  expect(data.session?.access_token).not.toBe(session.access_token)
  expect((await third.getUser()).data.user?.id).toBe(id)
})

test('a refresh token that nobody issued ends what the client had', async () => {
  const { session } = await signUp()
  const auth = client()
  pass(service, 3601)
  const { data, error } = await auth.setSession({ ...session, refresh_token: 'abcdefghijkl' })
  expect(data).toEqual({ user: null, session: null })
  expect(error).toMatchObject({
    name: 'AuthApiError',
    status: 400,
    code: 'refresh_token_not_found',
    message: 'Invalid Refresh Token: Refresh Token Not Found',
  })
  expect((await auth.getSession()).data.session).toBeNull()
})

test('two tabs that refresh one token at once get the same next one, and both go on', async () => {
  const { session, id } = await signUp()
  const tabs = [client(), client()]
  for (const tab of tabs) await tab.setSession(session)
  pass(service, 3600 - 80)
  const refreshed = tabs.map((tab) => told(tab, 'TOKEN_REFRESHED'))
  // What the client does every half minute, and as soon as its page is looked at again.
  await Promise.all(tabs.map((tab) => tab.startAutoRefresh()))
  const [one, other] = await Promise.all(refreshed)
  await Promise.all(tabs.map((tab) => tab.stopAutoRefresh()))
  expect(one?.refresh_token).not.toBe(session.refresh_token)
  expect(other?.refresh_token).toBe(one?.refresh_token)
  pass(service, 3600)
  const [later, laterToo] = await Promise.all(tabs.map((tab) => tab.getSession()))
  expect(later).toMatchObject({ error: null, data: { session: { user: { id } } } })
  expect(laterToo?.data.session?.refresh_token).toBe(later?.data.session?.refresh_token)
})

test('an old refresh token that comes back late ends the session for thief and owner', async () => {
  const { auth: owner, session } = await signUp()
  const signedOut = told(owner, 'SIGNED_OUT')
  await owner.refreshSession()
  pass(service, 3601)
  const thief = client()
  expect((await thief.setSession(session)).error).toMatchObject({
    name: 'AuthApiError',
    status: 400,
    code: 'refresh_token_already_used',
    message: 'Invalid Refresh Token: Already Used',
  })
  const { data, error } = await owner.getSession()
  expect(data.session).toBeNull()
  expect(error).toMatchObject({ name: 'AuthApiError', status: 400, code: 'refresh_token_already_used' })
  expect(await signedOut).toBeNull()
})

test('signing out everywhere ends all sessions', async () => {
  const { auth, email, session } = await signUp()
  const { auth: other } = await signIn(email)
  const signedOut = told(auth, 'SIGNED_OUT')
  expect(await auth.signOut()).toEqual({ error: null })
  expect(await signedOut).toBeNull()
  expect((await auth.getSession()).data.session).toBeNull()
  const ended = { name: 'AuthApiError', status: 400, code: 'refresh_token_not_found' }
  expect((await other.refreshSession()).error).toMatchObject(ended)
  expect((await client().refreshSession(session)).error).toMatchObject(ended)
  // Access tokens that are out there are good until they end.
  expect((await client().getUser(session.access_token)).error).toBeNull()
})

test('signing out here leaves the other sessions alone', async () => {
  const { auth, email, session } = await signUp()
  const { auth: other } = await signIn(email)
  expect(await auth.signOut({ scope: 'local' })).toEqual({ error: null })
  expect((await auth.getSession()).data.session).toBeNull()
  expect((await client().refreshSession(session)).error).toMatchObject({ code: 'refresh_token_not_found' })
  expect((await other.refreshSession()).error).toBeNull()
})

test('signing out the others leaves this session alone', async () => {
  const { auth, email } = await signUp()
  const { auth: other } = await signIn(email)
  expect(await auth.signOut({ scope: 'others' })).toEqual({ error: null })
  expect((await other.refreshSession()).error).toMatchObject({ code: 'refresh_token_not_found' })
  expect((await auth.getSession()).data.session).not.toBeNull()
  expect((await auth.refreshSession()).error).toBeNull()
})

test('custom data is merged, and null takes a key away', async () => {
  const { auth } = await signUp()
  await auth.updateUser({ data: { nick: 'ann', size: 38 } })
  const updated = told(auth, 'USER_UPDATED')
  const { data, error } = await auth.updateUser({ data: { nick: null, colour: 'red' } })
  expect(error).toBeNull()
  expect(data.user?.user_metadata).toMatchObject({ size: 38, colour: 'red' })
  expect(data.user?.user_metadata).not.toHaveProperty('nick')
  expect(await updated).toMatchObject({ user: { user_metadata: { colour: 'red' } } })
  expect((await auth.getSession()).data.session?.user.user_metadata).toMatchObject({ colour: 'red' })
})

test('a new password ends the other sessions and not the one that set it', async () => {
  const { auth, email } = await signUp()
  const { auth: other } = await signIn(email)
  expect((await auth.updateUser({ password })).error).toMatchObject({ name: 'AuthApiError', status: 422, code: 'same_password' })
  expect((await auth.updateUser({ password: 'another horse' })).error).toBeNull()
  expect((await other.refreshSession()).error).toMatchObject({ code: 'refresh_token_not_found' })
  expect((await auth.refreshSession()).error).toBeNull()
  expect((await client().signInWithPassword({ email, password })).error).toMatchObject({ code: 'invalid_credentials' })
  expect((await client().signInWithPassword({ email, password: 'another horse' })).error).toBeNull()
})

test('an address or number of somebody else cannot be had', async () => {
  const { email } = await signUp()
  const phone = newNumber()
  await client().signUp({ phone, password })
  const { auth } = await signUp()
  expect((await auth.updateUser({ email })).error).toMatchObject({ name: 'AuthApiError', status: 422, code: 'email_exists' })
  expect((await auth.updateUser({ phone })).error).toMatchObject({ name: 'AuthApiError', status: 422, code: 'phone_exists' })
})

test('the client proves tokens by itself with the published key, which it fetches once', async () => {
  const { session, id, email } = await signUp()
  const asked: string[] = []
  const auth = client({
    fetch: (input, init) => {
      asked.push(String(input))
      return fetch(input, init)
    },
  })
  for (const _ of [1, 2]) {
    const { data, error } = await auth.getClaims(session.access_token)
    expect(error).toBeNull()
    expect(data?.header).toMatchObject({ alg: 'ES256', kid: 'e2e' })
    expect(data?.claims).toMatchObject({ sub: id, email, role: 'authenticated', aud: 'authenticated', aal: 'aal1' })
    expect(data?.claims).toMatchObject({ exp: session.expires_at, is_anonymous: false, amr: [{ method: 'password' }] })
  }
  expect(asked).toEqual([`${service.origin}/.well-known/jwks.json`])
})

test('a token that was changed or is over is not proved', async () => {
  const { session } = await signUp()
  const [header, , signature] = session.access_token.split('.')
  const { session: other } = await signUp()
  const [, payload] = other.access_token.split('.')
  const invalid = { name: 'AuthInvalidJwtError' }
  expect((await client().getClaims(`${header}.${payload}.${signature}`)).error).toMatchObject(invalid)
  pass(service, 3601)
  expect((await client().getClaims(session.access_token)).error).toMatchObject(invalid)
  expect((await client().getClaims(session.access_token, { allowExpired: true })).error).toBeNull()
})

test('the client reads from a token how somebody came in', async () => {
  const { auth } = await signUp()
  const { data, error } = await auth.mfa.getAuthenticatorAssuranceLevel()
  expect(error).toBeNull()
  expect(data).toMatchObject({ currentLevel: 'aal1', nextLevel: 'aal1', currentAuthenticationMethods: [{ method: 'password' }] })
})

test('a way in is taken away, but not the last one', async () => {
  const { auth, id } = await signUp()
  const phone = newNumber()
  expect((await auth.updateUser({ phone })).data.user).toMatchObject({ phone: phone.slice(1) })
  const { data, error } = await auth.getUserIdentities()
  expect(error).toBeNull()
  const [email, second] = data?.identities.toSorted((one, other) => one.provider.localeCompare(other.provider)) ?? []
  if (!email || !second) throw new Error('There are not two identities')
  expect([email, second]).toMatchObject([{ provider: 'email' }, { provider: 'phone', user_id: id }])
  expect((await auth.unlinkIdentity({ ...second, identity_id: randomUUID() })).error).toMatchObject({
    name: 'AuthApiError',
    status: 422,
    code: 'identity_not_found',
  })
  expect((await auth.unlinkIdentity(second)).error).toBeNull()
  expect((await auth.getUser()).data.user).toMatchObject({ phone: '', identities: [{ provider: 'email' }] })
  expect((await auth.unlinkIdentity(email)).error).toMatchObject({
    name: 'AuthApiError',
    status: 422,
    code: 'single_identity_not_deletable',
  })
})
