import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createKeys } from '@tollgate/kit/jwt'
import { Secret } from '@tollgate/kit/secret'
import { type ScratchDatabase, scratchDatabase } from '@tollgate/kit/testing'
import { version } from '@tollgate/kit/version'
import pg from 'pg'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { runTollgate } from './testing.ts'

let database: ScratchDatabase
beforeAll(async () => {
  database = await scratchDatabase()
})
afterAll(() => database.drop())

function run(words: string, env: Record<string, string> = {}) {
  return runTollgate(words.split(' '), env).ended
}

test('tollgate --version prints the version', async () => {
  expect(await run('--version')).toEqual({ code: 0, out: `${version}\n`, complaints: '' })
})

test('tollgate --help names every command', async () => {
  const { code, out } = await run('--help')
  expect(code).toBe(0)
  for (const command of [
    'dev',
    'identity serve',
    'identity migrate',
    'identity adopt',
    'identity key',
    'payments serve',
    'payments migrate',
    'payments seed',
    'payments verify',
  ])
    expect(out).toContain(`  ${command} `)
})

test('a key says its role and is signed with the secret', async () => {
  const secret = 'a secret that only tests know of, 32+'
  const { code, out } = await run('identity key service_role', {
    AUTH_SITE_URL: 'https://site.test',
    AUTH_API_EXTERNAL_URL: 'https://auth.site.test',
    AUTH_DB_DRIVER: 'postgres',
    AUTH_DB_DATABASE_URL: database.url,
    AUTH_JWT_SECRET: secret,
    AUTH_EXTERNAL_EMAIL_ENABLED: 'false',
  })
  expect(code).toBe(0)
  const claims = createKeys({ secret: new Secret(secret) }).verify(out.trim(), new Date())
  expect(claims).toMatchObject({ role: 'service_role', exp: expect.any(Number) })
})

test('help after a service lists every setting', async () => {
  const { code, out } = await run('identity serve --help')
  expect(code).toBe(0)
  for (const setting of ['AUTH_SITE_URL', 'AUTH_JWT_SECRET', 'AUTH_SMTP_HOST', 'AUTH_EXTERNAL_ZOOM_ENABLED', 'AUTH_API_PORT'])
    expect(out).toContain(`  ${setting}`)
})

test.each([
  [
    'payments frobnicate',
    'payments knows serve, migrate, link, merchant, payouts, plans, seed, settle, simulate, vault, verify, not "frobnicate". Try --help.\n',
  ],
  ['identity key', 'Name the role that the key is for: tollgate identity key service_role\n'],
  ['payments seed', 'Name the file to load: tollgate payments seed FILE\n'],
])('tollgate %s is a mistake that is told in a sentence', async (words, sentence) => {
  expect(await run(words)).toEqual({ code: 1, out: '', complaints: sentence })
})

test('whatever is wrong with the settings is told at once, each with its name, what is wrong and what would be right', async () => {
  const { code, out, complaints } = await run('identity serve', {
    AUTH_API_PORT: 'eighty',
    AUTH_JWT_EXP: 'soon',
    AUTH_LOG_LEVEL: 'loud',
    AUTH_EXTERNAL_GITHUB_ENABLED: 'true',
    AUTH_JWT_SECRET: 'a secret that only tests know of, 32+',
  })
  expect([code, out]).toEqual([1, ''])
  const [heading, ...lines] = complaints.trimEnd().split('\n')
  expect(heading).toMatch(/^\d+ settings need attention:$/)
  const wrong = ['AUTH_API_PORT must be', 'AUTH_JWT_EXP must be', 'AUTH_LOG_LEVEL must be']
  const missing = [
    'AUTH_SITE_URL',
    'AUTH_API_EXTERNAL_URL',
    'AUTH_DB_DATABASE_URL',
    'AUTH_SMTP_HOST',
    'AUTH_EXTERNAL_GITHUB_SECRET',
  ]
  for (const start of [...wrong, ...missing.map((name) => `${name} is not set`)])
    expect(
      lines.filter((line) => line.startsWith(`  - ${start}`)),
      complaints,
    ).toHaveLength(1)
  for (const line of lines) expect(line).toMatch(/=\S/)
  expect(complaints).not.toMatch(/secret that only|^\s+at /m)
})

test.each([
  [
    'a server that is not there',
    'postgres://somebody@127.0.0.1:1/x',
    /^The database cannot be reached: .*ECONNREFUSED.* Check the setting DATABASE_URL\.\n$/,
  ],
  [
    'a database that is not there',
    undefined,
    /^The database refuses the connection: database "nothing" does not exist\. Check the setting DATABASE_URL\.\n$/,
  ],
])('%s is told in a sentence, without the password', async (_, url, sentence) => {
  const { code, complaints } = await run('payments migrate', {
    DATABASE_URL: url ?? database.url.replace(/\/scratch_\w+/, '/nothing'),
  })
  expect(code).toBe(1)
  expect(complaints).toMatch(sentence)
})

test('payments can be migrated, seeded and verified', async () => {
  const env = { DATABASE_URL: database.url, PAY_ENV: 'development' }
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-seed-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, 'seed.json')
  const app = { id: '5d18a2ea0000000000000001', key: '4f1f3c8e-7d1c-4a2b-9c3d-000000000001', created: '2019-06-30T12:08:42.816Z' }
  await writeFile(file, JSON.stringify({ apps: [app] }))

  expect(await run('payments migrate', env)).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^Applied 0001_jobs, 0002_identities, .*\.\n$/),
  })
  expect(await run('payments migrate', env)).toMatchObject({ code: 0, out: 'The tables are up to date.\n' })
  expect(await run(`payments seed ${file}`, env)).toMatchObject({ code: 0, out: 'Loaded 1 app.\n', complaints: '' })
  expect(await run('payments verify', env)).toMatchObject({ code: 0, out: 'Checked 1 app: no breach.\n', complaints: '' })

  const client = new pg.Client(database.url)
  await client.connect()
  await client.query("update pay.apps set created = '2100-01-01'")
  await client.end()
  expect(await run('payments verify', env)).toMatchObject({
    code: 1,
    out: 'Checked 1 app: 1 breach.\n',
    complaints: expect.stringContaining('app 5d18a2ea0000000000000001'),
  })
})
