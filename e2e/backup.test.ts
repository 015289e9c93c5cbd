import { execFile, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Db, openDb } from '@tollgate/kit/db'
import { type EmbeddedPostgres, startPostgres } from '@tollgate/kit/embedded-postgres'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { freePort, message, runTollgate } from '../packages/tollgate/src/testing.ts'
import { createClient, judge, judgePurchases, load, openShop, type Purchase, shopping, type Wish } from './payments-kill.ts'

/** The guide, followed to the letter, but for the folders that it names. */
const root = join(import.meta.dirname, '..')
const guide = readFileSync(join(root, 'docs/guides/backup.md'), 'utf8')
const blocksOf = (kind: string) =>
  [...guide.matchAll(new RegExp(`\`\`\`${kind}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, text = '']) => text.trim())

type Site = { home: string; data: string; url: string; moment: string; path: string }

/** A place for everything: `/opt/tollgate/backup`, `/backup` and the data folder of the guide. */
function makeSite(psql: 'own' | 'imitated'): Site {
  const home = mkdtempSync(join(tmpdir(), 'tollgate-backup-'))
  // The server may run as somebody else, who has to read the scripts and write to the archive.
  chmodSync(home, 0o755)
  mkdirSync(join(home, 'backup'))
  mkdirSync(join(home, 'backup/wal'))
  chmodSync(join(home, 'backup/wal'), 0o777)
  cpSync(join(root, 'deploy/backup'), join(home, 'scripts'), { recursive: true })
  mkdirSync(join(home, 'bin'))
  if (psql === 'imitated') {
    const imitation = `#!/bin/sh\nexec '${process.execPath}' '${join(root, 'e2e/backup-psql.ts')}' "$@"\n`
    writeFileSync(join(home, 'bin/psql'), imitation, { mode: 0o755 })
  }
  return { home, data: join(home, 'data'), url: '', moment: '', path: `${join(home, 'bin')}:${process.env.PATH}` }
}

function inSite(text: string, { home, data, url, moment }: Site): string {
  return text
    .replaceAll('/opt/tollgate/backup', join(home, 'scripts'))
    .replaceAll('/var/lib/postgresql/18/main', data)
    .replaceAll(/(?<=[\s"])\/backup/g, join(home, 'backup'))
    .replaceAll('dbname=postgres', `'${url}'`)
    .replaceAll('2030-01-02 15:04:05+00', moment)
}

async function run(command: string, site: Site): Promise<void> {
  await promisify(execFile)('sh', ['-c', inSite(command, site)], { env: { PATH: site.path } })
}

/** What the guide puts into postgresql.conf. */
function settingsIn(site: Site): Record<string, string> {
  const [block = ''] = blocksOf('ini')
  const entries = inSite(block, site)
    .split('\n')
    .map((line) => /^(\w+) = '?(.*?)'?$/.exec(line))
  return Object.fromEntries(entries.map((entry) => [entry?.[1], entry?.[2]]))
}

async function start(site: Site): Promise<EmbeddedPostgres> {
  const template = join(root, 'node_modules/.cache/tollgate/postgres')
  const server = await startPostgres({ folder: site.data, template, settings: { fsync: 'off', ...settingsIn(site) } })
  onTestFinished(() => server.stop())
  return server
}

async function ask<Row>(url: string, statement: string): Promise<Row[]> {
  const client = new pg.Client(url)
  // The server is going to be lost.
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query(statement)).rows
  } finally {
    await client.end()
  }
}

const vaultKeys = (name: string) => `${name}:${Buffer.alloc(32, name).toString('base64')}`

function settingsOf(server: EmbeddedPostgres, port: number): Record<string, string> {
  return {
    PAY_DATABASE_URL: server.url('tollgate'),
    PAY_API_HOST: '127.0.0.1',
    PAY_API_PORT: String(port),
    PAY_VAULT_KEYS: vaultKeys('kept'),
    WORKERS: '1',
    LOG_LEVEL: 'warn',
  }
}

async function serve(env: Record<string, string>) {
  const program = runTollgate(['payments', 'serve'], { ...env, LOG_LEVEL: 'info' })
  await program.line(message('listening'))
  const client = createClient(`http://127.0.0.1:${env.PAY_API_PORT}`)
  onTestFinished(() => client.close())
  return { program, client }
}

function openTables(server: EmbeddedPostgres): Db {
  const db = openDb({ url: server.url('tollgate'), schema: { written: 'pay', actual: 'pay' }, name: 'backup' })
  onTestFinished(() => db.close())
  return db
}

/** The log as far as it has been written is in the archive. */
async function archiveAll(url: string): Promise<void> {
  const [row] = await ask<{ segment: string }>(url, 'select pg_walfile_name(pg_switch_wal()) as segment')
  const archived = 'select last_archived_wal as last, failed_count::int as failed from pg_stat_archiver'
  const isThere = async () => {
    const [{ last, failed } = { last: null, failed: 0 }] = await ask<{ last: string | null; failed: number }>(url, archived)
    return failed === 0 && last !== null && last >= (row?.segment ?? '')
  }
  await expect.poll(isThere, { timeout: 20_000, interval: 50 }).toBe(true)
}

async function untilRecovered(server: EmbeddedPostgres): Promise<void> {
  const recovering = async () =>
    (await ask<{ yes: boolean }>(server.url('postgres'), 'select pg_is_in_recovery() as yes'))[0]?.yes
  await expect.poll(recovering, { timeout: 30_000, interval: 50 }).toBe(false)
}

const hashOf = ({ key }: Wish) => createHash('sha256').update(key).digest('hex')

test('scripts and settings of the guide are there', () => {
  expect(blocksOf('ini')).toHaveLength(1)
  expect(blocksOf('sh')).toHaveLength(4)
  for (const [, script = ''] of guide.matchAll(/\/opt\/tollgate\/backup\/(\S+\.sh)/g))
    expect(existsSync(join(root, 'deploy/backup', script)), script).toBe(true)
})

test('what was acknowledged before the last archived log survives the loss of the server', { timeout: 240_000 }, async () => {
  const site = makeSite('imitated')
  onTestFinished(() => rmSync(site.home, { recursive: true, force: true }))
  const [backUp = '', restoreAll = '', restoreMoment = '', check = ''] = blocksOf('sh')
  const lost = await start(site)
  site.url = lost.url('postgres')
  await ask(site.url, 'create database tollgate')
  const env = settingsOf(lost, await freePort())
  const { program, client } = await serve(env)
  const shop = await openShop(client)
  const work = (isOpen: () => boolean) => load(client, shop, { assistants: 3, isOpen })
  const forAWhile = () => {
    const history: Wish[] = []
    return load(client, shop, { assistants: 3, isOpen: () => history.length < 12, history })
  }
  const count = async () => Number((await ask<{ count: string }>(env.PAY_DATABASE_URL ?? '', countTrail))[0]?.count)

  // Customers pay, and the backup is made meanwhile.
  let isOpen = true
  const working = work(() => isOpen)
  const buying = shopping(client, shop, { customers: 2, isOpen: () => isOpen })
  await expect.poll(count, { timeout: 20_000 }).toBeGreaterThan(10)
  const before = await count()
  await run(backUp, site)
  const after = await count()
  expect(after).toBeGreaterThan(before)
  await expect.poll(count, { timeout: 20_000 }).toBeGreaterThan(after + 10)
  isOpen = false
  const [first, purchases]: [Wish[], Purchase[]] = await Promise.all([working, buying])
  site.moment = (await ask<{ now: string }>(site.url, 'select clock_timestamp()::text as now'))[0]?.now ?? ''

  const second = await forAWhile()
  await archiveAll(site.url)
  // Of what comes now nobody knows whether it will be there.
  const third = await forAWhile()
  expect(Math.min(first.length, second.length, third.length, purchases.length)).toBeGreaterThan(1)
  process.kill(lost.pid, 'SIGQUIT')
  await lost.exited
  program.signal('SIGKILL')
  await program.ended
  rmSync(site.data, { recursive: true })

  await run(restoreAll, site)
  const restored = await start(site)
  await untilRecovered(restored)
  const restoredEnv = settingsOf(restored, await freePort())
  for (const command of check.split('\n')) {
    const words = command.replace('node dist/payments.mjs', 'payments').split(' ')
    expect([command, await runTollgate(words, restoredEnv).ended]).toMatchObject([command, { code: 0, complaints: '' }])
  }
  const withoutKeys = await runTollgate(['payments', 'vault', 'rotate'], { ...restoredEnv, PAY_VAULT_KEYS: vaultKeys('other') })
    .ended
  expect(withoutKeys).toMatchObject({ code: 1, complaints: expect.stringContaining('cannot be opened') })

  const again = await serve(restoredEnv)
  const judged = await judge(openTables(restored), again.client, shop, [...first, ...second])
  const unsure = new Set(third.map(hashOf))
  const doubled = judged.doubled.filter((entry) => !unsure.has(JSON.parse(entry).keyHash))
  expect({ ...judged, doubled }).toMatchObject({ lost: [], doubled: [], refused: [], changed: [] })
  const bought = await judgePurchases(openTables(restored), again.client, shop, purchases)
  expect(bought).toMatchObject({ wrong: [], unasked: [], changed: [] })
  again.program.signal('SIGTERM')
  await again.program.ended
  expect(await runTollgate(['payments', 'verify'], restoredEnv).ended).toMatchObject({ code: 0, complaints: '' })

  // And once more, but to the moment between the first and the second time that customers paid.
  await restored.stop()
  rmSync(site.data, { recursive: true })
  await run(restoreMoment, site)
  const earlier = await start(site)
  await untilRecovered(earlier)
  const kept = await openTables(earlier)<{
    hash: string
  }>`select key_hash as hash from pay.idempotency where owner_id = ${shop.appId}`
  const there = new Set(kept.map(({ hash }) => hash))
  expect(first.filter((wish) => !there.has(hashOf(wish)))).toEqual([])
  expect(second.filter((wish) => there.has(hashOf(wish)))).toEqual([])
  const verified = await runTollgate(['payments', 'verify'], settingsOf(earlier, await freePort())).ended
  expect(verified).toMatchObject({ code: 0, complaints: '', out: expect.stringContaining('no breach') })
})

const hasPsql = spawnSync('psql', ['--version']).status === 0

test.runIf(hasPsql)('the psql that everybody else has does the same', { timeout: 60_000 }, async () => {
  const site = makeSite('own')
  onTestFinished(() => rmSync(site.home, { recursive: true, force: true }))
  const [backUp = '', restoreAll = ''] = blocksOf('sh')
  const lost = await start(site)
  site.url = lost.url('postgres')
  await ask(site.url, 'create table kept as select generate_series(1, 100) as id')
  await run(backUp, site)
  await ask(site.url, 'insert into kept select generate_series(101, 200)')
  await archiveAll(site.url)
  process.kill(lost.pid, 'SIGQUIT')
  await lost.exited
  rmSync(site.data, { recursive: true })
  await run(restoreAll, site)
  const restored = await start(site)
  await untilRecovered(restored)
  expect(await ask(restored.url('postgres'), 'select count(*)::int as count from kept')).toEqual([{ count: 200 }])
})

const countTrail = 'select count(*) from pay.trail'

test('a segment that is in the archive is taken once more when it is the same, and never replaced by another', async () => {
  const site = makeSite('imitated')
  onTestFinished(() => rmSync(site.home, { recursive: true, force: true }))
  const [segment, other, archived] = ['one', 'other', 'backup/wal/000000010000000000000001'].map((name) => join(site.home, name))
  writeFileSync(segment ?? '', 'a piece of the log')
  writeFileSync(other ?? '', 'a piece of another log')
  const archive = (file: string | undefined) =>
    spawnSync('sh', [join(site.home, 'scripts/archive-wal.sh'), file ?? '', archived ?? '']).status
  expect([archive(segment), archive(segment), archive(other)]).toEqual([0, 0, 1])
  expect(readFileSync(archived ?? '', 'utf8')).toBe('a piece of the log')
  expect(readdirSync(join(site.home, 'backup/wal'))).toHaveLength(1)
})

test('a copy that was not finished is not restored, and nothing is restored over data', async () => {
  const site = makeSite('imitated')
  onTestFinished(() => rmSync(site.home, { recursive: true, force: true }))
  const restore = (backup: string) =>
    spawnSync('sh', [join(site.home, 'scripts/restore.sh'), backup, join(site.home, 'backup/wal'), site.data], {
      encoding: 'utf8',
    })
  const copy = join(site.home, 'backup/unfinished')
  mkdirSync(copy)
  expect(restore(copy).status).not.toBe(0)
  expect(existsSync(site.data)).toBe(false)
  writeFileSync(join(copy, 'complete'), '')
  mkdirSync(site.data)
  writeFileSync(join(site.data, 'PG_VERSION'), '18')
  expect(restore(copy).status).not.toBe(0)
  expect(readdirSync(site.data)).toEqual(['PG_VERSION'])
})
