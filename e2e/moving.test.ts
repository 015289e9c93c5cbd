import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { signToken } from '@tollgate/kit/jwt'
import { Secret } from '@tollgate/kit/secret'
import { type Call, caller, type ScratchDatabase, scratchDatabase } from '@tollgate/kit/testing'
import pg from 'pg'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { buildPrograms } from './programs.ts'
import { psql } from './psql.ts'

/** The guide, followed step by step with a dump of people who do not exist. */
const root = join(import.meta.dirname, '..')
const guide = readFileSync(join(root, 'docs/guides/moving-from-supabase.md'), 'utf8')
const dump = readFileSync(join(import.meta.dirname, 'moving-dump.sql'), 'utf8')
const folder = mkdtempSync(join(tmpdir(), 'tollgate-moving-'))

const blocksOf = (kind: string) =>
  [...guide.matchAll(new RegExp(`\`\`\`${kind}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, text = '']) => text.trim())
const [settings = ''] = blocksOf('ini')
const [migrate = '', dumpAndLoad = '', adopt = '', serve = ''] = blocksOf('sh')
const [rewrite = '', beforeGoingBack = ''] = blocksOf('sql')

let database: ScratchDatabase
let client: pg.Client
let server: ChildProcess
let call: Call
let adopted = { out: '', complaints: '' }

beforeAll(async () => {
  database = await scratchDatabase()
  client = new pg.Client(database.url)
  await client.connect()
  await buildPrograms(join(folder, 'dist'))
  const own = { GOTRUE_DB_DATABASE_URL: database.url, GOTRUE_API_PORT: '0' }
  const lines = settings
    .split('\n')
    .map((line) => line.replace(/^(\w+)=.*$/, (all, name) => (name in own ? `${name}=${own[name as keyof typeof own]}` : all)))
  writeFileSync(join(folder, '.env'), `${lines.join('\n')}\nWORKERS=1\nGOTRUE_API_HOST=127.0.0.1\n`)

  await run(migrate)
  await psql(database.directUrl, dump)
  adopted = await run(adopt)
  await client.query(rewrite)
  server = start(serve)
  call = caller(`http://127.0.0.1:${await portOf(server)}`)
})

afterAll(async () => {
  server.kill('SIGTERM')
  if (server.exitCode === null) await once(server, 'close')
  await client.end()
  await database.drop()
  rmSync(folder, { recursive: true, force: true })
})

/** A command of the guide, in a folder with nothing but the built files and the settings. */
function start(command: string): ChildProcess {
  const [program, ...words] = command.split(' ')
  if (program !== 'node') throw new Error(`Not a command that the test knows: ${command}`)
  return spawn(process.execPath, words, { cwd: folder, env: {}, stdio: ['ignore', 'pipe', 'pipe'] })
}

async function run(command: string): Promise<{ out: string; complaints: string }> {
  const child = start(command)
  let [out, complaints] = ['', '']
  child.stdout?.on('data', (chunk) => (out += chunk))
  child.stderr?.on('data', (chunk) => (complaints += chunk))
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${command} ended with ${code}: ${out}${complaints}`)
  return { out, complaints }
}

/** From the line of the log that tells that the service listens. */
function portOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    let said = ''
    child.stderr?.on('data', (chunk) => (said += chunk))
    if (child.stdout)
      createInterface(child.stdout).on('line', (line) => {
        said += `${line}\n`
        if (line.includes('"listening"')) resolve(JSON.parse(line).port)
      })
    child.on('close', () => reject(new Error(said)))
  })
}

const id = (number: number) => `${String(number).padStart(8, '0')}-aaaa-4aaa-8aaa-aaaaaaaaaaaa`
const ada = { email: 'ada@example.com', password: 'a bicycle for Ada 7' }

const signIn = (json: Record<string, string>) => call('POST /token?grant_type=password', { json })
const refresh = (token: string) => call('POST /token?grant_type=refresh_token', { json: { refresh_token: token } })

type Session = {
  access_token: string
  refresh_token: string
  user: { id: string; email: string; user_metadata: Record<string, unknown>; identities: { provider: string }[] }
}

function claimsOf({ access_token: token }: Session): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'))
}

test('the guide dumps the tables that the made-up dump has', () => {
  const named = [...dumpAndLoad.matchAll(/--table=(\S+)/g)].map(([, table]) => table)
  const held = [...dump.matchAll(/^COPY (\S+)/gm)].map(([, table]) => table)
  expect(named.toSorted()).toEqual(held.toSorted())
})

test('adopting tells what it did, and the second time finds nothing to do', async () => {
  const counts = (out: string) =>
    Object.fromEntries([...out.matchAll(/^ *(\d+) (.+)$/gm)].map(([, count, what]) => [what, Number(count)]))
  const expected = {
    'accounts read': 11,
    'accounts cleared of one-time tokens': 3,
    'email addresses put into lower case': 1,
    'refresh tokens hashed': 9,
    'sessions ended that were lent to other programs': 1,
    'sessions whose refresh tokens cannot be carried over': 1,
    'codes and links deleted': 0,
    'flows deleted': 0,
  }
  expect(counts(adopted.out)).toEqual(expected)
  expect(adopted.complaints).toBe(
    '1 accounts have a password in a form that cannot be read here: they have to be recovered by mail.\n',
  )
  const nothing = Object.fromEntries(Object.keys(expected).map((what) => [what, 0]))
  expect(counts((await run(adopt)).out)).toEqual({ ...nothing, 'accounts read': 11 })
})

test('nothing that was secret in the dump is in a table any more', async () => {
  const secrets = [
    '5f1d5f1d',
    '0c2a0c2a',
    '9b7e9b7e',
    'bm90IGEga2V5',
    ...dump.matchAll(/^00000000\S+\t\d+\t([\w-]{12,22})\t/gm).map(([, token = '']) => token),
  ]
  expect(secrets).toHaveLength(14)
  const { rows } = await client.query<{ all: string }>(`
    select string_agg(row, ' ') as all from (
      select u::text as row from auth.users u union all select s::text from auth.sessions s union all select t::text from auth.refresh_tokens t
    ) everything`)
  for (const secret of secrets) expect(rows[0]?.all).not.toContain(secret)
})

test('somebody signs in with the password that they had, which is kept better from then on', async () => {
  const answer = await signIn(ada)
  expect(answer.status, answer.text).toBe(200)
  const { user } = answer.json<Session>()
  expect(user).toMatchObject({ id: id(1), email: 'ada@example.com', user_metadata: { full_name: 'Ada Made-Up' } })
  expect(user.identities.map(({ provider }) => provider).toSorted()).toEqual(['email', 'github'])
  const { rows } = await client.query('select encrypted_password as hash from auth.users where id = $1', [id(1)])
  expect(rows[0].hash).toMatch(/^\$argon2id\$/)
  expect((await signIn(ada)).status).toBe(200)
})

test.each([
  ['by phone', { phone: '+49 170 0000002', password: 'phones have numbers 8' }, 2],
  ['whose row is null wherever it may be', { ...ada, email: 'gil@example.com' }, 7],
  ['with more metadata than a header holds', { ...ada, email: 'hal@example.com' }, 9],
  ['whose address came in capitals', { ...ada, email: 'Ivy@Example.COM' }, 10],
])('somebody %s signs in and is told who they are', async (_, given, number) => {
  const answer = await signIn(given)
  expect(answer.status, answer.text).toBe(200)
  const { access_token: token } = answer.json<Session>()
  const told = await call('GET /user', { headers: { authorization: `Bearer ${token}` } })
  expect([told.status, told.json<{ id: string }>().id]).toEqual([200, id(number)])
})

test('what people wrote about themselves came letter by letter', async () => {
  const { user } = (await signIn({ ...ada, email: 'hal@example.com' })).json<Session>()
  expect(user.user_metadata).toMatchObject({
    about: 'Zeile 1\nline two\ttabbed, a \\ backslash and a "quote"',
    motto: 'Grüße 👋',
  })
})

test.each([
  ['is banned', 'eve@example.com', 'user_banned'],
  ['was deleted', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', 'invalid_credentials'],
  ['was invited and did not come yet', 'fay@example.com', 'invalid_credentials'],
  ['has a password that was encrypted', 'jon@example.com', 'invalid_credentials'],
])('somebody who %s is not let in', async (_, email, code) => {
  expect((await signIn({ ...ada, email })).json()).toMatchObject({ error_code: code })
})

test('a session goes on with the refresh token that it had, and remembers how it was entered', async () => {
  const answer = await refresh('ada4third2aa')
  expect(answer.status, answer.text).toBe(200)
  const session = answer.json<Session>()
  expect(claimsOf(session)).toMatchObject({
    sub: id(1),
    session_id: '00000001-bbbb-4bbb-8bbb-bbbbbbbbbbbb',
    aal: 'aal2',
    amr: expect.arrayContaining([expect.objectContaining({ method: 'password' }), expect.objectContaining({ method: 'totp' })]),
  })
  expect((await refresh(session.refresh_token)).status).toBe(200)
})

test.each([
  ['in the longer form of old days', 'Bo-OldLong_token012345', 2],
  ['of somebody anonymous', 'anon2y4tz6aa', 3],
])('a refresh token %s works', async (_, token, number) => {
  const answer = await refresh(token)
  expect([answer.status, answer.json<Session>().user.id]).toEqual([200, id(number)])
})

test('a token that had been exchanged there is an attack here, and the whole line ends', async () => {
  expect((await refresh('ivy2first222')).json()).toMatchObject({ error_code: 'refresh_token_already_used' })
  expect((await refresh('ivy2second22')).json()).toMatchObject({ error_code: 'refresh_token_already_used' })
})

test.each([
  ['of a session that was lent to another program', 'lent2tooauth', 'refresh_token_not_found'],
  ['of a session that was gone', 'nosession222', 'session_not_found'],
  ['of somebody banned', 'eve2banned44', 'user_banned'],
])('a refresh token %s does not work', async (_, token, code) => {
  const answer = await refresh(token)
  expect([answer.status, answer.json().error_code]).toEqual([400, code])
})

test('what stands in the table now opens nothing', async () => {
  const { rows } = await client.query(
    'select token from auth.refresh_tokens where not revoked and session_id is not null limit 1',
  )
  expect((await refresh(rows[0].token)).json()).toMatchObject({ error_code: 'refresh_token_not_found' })
})

test('built for another kind of machine, and so without what verifies bcrypt, adopting says so', async () => {
  const bare = mkdtempSync(join(tmpdir(), 'tollgate-bare-'))
  onTestFinished(() => rmSync(bare, { recursive: true, force: true }))
  const program = readFileSync(join(folder, 'dist/identity.mjs'), 'utf8')
  const kind = `platform: "${process.platform}-${process.arch}"`
  expect(program).toContain(kind)
  writeFileSync(join(bare, 'identity.mjs'), program.replaceAll(kind, 'platform: "another"'))
  const { complaints } = await run(`node ${join(bare, 'identity.mjs')} adopt`)
  expect(complaints).toContain('Passwords that were hashed with bcrypt cannot be verified')
})

test('an access token that the old installation signed is good until it expires', async () => {
  const secret = /^GOTRUE_JWT_SECRET=(.+)$/m.exec(settings)?.[1] ?? ''
  const token = signToken(
    {
      sub: id(1),
      aud: 'authenticated',
      role: 'authenticated',
      session_id: '00000001-bbbb-4bbb-8bbb-bbbbbbbbbbbb',
      exp: Math.floor(Date.now() / 1000) + 600,
    },
    new Secret(secret),
  )
  const told = await call('GET /user', { headers: { authorization: `Bearer ${token}` } })
  expect([told.status, told.json().email]).toEqual([200, 'ada@example.com'])
})

test('new sessions are numbered after those that came', async () => {
  await signIn(ada)
  const { rows } = await client.query('select max(id)::int as last from auth.refresh_tokens')
  expect(rows[0].last).toBeGreaterThan(20)
})

test('the statement for going back leaves a text wherever the old service wants one', async () => {
  await client.query(beforeGoingBack)
  const { rows } = await client.query<{ text: string }>(`
    select concat_ws('', u.id) as text from auth.users u
    where num_nulls(confirmation_token, recovery_token, email_change_token_new, email_change_token_current, email_change,
      phone_change, phone_change_token, reauthentication_token) > 0`)
  expect(rows).toEqual([])
})
