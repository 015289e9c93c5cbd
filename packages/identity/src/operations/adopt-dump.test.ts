import { randomUUID } from 'node:crypto'
import { Json } from '@tollgate/kit/db'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hashToken } from '../rules/refresh-token.ts'
import { type Account, createAccount, startIdentity } from '../testing.ts'
import { type Adopted, adoptDump } from './adopt-dump.ts'

let service: Awaited<ReturnType<typeof startIdentity>>
beforeAll(async () => {
  service = await startIdentity()
})
afterAll(() => service.stop())

const nothing: Partial<Adopted> = {
  accountsCleared: 0,
  addressesLowered: 0,
  sessionsEnded: 0,
  sessionsForgotten: 0,
  refreshTokensHashed: 0,
  codesDeleted: 0,
  flowsDeleted: 0,
}

/** Tokens as another installation keeps them: the first is the oldest, the last is valid. */
async function loadTokens({ userId, sessionId }: Account, ...tokens: string[]) {
  const { db, now } = service.app
  for (const [index, token] of tokens.entries())
    await db`
      insert into auth.refresh_tokens (token, user_id, session_id, parent, revoked, created_at, updated_at)
      values (${token}, ${userId}, ${sessionId}, ${tokens[index - 1] ?? null}, ${index < tokens.length - 1}, ${now()}, ${now()})`
}

const refresh = (token: string) => service.call('POST /token?grant_type=refresh_token', { json: { refresh_token: token } })

test('a token that came in the clear works, and its family is known', async () => {
  const account = await createAccount(service)
  await loadTokens(account, 'aaaabbbbcc22', 'aaaabbbbcc33', 'aaaabbbbcc44')
  expect(await adoptDump(service.app.db)).toMatchObject({ ...nothing, refreshTokensHashed: 3 })
  const rows = await service.app.db<{ token: string; parent: string | null }>`
    select token, parent from auth.refresh_tokens where session_id = ${account.sessionId} order by id`
  const [oldest, previous, newest] = ['aaaabbbbcc22', 'aaaabbbbcc33', 'aaaabbbbcc44'].map(hashToken)
  expect(rows.slice(1)).toEqual([
    { token: oldest, parent: null },
    { token: previous, parent: oldest },
    { token: newest, parent: previous },
  ])
  const { status, ...answer } = await refresh('aaaabbbbcc44')
  expect(status).toBe(200)
  const child = answer.json<{ refresh_token: string }>().refresh_token
  expect((await refresh('aaaabbbbcc22')).json()).toMatchObject({ error_code: 'refresh_token_already_used' })
  expect((await refresh(child)).json()).toMatchObject({ error_code: 'refresh_token_already_used' })
})

test('what is ours already stays as it is, however often it is adopted', async () => {
  const account = await createAccount(service)
  await loadTokens(account, 'ddddeeeeff22')
  expect(await adoptDump(service.app.db)).toMatchObject({ refreshTokensHashed: 1 })
  const before = await service.app.db`select * from auth.refresh_tokens order by id`
  expect(await adoptDump(service.app.db)).toMatchObject(nothing)
  expect(await service.app.db`select * from auth.refresh_tokens order by id`).toEqual(before)
  expect((await refresh(account.refreshToken)).status).toBe(200)
})

test('every row is reached in pages of any size', async () => {
  const accounts = await Promise.all(Array.from({ length: 7 }, () => createAccount(service)))
  for (const size of [1, 2, 3, 7, 100]) {
    await service.app.db`update auth.users set recovery_token = 'plain' where id = any(${accounts.map(({ userId }) => userId)})`
    for (const [index, account] of accounts.entries()) await loadTokens(account, `p${size}x${index}`.padEnd(12, 'z'))
    expect(await adoptDump(service.app.db, size)).toMatchObject({ accountsCleared: 7, refreshTokensHashed: 7 })
  }
})

test('two that adopt at once hash every token once', async () => {
  const account = await createAccount(service)
  const tokens = Array.from({ length: 200 }, (_, index) => `race${index}`.padEnd(12, 'y'))
  await loadTokens(account, ...tokens)
  const adopted = await Promise.all([adoptDump(service.app.db, 50), adoptDump(service.app.db, 50)])
  expect(adopted.reduce((sum, each) => sum + each.refreshTokensHashed, 0)).toBe(200)
  const kept = await service.app.db`select from auth.refresh_tokens where token = any(${tokens.map(hashToken)})`
  expect(kept).toHaveLength(200)
})

test('a session that was lent to another program ends with its tokens', async () => {
  const account = await createAccount(service)
  await loadTokens(account, 'lentlentlent')
  await service.app
    .db`update auth.sessions set oauth_client_id = ${randomUUID()}, scopes = 'email' where id = ${account.sessionId}`
  expect(await adoptDump(service.app.db)).toMatchObject({ sessionsEnded: 1, refreshTokensHashed: 0 })
  expect((await refresh('lentlentlent')).json()).toMatchObject({ error_code: 'refresh_token_not_found' })
})

test('the key of tokens that are in no table is forgotten, and the session stays', async () => {
  const { sessionId } = await createAccount(service)
  await service.app.db`
    update auth.sessions set refresh_token_hmac_key = 'a key', refresh_token_counter = 3 where id = ${sessionId}`
  expect(await adoptDump(service.app.db)).toMatchObject({ sessionsForgotten: 1 })
  expect(
    await service.app.db`
      select refresh_token_hmac_key as key, refresh_token_counter as counter from auth.sessions where id = ${sessionId}`,
  ).toEqual([{ key: null, counter: null }])
})

test('codes, links and flows that came in the clear go, and ours stay', async () => {
  const { db, now } = service.app
  const { userId } = await createAccount(service)
  const flow = (code: string | null) => db`
    insert into auth.flow_state (id, user_id, auth_code, provider_type, authentication_method, created_at)
    values (gen_random_uuid(), ${userId}, ${code}, 'email', 'otp', ${now()})`
  const code = (relatesTo: string, codeHash: string | null) => db`
    insert into auth.one_time_tokens (user_id, token_type, token_hash, relates_to, code_hash)
    values (${userId}, 'recovery_token', ${'f'.repeat(56)}, ${relatesTo}, ${codeHash})`
  await Promise.all([
    flow(randomUUID()),
    flow(hashToken('ours')),
    flow(null),
    code('came@site.test', null),
    code('ours@site.test', hashToken('ours')),
  ])
  expect(await adoptDump(db)).toMatchObject({ codesDeleted: 1, flowsDeleted: 1 })
  expect(await db`select relates_to from auth.one_time_tokens where user_id = ${userId}`).toEqual([
    { relates_to: 'ours@site.test' },
  ])
  expect(await db`select auth_code from auth.flow_state where user_id = ${userId} order by auth_code`).toEqual([
    { auth_code: hashToken('ours') },
    { auth_code: null },
  ])
})

test('an address is put into lower case unless somebody has it so', async () => {
  const { db } = service.app
  const email = (name: string) => createAccount(service, { email: name })
  await Promise.all([email('Solo@Site.test'), email('twin@site.test'), email('Twin@site.test')])
  await Promise.all([email('Both@site.test'), email('BOTH@site.test')])
  expect(await adoptDump(db)).toMatchObject({ addressesLowered: 2, addressesAmbiguous: 2 })
  const rows = await db<{ email: string }>`select email from auth.users where lower(email) ~ '^(solo|twin|both)@'`
  const addresses = rows.map((each) => each.email)
  for (const address of ['solo@site.test', 'twin@site.test', 'Twin@site.test', 'both@site.test'])
    expect(addresses).toContain(address)
  expect(await adoptDump(db)).toMatchObject({ addressesLowered: 0, addressesAmbiguous: 2 })
})

test('metadata that is no object becomes an empty one, and nobody minds dates that are missing', async () => {
  const { db } = service.app
  const { userId, authorization } = await createAccount(service)
  await db`
    update auth.users set raw_app_meta_data = ${new Json(null)}, raw_user_meta_data = ${new Json([1])}, created_at = null, updated_at = null
    where id = ${userId}`
  await db`update auth.identities set created_at = null, updated_at = null, last_sign_in_at = null where user_id = ${userId}`
  expect(await adoptDump(db)).toMatchObject(nothing)
  const answer = await service.call('GET /user', { headers: { authorization } })
  expect([answer.status, answer.json()]).toMatchObject([
    200,
    { app_metadata: {}, user_metadata: {}, identities: [{ provider: 'email' }] },
  ])
})

test('new tokens are numbered after those that came, whether or not the dump said so', async () => {
  const account = await createAccount(service)
  await service.app.db`
    insert into auth.refresh_tokens (id, token, user_id, session_id) values (900000, 'farfarfarfar', ${account.userId}, ${account.sessionId})`
  await adoptDump(service.app.db)
  const [{ id } = { id: 0 }] = await service.app.db<{ id: number }>`select nextval('auth.refresh_tokens_id_seq') as id`
  expect(id).toBe(900001)
})

test('passwords in a form that cannot be read are counted', async () => {
  await createAccount(service, { passwordHash: '{"key_id":"k","alg":"aes-gcm-hkdf","data":"x","nonce":"y"}' })
  expect(await adoptDump(service.app.db)).toMatchObject({ passwordsUnreadable: 1 })
})
