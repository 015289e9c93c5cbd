import { createHash, randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { identity } from '@tollgate/identity/main'
import { adminAuthorization, startIdentity } from '@tollgate/identity/testing'
import { type EmbeddedPostgres, startPostgres } from '@tollgate/kit/embedded-postgres'
import { startHttpFake } from '@tollgate/kit/http-fake'
import { migrate } from '@tollgate/kit/migrate'
import { startOtlpReceiver } from '@tollgate/kit/otlp-receiver'
import { startSmtpSink } from '@tollgate/kit/smtp-sink'
import { startTelemetry } from '@tollgate/kit/telemetry'
import type { CallOptions } from '@tollgate/kit/testing'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { databaseFiles } from './database-files.ts'

/**
 * Everything that opens an account goes through the identity service, in every way, rightly, wrongly and while the database breaks; then all that
 * stays of it is searched. What `card-canary.test.ts` does for cards.
 */
const folder = mkdtempSync(join(tmpdir(), 'tollgate-secrets-'))
let postgres: EmbeddedPostgres
let receiver: Awaited<ReturnType<typeof startOtlpReceiver>>
let mails: Awaited<ReturnType<typeof startSmtpSink>>
let gateway: Awaited<ReturnType<typeof startHttpFake>>
let provider: Awaited<ReturnType<typeof startHttpFake>>
let service: Awaited<ReturnType<typeof startIdentity>>
let url: string

/** By what it is. None is so short that it stands somewhere by chance: codes have ten digits here. */
const secrets = new Map<string, string>()
function keep(what: string, secret: string): string {
  if (secret.length < 10) throw new Error(`${what} is missing, or too short to be searched for: ${JSON.stringify(secret)}`)
  secrets.set(`${what} ${secrets.size}`, secret)
  return secret
}

const passwords = {
  first: keep('password', 'Canary-first-password'),
  second: keep('password', 'Canary-second-password'),
  made: keep('password', 'Canary-made-by-an-admin'),
  wrong: keep('password', 'Canary-of-another-site'),
}
const theirs = {
  secret: keep('secret at a provider', 'canary-client-secret'),
  code: keep('code of a provider', 'canary-code-of-theirs'),
  token: keep('token of a provider', 'canary-token-of-theirs'),
  refresh: keep('token of a provider', 'canary-refresh-of-theirs'),
}
const verifier = keep('verifier', 'canary-verifier-canary-verifier-canary-verifier')
const challenge = { code_challenge: createHash('sha256').update(verifier).digest('base64url'), code_challenge_method: 's256' }

beforeAll(async () => {
  postgres = await startPostgres({
    folder: join(folder, 'postgres'),
    template: join(import.meta.dirname, '..', 'node_modules', '.cache', 'tollgate', 'postgres'),
    settings: { log_statement: 'all', log_min_error_statement: 'error', log_min_messages: 'info' },
  })
  url = postgres.url('postgres')
  await migrate({ url, schema: { written: 'auth', actual: 'auth' }, migrations: identity.migrations })
  receiver = await startOtlpReceiver()
  mails = await startSmtpSink()
  gateway = await startHttpFake({ 'POST /sms': { json: { id: '1' } } })
  provider = await startHttpFake({
    'POST /login/oauth/access_token': {
      json: { access_token: theirs.token, refresh_token: theirs.refresh, token_type: 'bearer' },
    },
    'GET /api/v3/user': () => ({ json: { id: 7, login: 'ann', name: 'Ann', avatar_url: 'https://pictures.test/1' } }),
    'GET /api/v3/user/emails': () => ({ json: [{ email: 'ann.at@mail.test', primary: true, verified: true }] }),
  })
  const telemetry = await startTelemetry({
    ...{ service: 'identity', version: '1', versionAttribute: 'auth.version' },
    ...{ tracing: true, metrics: 'opentelemetry', endpoint: receiver.url },
  })
  service = await startIdentity(
    {
      DATABASE_URL: url,
      AUTH_LOG_LEVEL: 'debug',
      AUTH_JWT_SECRET: keep('secret of tokens', 'canary-secret-of-all-tokens-32-bytes'),
      AUTH_SMTP_PORT: String(mails.port),
      AUTH_SMTP_MAX_FREQUENCY: '0',
      AUTH_MAILER_OTP_LENGTH: '10',
      AUTH_EXTERNAL_PHONE_ENABLED: 'true',
      AUTH_SMS_PROVIDER: 'console',
      AUTH_SMS_CONSOLE_URL: gateway.origin,
      AUTH_SMS_OTP_LENGTH: '10',
      AUTH_RATE_LIMIT_EMAIL_SENT: '1000',
      AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_REAUTHENTICATION: 'true',
      AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_CURRENT_PASSWORD: 'true',
      AUTH_EXTERNAL_GITHUB_ENABLED: 'true',
      AUTH_EXTERNAL_GITHUB_CLIENT_ID: 'our client',
      AUTH_EXTERNAL_GITHUB_SECRET: theirs.secret,
      AUTH_EXTERNAL_GITHUB_REDIRECT_URI: 'https://auth.site.test/callback',
      AUTH_EXTERNAL_GITHUB_URL: provider.origin,
    },
    { telemetry },
  )
  await live()
  await mislead()
  await liveWhileItBreaks()
  await telemetry.stop()
}, 120_000)

afterAll(async () => {
  await service?.stop()
  await Promise.all([receiver?.close(), mails?.close(), gateway?.close(), provider?.close()])
  await postgres?.stop()
  rmSync(folder, { recursive: true, force: true })
})

async function succeed(what: string, options: CallOptions = {}) {
  const answer = await service.call(what, options)
  if (answer.status >= 400) throw new Error(`${what} was answered ${answer.status} ${answer.text}`)
  return answer
}

type Session = { access_token: string; refresh_token: string }
function keepSession({ access_token, refresh_token }: Session) {
  keep('access token', access_token)
  keep('refresh token', refresh_token)
  return { refresh_token, headers: { authorization: `Bearer ${access_token}` } }
}
const sessionOf = async (what: string, json: object) => keepSession((await succeed(what, { json })).json<Session>())
/** Of the address that somebody is led to. */
const inFragment = (location: unknown) => Object.fromEntries(new URLSearchParams(new URL(String(location)).hash.slice(1)))

async function letterTo(address: string) {
  const { links, text } = await mails.next(({ to }) => to.includes(address))
  const link = new URL(links.find((each) => each.includes('token=')) ?? 'https://nowhere.test')
  const type = link.searchParams.get('type') ?? ''
  const token = link.searchParams.get('token')
  return {
    code: keep('code', /(?<![\w=/-])\d{10}(?![\w=/-])/.exec(text)?.[0] ?? ''),
    ...(token === null ? { token: '' } : { token: keep('token of a link', token) }),
    type,
  }
}

let texted = 0
async function nextCodeBySms(): Promise<string> {
  const { body } = await gateway.request(++texted)
  return keep('code by SMS', /\d{10}/.exec(new URLSearchParams(body).get('text') ?? '')?.[0] ?? '')
}

/** Every way in, and everything that can be done with a secret once inside. */
async function live() {
  const [ann, ben, cam] = ['ann@site.test', 'ben@site.test', 'cam@site.test']
  await succeed('POST /signup', { json: { email: ann, password: passwords.first } })
  const first = await letterTo(ann)
  const session = await sessionOf('POST /verify', { type: 'signup', email: ann, token: first.code })
  await succeed('POST /signup', { json: { email: ben, password: passwords.first } })
  const link = await letterTo(ben)
  const { headers } = await succeed(`GET /verify?token=${link.token}&type=${link.type}`)
  keepSession(inFragment(headers.location) as Session)

  await sessionOf('POST /token?grant_type=password', { email: ann, password: passwords.first })
  const second = await sessionOf('POST /token?grant_type=refresh_token', { refresh_token: session.refresh_token })
  const third = await sessionOf('POST /token?grant_type=refresh_token', { refresh_token: second.refresh_token })

  await succeed('GET /reauthenticate', { headers: third.headers })
  const { code: nonce } = await letterTo(ann)
  const change = { password: passwords.second, current_password: passwords.first, nonce }
  await succeed('PUT /user', { headers: third.headers, json: change })
  await succeed('PUT /user', { headers: third.headers, json: { email: 'ann.new@site.test' } })
  for (const address of [ann, 'ann.new@site.test']) {
    const { code } = await letterTo(address)
    await succeed('POST /verify', { json: { type: 'email_change', email: address, token: code } })
  }

  await succeed('POST /recover', { json: { email: ben } })
  await sessionOf('POST /verify', { type: 'recovery', token_hash: (await letterTo(ben)).token })
  await succeed('POST /otp', { json: { phone: '4512345678' } })
  await sessionOf('POST /verify', { type: 'sms', phone: '4512345678', token: await nextCodeBySms() })

  await succeed('POST /magiclink', { json: { email: cam, ...challenge } })
  const proved = await letterTo(cam)
  const led = await succeed(`GET /verify?token=${proved.token}&type=${proved.type}`)
  const code = keep('code of a flow', new URL(String(led.headers.location)).searchParams.get('code') ?? '')
  await sessionOf('POST /token?grant_type=pkce', { auth_code: code, code_verifier: verifier })

  for (const proof of [{}, challenge]) {
    const away = await succeed(`GET /authorize?${new URLSearchParams({ provider: 'github', scopes: 'repo', ...proof })}`)
    const state = keep('state of a flow', new URL(String(away.headers.location)).searchParams.get('state')?.split('.')[1] ?? '')
    const full = new URL(String(away.headers.location)).searchParams.get('state') ?? ''
    expect(full).toContain(state)
    const back = await succeed(`GET /callback?${new URLSearchParams({ state: full, code: theirs.code })}`)
    const granted = new URL(String(back.headers.location)).searchParams.get('code')
    if (granted === null) keepSession(inFragment(back.headers.location) as Session)
    // This flow stays open: what the provider gave is waiting in a table.
    else keep('code of a flow', granted)
  }

  const admin = { authorization: adminAuthorization(service) }
  keep('key of a service', admin.authorization.slice('Bearer '.length))
  await succeed('POST /admin/users', {
    headers: admin,
    json: { email: 'dan@site.test', password: passwords.made, email_confirm: true },
  })
  const made = await succeed('POST /admin/generate_link', { headers: admin, json: { type: 'recovery', email: 'dan@site.test' } })
  const { hashed_token, email_otp } = made.json<{ hashed_token: string; email_otp: string }>()
  keep('token of a link', hashed_token)
  keep('code', email_otp)
}

/** What belongs in a body in a path, a query or a header, in a body that cannot be read, or for somebody who is not there. */
async function mislead() {
  const { wrong } = passwords
  const [refreshToken = ''] = [...secrets].flatMap(([what, secret]) => (what.startsWith('refresh token') ? [secret] : []))
  const statuses = await Promise.all(
    (
      [
        ['POST /token?grant_type=password', { json: { email: 'ann@site.test', password: wrong } }],
        ['POST /token?grant_type=password', { json: { email: wrong, password: { deep: wrong } } }],
        ['POST /token?grant_type=password', { raw: `{"email":"ann@site.test","password":"${wrong}` }],
        [`POST /token?grant_type=${wrong}&password=${wrong}`, { json: {} }],
        ['POST /token?grant_type=refresh_token', { json: { refresh_token: `${refreshToken}${wrong}` } }],
        ['POST /token?grant_type=refresh_token', { json: { refresh_token: [refreshToken] } }],
        ['POST /token?grant_type=pkce', { json: { auth_code: wrong, code_verifier: verifier } }],
        ['POST /token?grant_type=id_token', { json: { id_token: `${wrong}.x.y`, provider: 'google', nonce: wrong } }],
        [`POST /${wrong}`, { json: { password: wrong } }],
        [`GET /verify?token=${wrong}&type=signup`, {}],
        [`GET /callback?state=${wrong}&code=${wrong}`, {}],
        [`GET /authorize?provider=github&client_secret=${wrong}`, {}],
        ['POST /signup', { json: { email: 'ann@site.test', password: wrong, data: 'x' } }],
        ['POST /verify', { json: { type: 'signup', email: 'ann@site.test', token: wrong, password: wrong } }],
        ['GET /user', { headers: { authorization: `Bearer ${wrong}` } }],
        ['GET /user', { headers: { authorization: `Basic ${wrong}`, cookie: `token=${refreshToken}`, apikey: wrong } }],
        [`GET /user?access_token=${refreshToken}`, { headers: { referer: `https://site.test/#access_token=${refreshToken}` } }],
        ['PUT /admin/users/x', { headers: { authorization: adminAuthorization(service) }, json: { password: wrong } }],
      ] as [string, CallOptions][]
    ).map(async ([what, options]) => (await service.call(what, options)).status),
  )
  expect(statuses.filter((status) => status >= 500)).toEqual([])
  expect(statuses.filter((status) => status >= 400).length).toBeGreaterThan(12)
}

/** Statements fail at one point after the other: what is thrown then goes into the log. */
async function liveWhileItBreaks() {
  const statuses: number[] = []
  for (const table of ['users', 'one_time_tokens', 'refresh_tokens', 'sessions', 'messages', 'flow_state', 'audit_log_entries']) {
    const email = `${randomUUID()}@site.test`
    await query(`alter table auth.${table} rename to broken`)
    const asked: [string, CallOptions][] = [
      ['POST /signup', { json: { email, password: passwords.first } }],
      ['POST /token?grant_type=password', { json: { email: 'ann.new@site.test', password: passwords.second } }],
      ['POST /token?grant_type=refresh_token', { json: { refresh_token: [...secrets.values()].at(-1) } }],
      ['POST /verify', { json: { type: 'recovery', token_hash: [...secrets.values()].at(-1) } }],
      ['POST /recover', { json: { email: 'ann.new@site.test' } }],
      ['POST /token?grant_type=pkce', { json: { auth_code: passwords.wrong, code_verifier: verifier } }],
      [`GET /callback?state=${randomUUID()}.${'a'.repeat(22)}&code=${theirs.code}`, {}],
    ]
    for (const [what, options] of asked) statuses.push((await service.call(what, options)).status)
    await query(`alter table auth.broken rename to ${table}`)
  }
  expect(statuses.filter((status) => status >= 500).length).toBeGreaterThan(10)
}

async function query(text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

/** What of the secrets stands in a text, as it is or in a way that is easily undone. */
function foundIn(text: string): string[] {
  return [...secrets].flatMap(([what, secret]) => {
    const bytes = Buffer.from(secret)
    // In base64 the letters depend on how many bytes stand before, by threes; the last ones on what comes after.
    const forms = [
      secret,
      bytes.toString('hex'),
      ...[0, 1, 2].map((skip) => bytes.subarray(skip).toString('base64').slice(0, -4)),
    ]
    return forms.some((form) => text.includes(form)) ? [what] : []
  })
}

test('secrets of every kind went through, and would be found', () => {
  const kinds = new Set([...secrets.keys()].map((name) => name.replace(/ \d+$/, '')))
  expect([...kinds].toSorted()).toEqual(
    [
      ...['access token', 'code', 'code by SMS', 'code of a flow', 'code of a provider', 'key of a service', 'password'],
      ...[
        'refresh token',
        'secret at a provider',
        'secret of tokens',
        'state of a flow',
        'token of a link',
        'token of a provider',
        'verifier',
      ],
    ].toSorted(),
  )
  expect(secrets.size).toBeGreaterThan(40)
  const { first } = passwords
  for (const text of [first, Buffer.from(first).toString('hex'), Buffer.from(`x${first}`).toString('base64')])
    expect(foundIn(`… ${text} …`)).toEqual(['password 0'])
})

test('the log has none of them', () => {
  const text = service.lines.map((line) => JSON.stringify(line)).join('\n')
  expect(text.length).toBeGreaterThan(10_000)
  expect(foundIn(text)).toEqual([])
})

test('nor have traces and metrics', () => {
  const text = JSON.stringify([receiver.spans(), receiver.metrics()], (_, value) =>
    typeof value === 'bigint' ? String(value) : value,
  )
  expect(receiver.spans().length).toBeGreaterThan(50)
  expect(foundIn(text)).toEqual([])
})

test('no table has one, in any form that reads like it', async () => {
  const tables = await query(
    "select schemaname, tablename from pg_tables where schemaname not in ('pg_catalog', 'information_schema')",
  )
  expect(tables.length).toBeGreaterThan(10)
  const rows = await Promise.all(
    tables.map(({ schemaname, tablename }) => query(`select t::text as row from ${schemaname}.${tablename} t`)),
  )
  expect(rows.flat().length).toBeGreaterThan(60)
  expect(foundIn(JSON.stringify(rows))).toEqual([])
})

test('passwords are hashed by argon2id with 19 MiB and two passes, and a salt each', async () => {
  const hashes = (await query("select encrypted_password as hash from auth.users where encrypted_password <> ''")).map(
    ({ hash }) => String(hash),
  )
  expect(hashes.length).toBeGreaterThanOrEqual(3)
  for (const hash of hashes) expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
  expect(new Set(hashes.map((hash) => hash.split('$')[4])).size).toBe(hashes.length)
})

test('the log of changes and every file of the database have none, nor has its log of statements with their parameters', async () => {
  await query('checkpoint')
  const { files, statements } = databaseFiles(join(folder, 'postgres'))
  for (const file of files) {
    const bytes = readFileSync(file)
    const found = [...secrets].filter(([, secret]) => bytes.includes(secret)).map(([what]) => what)
    expect([file, found]).toEqual([file, []])
  }
  // It has the parameters, or this would be no proof.
  expect(statements).toContain('ann.new@site.test')
  expect(foundIn(statements)).toEqual([])
})
