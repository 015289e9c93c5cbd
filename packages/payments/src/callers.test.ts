import { createHmac, createPublicKey, type JsonWebKey } from 'node:crypto'
import { createKeys, signToken } from '@tollgate/kit/jwt'
import { makeJwk, publicPart } from '@tollgate/kit/jwt/testing'
import { Secret } from '@tollgate/kit/secret'
import { oneProcess } from '@tollgate/kit/testing'
import pg from 'pg'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { basic, createApp, plantMerchant, startPayments } from './testing.ts'

const secret = new Secret('a secret that both services know of, 32+')
const elliptic = makeJwk('ES256', 'elliptic')

let service: Awaited<ReturnType<typeof startPayments>>
beforeAll(async () => {
  service = await startPayments({
    PAY_JWT_SECRET: secret.reveal(),
    PAY_JWT_KEYS: JSON.stringify({ keys: [publicPart(elliptic)] }),
  })
})
afterAll(() => service.stop())

let people = 0

/** What an access token of the identity service says. */
function claims(more: Record<string, unknown> = {}) {
  const seconds = Math.floor(service.now().getTime() / 1000)
  return {
    sub: '11111111-1111-4111-8111-111111111111',
    aud: 'authenticated',
    role: 'authenticated',
    email: `person${++people}@example.com`,
    exp: seconds + 3600,
    iat: seconds,
    is_anonymous: false,
    app_metadata: {},
    user_metadata: {},
    ...more,
  }
}

const bearer = (more: Record<string, unknown> = {}) => `Bearer ${signToken(claims(more), secret)}`

function ask(authorization: string | undefined, what = 'GET /me', own = service) {
  return own.call(what, { headers: { accept: 'application/json', ...(authorization ? { authorization } : {}) } })
}

type Identity = { identity: { id: string; name: string | null; created: string; email?: string } }

test('a person is told who they are, and is the same one the next time', async () => {
  const email = 'Ann@Example.com'
  const first = (await ask(bearer({ email, user_metadata: { full_name: 'Ann O' } }))).json<Identity>()
  expect(first.identity).toEqual({
    id: expect.stringMatching(/^[0-9a-f]{24}$/),
    name: 'Ann O',
    created: service.now().toISOString(),
    email: 'ann@example.com',
  })
  service.now.advance(60)
  expect((await ask(bearer({ email: 'ann@example.com' }))).json()).toEqual(first)
  expect(await service.app.db`select email, name from pay.users where id = ${first.identity.id}`).toEqual([
    { email: 'ann@example.com', name: 'Ann O' },
  ])
})

test('a token that a published key verifies is as good as one that the secret does', async () => {
  const token = createKeys({ secret, jwks: [elliptic] }).sign(claims({ email: 'keys@example.com' }))
  expect((await ask(`bearer ${token}`)).json()).toMatchObject({ identity: { email: 'keys@example.com' } })
})

test('fifty first requests of one person at once enter them once', async () => {
  const authorization = bearer({ email: 'crowd@example.com' })
  const answers = await Promise.all(Array.from({ length: 50 }, () => ask(authorization)))
  expect(new Set(answers.map((answer) => answer.json<Identity>().identity.id)).size).toBe(1)
  expect(await service.app.db`select from pay.users where email = 'crowd@example.com'`).toHaveLength(1)
})

test('somebody who was known without a name gets the one that they bring, and keeps it', async () => {
  const email = 'late@example.com'
  const name = async (metadata: object) => (await ask(bearer({ email, user_metadata: metadata }))).json<Identity>().identity.name
  expect(await name({})).toBeNull()
  expect(await name({ name: 'Late' })).toBe('Late')
  expect(await name({ name: 'Later' })).toBe('Late')
  expect(await name({})).toBe('Late')
})

test('a person has the rights of a member, and none elsewhere', async () => {
  const merchant = await plantMerchant(service)
  const authorization = bearer({ email: 'member@example.com' })
  const path = `/merchants/${merchant.id}/users?limit=10`
  expect((await ask(authorization, `GET ${path}`)).status).toBe(404)
  const { id } = (await ask(authorization)).json<Identity>().identity
  await service.app.db`
    insert into pay.members (merchant_id, identity_id, kind, created) values (${merchant.id}, ${id}, 'user', ${service.now()})`
  expect((await ask(authorization, `GET ${path}`)).json()).toMatchObject([{ id, email: 'member@example.com' }])
  expect((await ask(bearer(), `GET ${path}`)).status).toBe(404)
})

const base64url = (part: unknown) => Buffer.from(JSON.stringify(part)).toString('base64url')

function forged(header: object, said: object, sign: (text: string) => string) {
  const text = `${base64url(header)}.${base64url(said)}`
  return `Bearer ${text}.${sign(text)}`
}

const hmac = (key: string | Buffer) => (text: string) => createHmac('sha256', key).update(text).digest('base64url')
const pem = createPublicKey({ key: publicPart(elliptic) as JsonWebKey, format: 'jwk' }).export({ type: 'spki', format: 'pem' })

test.each<[string, () => string]>([
  ['signed with another secret', () => `Bearer ${signToken(claims(), new Secret('another secret of at least 32 bytes!'))}`],
  ['not signed at all', () => forged({ alg: 'none' }, claims(), () => '')],
  ['signed with the public key as a secret', () => forged({ alg: 'HS256', kid: 'elliptic' }, claims(), hmac(pem))],
  [
    'signed with the secret in the name of a public key',
    () => forged({ alg: 'HS256', kid: 'elliptic' }, claims(), hmac(secret.reveal())),
  ],
  ['that brings its own key', () => forged({ alg: 'HS256', jwk: { kty: 'oct', k: 'AAAA' } }, claims(), hmac(Buffer.alloc(3)))],
  [
    'signed with a key that nobody knows',
    () => `Bearer ${createKeys({ secret, jwks: [makeJwk('ES256', 'other')] }).sign(claims())}`,
  ],
  [
    'signed with another key of the same name',
    () => `Bearer ${createKeys({ secret, jwks: [makeJwk('ES256', 'elliptic')] }).sign(claims())}`,
  ],
  ['whose claims were changed', () => bearer().replace(/\.[^.]+\./, `.${base64url(claims({ email: 'boss@example.com' }))}.`)],
  ['that has expired', () => bearer({ exp: Math.floor(service.now().getTime() / 1000) })],
  ['that never expires', () => bearer({ exp: undefined })],
  ['that is not valid yet', () => bearer({ nbf: Math.floor(service.now().getTime() / 1000) + 60 })],
  ['for another audience', () => bearer({ aud: 'shop' })],
  ['of a service', () => bearer({ role: 'service_role' })],
  ['of an admin', () => bearer({ role: 'supabase_admin' })],
  ['of a public site', () => bearer({ role: 'anon' })],
  ['of somebody anonymous', () => bearer({ is_anonymous: true })],
  ['of somebody with a phone alone', () => bearer({ email: '' })],
  ['that is none', () => 'Bearer abc'],
  ['that is very long', () => `Bearer ${'x'.repeat(12_000)}`],
])('a token %s is refused with 401 and a reason', async (_, authorization) => {
  const answer = await ask(authorization())
  expect(answer.status).toBe(401)
  expect(answer.json()).toMatchObject({
    code: 'unauthorized',
    message: expect.stringContaining('The access token is not accepted: '),
  })
  expect(answer.headers['www-authenticate']).toBe(
    'Basic realm="Tollgate Payments", charset="UTF-8", Bearer realm="Tollgate Payments", error="invalid_token"',
  )
  expect(answer.text).not.toContain('example.com')
})

test('a token that was good a moment ago is refused once it has expired', async () => {
  const own = await startPayments({ PAY_JWT_SECRET: secret.reveal() })
  onTestFinished(() => own.stop())
  const authorization = `Bearer ${signToken({ ...claims(), iat: undefined, exp: own.now().getTime() / 1000 + 60 }, secret)}`
  expect((await ask(authorization, 'GET /me', own)).status).toBe(200)
  own.now.advance(60)
  expect((await ask(authorization, 'GET /me', own)).status).toBe(401)
})

test('an issuer and an audience of one’s own are insisted on', async () => {
  const own = await startPayments({ PAY_JWT_SECRET: secret.reveal(), PAY_JWT_ISSUER: 'https://auth.test', PAY_JWT_AUD: 'shop' })
  onTestFinished(() => own.stop())
  const status = async (more: object) => (await ask(bearer({ ...more }), 'GET /me', own)).status
  expect(await status({ iss: 'https://auth.test', aud: ['shop', 'other'] })).toBe(200)
  expect(await status({ iss: 'https://auth.test' })).toBe(401)
  expect(await status({ iss: 'https://evil.test', aud: 'shop' })).toBe(401)
})

test('where nothing is set to verify tokens with, people are told so, and apps go on', async () => {
  const own = await startPayments()
  onTestFinished(() => own.stop())
  for (const authorization of [
    bearer(),
    `Bearer ${signToken(claims(), new Secret('x'))}`,
    forged({ alg: 'none' }, claims(), () => ''),
  ]) {
    const answer = await ask(authorization, 'GET /me', own)
    expect(answer.status).toBe(401)
    expect(answer.json<{ message: string }>().message).toContain('PAY_JWT_SECRET')
  }
  const { authorization } = await createApp(own.call)
  expect((await ask(authorization, 'GET /me', own)).status).toBe(200)
})

test('whoever shows nothing is told of both ways', async () => {
  const answer = await ask(undefined)
  expect([answer.status, answer.headers['www-authenticate']]).toEqual([
    401,
    'Basic realm="Tollgate Payments", charset="UTF-8", Bearer realm="Tollgate Payments"',
  ])
})

test('a key that nobody has yet opens nothing now, and all of its own as soon as somebody has it', async () => {
  const key = '4f1f3c8e-7d1c-4a2b-9c3d-000000000009'
  expect((await ask(basic(key))).status).toBe(401)
  await service.app.db`
    insert into pay.apps (id, key_hash, created) values ('5d18a2ea0000000000000009', sha256(${key}::text::bytea), ${service.now()})`
  expect((await ask(basic(key))).json()).toMatchObject({ identity: { id: '5d18a2ea0000000000000009' } })
})

test('being identified costs one statement the first time and none after that, for apps as for people', async () => {
  // A connection binds its way to ask when it opens, so the count has to begin before.
  const asked = vi.spyOn(pg.Client.prototype as { query(statement: { text: string }): void }, 'query')
  const own = await oneProcess('each process remembers by itself', () => startPayments({ PAY_JWT_SECRET: secret.reveal() }))
  onTestFinished(async () => {
    asked.mockRestore()
    await own.stop()
  })
  const identifying = () => asked.mock.calls.filter(([{ text }]) => /\.(apps|users)\b/.test(text))
  const { authorization } = await createApp(own.call)
  await own.app
    .db`insert into pay.users (id, email, name, created) values ('5d18a2ea0000000000000009', 'ann@example.com', 'Ann', ${own.now()})`
  for (const who of [authorization, bearer({ email: 'ann@example.com' })]) {
    asked.mockClear()
    for (let count = 0; count < 10; count++) expect((await ask(who, 'GET /me', own)).status).toBe(200)
    expect(identifying()).toHaveLength(1)
  }
})
