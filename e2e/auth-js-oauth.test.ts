import { createHash, randomUUID } from 'node:crypto'
import type { AuthClient } from '@supabase/auth-js'
import { startWithInbox } from '@tollgate/identity/testing'
import { type HttpFake, startHttpFake } from '@tollgate/kit/http-fake'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { newAddress, newClient, shareClock } from './auth-js-client.ts'

// Signing in with others, through the official client.
let others: HttpFake
let service: Awaited<ReturnType<typeof startWithInbox>>
let privateKey: CryptoKey
let person = newPerson()

function newPerson() {
  return { id: Math.floor(Math.random() * 1e12), email: newAddress() }
}

beforeAll(async () => {
  const pair = await generateKeyPair('ES256', { extractable: true })
  privateKey = pair.privateKey
  const key = { ...(await exportJWK(pair.publicKey)), kid: 'theirs', alg: 'ES256' }
  others = await startHttpFake({
    'POST /login/oauth/access_token': () => ({ json: { access_token: 'their token' } }),
    'GET /api/v3/user': () => ({ json: { id: person.id, login: 'ann', name: 'Ann' } }),
    'GET /api/v3/user/emails': () => ({ json: [{ email: person.email, primary: true, verified: true }] }),
    'GET /oauth2/v3/certs': { json: { keys: [key] } },
  })
  const settingsOf = (provider: string) => ({
    [`AUTH_EXTERNAL_${provider}_ENABLED`]: 'true',
    [`AUTH_EXTERNAL_${provider}_CLIENT_ID`]: 'our client',
    [`AUTH_EXTERNAL_${provider}_SECRET`]: 'our secret',
    [`AUTH_EXTERNAL_${provider}_REDIRECT_URI`]: 'https://auth.site.test/callback',
    [`AUTH_EXTERNAL_${provider}_URL`]: others.origin,
  })
  service = await startWithInbox({
    ...settingsOf('GITHUB'),
    ...settingsOf('GOOGLE'),
    AUTH_SECURITY_MANUAL_LINKING_ENABLED: 'true',
    AUTH_MAILER_AUTOCONFIRM: 'true',
  })
  shareClock(service)
})
afterAll(async () => {
  vi.useRealTimers()
  await service.stop()
  await others.close()
})

type Client = InstanceType<typeof AuthClient>

/** Where somebody ends up whom the client sends to the provider. */
async function travel(url: string): Promise<URL> {
  const leaving = await fetch(url, { redirect: 'manual' })
  const address = leaving.status === 302 ? (leaving.headers.get('location') ?? '') : url
  const state = new URL(address).searchParams.get('state') ?? ''
  const back = await fetch(`${service.origin}/callback?${new URLSearchParams({ state, code: 'x' })}`, { redirect: 'manual' })
  return new URL(back.headers.get('location') ?? '')
}

const options = { skipBrowserRedirect: true, redirectTo: 'https://site.test/in' }

async function signIn(auth: Client, scopes?: string) {
  const { data, error } = await auth.signInWithOAuth({
    provider: 'github',
    options: { ...options, ...(scopes ? { scopes } : {}) },
  })
  expect(error).toBeNull()
  return travel(data.url ?? '')
}

test('signInWithOAuth ends with a session in the fragment', async () => {
  person = newPerson()
  const auth = newClient(service)
  const fragment = new URLSearchParams((await signIn(auth)).hash.slice(1))
  const { data, error } = await auth.setSession({
    access_token: fragment.get('access_token') ?? '',
    refresh_token: fragment.get('refresh_token') ?? '',
  })
  expect(error).toBeNull()
  expect(data.user).toMatchObject({ email: person.email, app_metadata: { provider: 'github' } })
})

test('with PKCE it ends with a code, which exchangeCodeForSession takes, and the provider’s token where scopes were asked for', async () => {
  person = newPerson()
  const auth = newClient(service, { flowType: 'pkce' })
  const code = (await signIn(auth, 'repo')).searchParams.get('code') ?? ''
  const { data, error } = await auth.exchangeCodeForSession(code)
  expect(error).toBeNull()
  expect(data).toMatchObject({ session: { provider_token: 'their token' }, user: { email: person.email } })
})

test('a code is of no use to a client that did not begin the flow', async () => {
  person = newPerson()
  const code = (await signIn(newClient(service, { flowType: 'pkce' }))).searchParams.get('code') ?? ''
  const stranger = newClient(service, { flowType: 'pkce' })
  await stranger.signInWithOAuth({ provider: 'github', options })
  expect((await stranger.exchangeCodeForSession(code)).error).toMatchObject({ code: 'bad_code_verifier' })
})

test('linkIdentity adds a way in, unlinkIdentity takes it away', async () => {
  person = newPerson()
  const auth = newClient(service)
  await auth.signUp({ email: newAddress(), password: 'correct horse' })
  const { data, error } = await auth.linkIdentity({ provider: 'github', options })
  expect(error).toBeNull()
  await travel(data.url ?? '')
  const { data: linked } = await auth.getUserIdentities()
  const identity = linked?.identities.find(({ provider }) => provider === 'github')
  expect(linked?.identities).toHaveLength(2)
  if (identity) expect((await auth.unlinkIdentity(identity)).error).toBeNull()
  expect((await auth.getUserIdentities()).data?.identities.map(({ provider }) => provider)).toEqual(['email'])
})

test('signInWithIdToken opens an account with what a telephone was given', async () => {
  const now = Math.floor(service.now().getTime() / 1000)
  const [email, nonce] = [newAddress(), randomUUID()]
  const hashed = createHash('sha256').update(nonce).digest('hex')
  const claims = {
    iss: others.origin,
    aud: 'our client',
    sub: randomUUID(),
    email,
    email_verified: true,
    iat: now,
    exp: now + 600,
    nonce: hashed,
  }
  const token = await new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: 'theirs' }).sign(privateKey)
  const { data, error } = await newClient(service).signInWithIdToken({ provider: 'google', token, nonce })
  expect(error).toBeNull()
  expect(data.user).toMatchObject({ email, app_metadata: { provider: 'google' } })
  const wrong = await newClient(service).signInWithIdToken({ provider: 'google', token, nonce: 'another' })
  expect(wrong.error?.message).toContain('Nonces mismatch')
})
