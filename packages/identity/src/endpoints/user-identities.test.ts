import { randomUUID } from 'node:crypto'
import { type SmtpSink, startSmtpSink } from '@tollgate/kit/smtp-sink'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { insertIdentity } from '../store/identities.ts'
import type { Metadata, NewUser } from '../store/users.ts'
import { createAccount, startIdentity } from '../testing.ts'

type Started = Awaited<ReturnType<typeof startIdentity>>

let sink: SmtpSink
let service: Started
let trusting: Started
let closed: Started

beforeAll(async () => {
  sink = await startSmtpSink()
  const linking = { AUTH_SECURITY_MANUAL_LINKING_ENABLED: 'true', AUTH_SMTP_PORT: String(sink.port) }
  service = await startIdentity({ ...linking, AUTH_MAILER_NOTIFICATIONS_IDENTITY_UNLINKED_ENABLED: 'true' })
  trusting = await startIdentity({ ...linking, AUTH_MAILER_AUTOCONFIRM: 'true' })
  closed = await startIdentity()
})
afterAll(async () => {
  await Promise.all([service.stop(), trusting.stop(), closed.stop()])
  await sink.close()
})

type Shown = { email: string; phone: string; identities: { identity_id: string; provider: string; email?: string }[] }

const show = async (authorization: string, at = service) =>
  (await at.call('GET /user', { headers: { authorization } })).json<Shown>()

const unlink = (authorization: string, id: string, at = service, headers = {}) =>
  at.call(`DELETE /user/identities/${id}`, { headers: { authorization, ...headers } })

/** An account with an email identity and others, youngest last; names each by its provider. */
async function account(
  others: Record<string, Metadata>,
  { at = service, given = {} }: { at?: Started; given?: Partial<NewUser> } = {},
) {
  const created = await createAccount(at, given)
  const { userId } = created
  for (const [n, [provider, identityData]] of Object.entries(others).entries()) {
    const now = new Date(at.now().getTime() + n + 1)
    await insertIdentity(at.app.db, { providerId: `${provider}-${userId}`, userId, provider, identityData, now })
  }
  const { identities } = await show(created.authorization, at)
  const ids = Object.fromEntries(identities.map(({ provider, identity_id: id }) => [provider, id]))
  return { ...created, email: `${userId}@site.test`, idOf: (provider: string) => ids[provider] ?? '' }
}

test('whoever is signed in is told the ways in to their account', async () => {
  const { userId, authorization } = await account({ github: { sub: '1', email: 'ann@github.test' } })
  const { identities } = (await service.call('GET /user/identities', { headers: { authorization } })).json<Shown>()
  expect(identities).toMatchObject([
    { provider: 'email', id: userId, user_id: userId },
    { provider: 'github', id: `github-${userId}`, email: 'ann@github.test' },
  ])
  expect((await service.call('GET /user/identities')).status).toBe(401)
})

test('an identity is unlinked, written down, and told', async () => {
  const { userId, email, authorization, idOf } = await account({ github: { sub: '1', email: 'other@github.test' } })
  expect(await unlink(authorization, idOf('github').toUpperCase())).toMatchObject({ status: 200, text: '{}' })
  expect(await show(authorization)).toMatchObject({
    email,
    email_confirmed_at: service.now().toISOString(),
    app_metadata: { provider: 'email', providers: ['email'] },
    identities: [{ provider: 'email' }],
  })
  const audits = await service.app.db<{ payload: object }>`
    select payload from auth.audit_log_entries where payload ->> 'actor_id' = ${userId}`
  expect(audits.map(({ payload }) => payload)).toMatchObject([
    {
      action: 'identity_unlinked',
      log_type: 'user',
      traits: { identity_id: idOf('github'), provider: 'github', provider_id: `github-${userId}` },
    },
  ])
  expect((await sink.next(({ to }) => to.includes(email))).subject).toBe('A sign-in method was removed from your account')
})

test('where people do not link by themselves, nobody unlinks', async () => {
  const { authorization, idOf } = await account({ github: {} }, { at: closed })
  expect((await unlink(authorization, idOf('github'), closed)).json()).toMatchObject({
    code: 404,
    error_code: 'manual_linking_disabled',
  })
})

test('what is no id is not found', async () => {
  const { authorization } = await account({ github: {} })
  expect((await unlink(authorization, 'github')).json()).toMatchObject({
    code: 404,
    error_code: 'validation_failed',
    msg: 'identity_id must be an UUID',
  })
})

test('a request for another audience than the token’s is refused', async () => {
  const { authorization, idOf } = await account({ github: {} })
  const answer = await unlink(authorization, idOf('github'), service, { 'x-jwt-aud': 'elsewhere' })
  expect(answer.json()).toMatchObject({ code: 403, error_code: 'unexpected_audience' })
})

test('the last identity stays', async () => {
  const { authorization, idOf } = await account({})
  expect((await unlink(authorization, idOf('email'))).json()).toMatchObject({
    code: 422,
    error_code: 'single_identity_not_deletable',
  })
})

test('an identity of nobody, or of somebody else, is not found', async () => {
  const other = await account({ github: {} })
  const { authorization } = await account({ github: {} })
  for (const id of [randomUUID(), other.idOf('github')])
    expect((await unlink(authorization, id)).json()).toMatchObject({ code: 422, error_code: 'identity_not_found' })
  expect((await show(other.authorization)).identities).toHaveLength(2)
})

test('of the last two identities that are unlinked at once, one stays', async () => {
  const { authorization, idOf } = await account({ github: { email: 'ann@github.test' } })
  const answers = await Promise.all(['email', 'github'].map((provider) => unlink(authorization, idOf(provider))))
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 422])
  expect((await show(authorization)).identities).toHaveLength(1)
})

test('an address that goes with its identity is replaced by a proved one, and codes for it are worthless', async () => {
  const { userId, authorization, idOf } = await account({
    github: { email: `${randomUUID()}@github.test` },
    google: { email: `proved-${randomUUID()}@google.test`, email_verified: true },
  })
  await service.call('PUT /user', { headers: { authorization }, json: { email: `${randomUUID()}@site.test` } })
  expect(await service.app.db`select from auth.one_time_tokens where user_id = ${userId}`).toHaveLength(2)
  expect((await unlink(authorization, idOf('email'))).status).toBe(200)
  const shown = await show(authorization)
  expect(shown.email).toMatch(/^proved-/)
  expect(shown).toMatchObject({
    email_confirmed_at: service.now().toISOString(),
    app_metadata: { provider: 'github', providers: ['github', 'google'] },
    user_metadata: { email: shown.email, email_verified: true },
  })
  expect(shown).not.toHaveProperty('new_email')
  expect(await service.app.db`select from auth.one_time_tokens where user_id = ${userId}`).toHaveLength(0)
})

test('an address that nobody proved is not confirmed, unless nobody has to confirm', async () => {
  for (const [at, confirmed] of [
    [service, undefined],
    [trusting, trusting.now().toISOString()],
  ] as const) {
    const { authorization, idOf } = await account({ github: { email: `${randomUUID()}@github.test` } }, { at })
    expect((await unlink(authorization, idOf('email'), at)).status).toBe(200)
    const shown = await show(authorization, at)
    expect(shown.email).toMatch(/@github\.test$/)
    expect((shown as Record<string, unknown>).email_confirmed_at).toBe(confirmed)
  }
})

test('where no other identity has an address, the account has none any more', async () => {
  const { authorization, idOf } = await account(
    { github: {} },
    { given: { userMetadata: { email: 'x', email_verified: true, nothing: null } } },
  )
  expect((await unlink(authorization, idOf('email'))).status).toBe(200)
  const shown = await show(authorization)
  expect(shown).toMatchObject({ email: '', user_metadata: { email_verified: false, nothing: null } })
  expect(shown).not.toHaveProperty('email_confirmed_at')
  expect(shown).not.toHaveProperty('user_metadata.email')
})

test('an address that is somebody else’s is not taken over', async () => {
  const { email: taken } = await account({})
  const { email, authorization, idOf } = await account({ github: { email: taken, email_verified: true } })
  expect((await unlink(authorization, idOf('email'))).json()).toMatchObject({
    code: 422,
    error_code: 'email_conflict_identity_not_deletable',
  })
  expect(await show(authorization)).toMatchObject({ email, identities: [{}, {}] })
})

test('of two accounts that come to the same address at once, one does', async () => {
  const shared = { github: { email: `${randomUUID()}@github.test`, email_verified: true } }
  const people = [await account(shared), await account(shared)]
  const answers = await Promise.all(people.map(({ authorization, idOf }) => unlink(authorization, idOf('email'))))
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 422])
})

test('the number goes with its identity, and the address stays', async () => {
  const phone = '4520304050'
  const { userId, email, authorization, idOf } = await account(
    { phone: { phone } },
    { given: { phone, phoneConfirmedAt: service.now(), userMetadata: { phone, phone_verified: true } } },
  )
  await service.call('GET /reauthenticate', { headers: { authorization } })
  expect((await unlink(authorization, idOf('phone'))).status).toBe(200)
  const shown = await show(authorization)
  expect(shown).toMatchObject({ email, phone: '', user_metadata: { phone_verified: false } })
  expect(shown).not.toHaveProperty('phone_confirmed_at')
  expect(await service.app.db`select from auth.one_time_tokens where user_id = ${userId}`).toHaveLength(0)
  // It is free for somebody else.
  await createAccount(service, { phone, phoneConfirmedAt: service.now() })
})
