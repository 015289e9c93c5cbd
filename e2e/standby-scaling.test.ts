import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { identity } from '@tollgate/identity/main'
import { openDb } from '@tollgate/kit/db'
import { scratchDatabase } from '@tollgate/kit/testing'
import { payments } from '@tollgate/payments/main'
import { expect, inject, onTestFinished, test } from 'vitest'
import { freePort, runTollgate } from '../packages/tollgate/src/testing.ts'
import { readYaml, type Yaml } from './deploy-yaml.ts'
import { ask, promote, socketOf, startPair } from './standby-pair.ts'
import { namesMerchant, statementsIn } from './standby-statements.ts'

const root = join(import.meta.dirname, '..')
const fileOf = (path: string) => readFileSync(join(root, path), 'utf8')
const guide = fileOf('docs/scaling.md')
const blocksOf = (kind: string) =>
  [...guide.matchAll(new RegExp(`\`\`\`${kind}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, text = '']) => text)
const namesIn = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)

/** The rows under a heading of the guide, as their cells. */
function rowsUnder(heading: string): string[][] {
  const section = guide.slice(guide.indexOf(`\n### ${heading}\n`)).split(/\n#+ /)[1] ?? ''
  const rows = section.split('\n').filter((line) => line.startsWith('| '))
  return rows.slice(1).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}

test('the files that the guide names are there, and so are the places in other guides', () => {
  for (const [, path = ''] of guide.matchAll(/`(deploy\/[^`]+|packages\/[^`]+)`/g))
    expect([path, existsSync(join(root, path))]).toEqual([path, true])
  const anchors = (text: string) =>
    [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
      title
        .toLowerCase()
        .replace(/[^\w\- ]/g, '')
        .replaceAll(' ', '-'),
    )
  for (const [, file = '', anchor] of guide.matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g)) {
    const text = file === '' ? guide : fileOf(join('docs', file))
    if (anchor) expect(anchors(text)).toContain(anchor)
  }
})

// The way to the database

const patroni = readYaml(fileOf('deploy/patroni/patroni.yaml')) as { [name: string]: Yaml }
const at = (path: string) =>
  path.split('.').reduce<Yaml | undefined>((value, name) => (value as { [name: string]: Yaml } | undefined)?.[name], patroni)

/** Sections of a file for HAProxy: the line that each begins with, and those that follow. */
function sectionsOf(text: string): Map<string, string[]> {
  const sections = new Map<string, string[]>()
  let current: string[] = []
  for (const line of text.split('\n').filter((each) => each.trim() !== '' && !each.trim().startsWith('#'))) {
    if (line.startsWith('  ')) current.push(line.trim())
    else {
      current = []
      sections.set(line, current)
    }
  }
  return sections
}

const databaseProxy = sectionsOf(fileOf('deploy/haproxy/database.cfg'))
const serviceProxy = sectionsOf(fileOf('deploy/haproxy/services.cfg'))
const serversIn = (lines: readonly string[] = []) =>
  lines.flatMap((line) => {
    const [, name, host, port, rest = ''] = /^server (\S+) ([\d.]+):(\d+)(.*)$/.exec(line) ?? []
    return name ? [{ name, host, port, rest: rest.trim() }] : []
  })

test('Patroni promotes nobody who lacks something, and what it promotes in time fits together', () => {
  expect([at('bootstrap.dcs.synchronous_mode'), at('bootstrap.dcs.synchronous_mode_strict')]).toEqual(['true', 'true'])
  expect(at('bootstrap.dcs.postgresql.parameters')).toMatchObject({
    synchronous_commit: 'on',
    fsync: 'on',
    full_page_writes: 'on',
  })
  const seconds = (name: string) => Number(at(`bootstrap.dcs.${name}`))
  expect(seconds('loop_wait') + 2 * seconds('retry_timeout')).toBeLessThanOrEqual(seconds('ttl'))
  expect(guide).toContain(`with \`ttl: ${seconds('ttl')}\``)
  expect(at('watchdog.mode')).toBe('required')
  // No password stands in a file that everybody copies.
  expect(JSON.stringify(patroni)).not.toContain('password"')
})

test('HAProxy asks Patroni where Patroni answers, leads to where PostgreSQL listens, and leaves nobody with the old primary', () => {
  const lines = databaseProxy.get('listen postgres') ?? []
  const servers = serversIn(lines)
  const portOf = (path: string) => String(at(path)).split(':')[1]
  expect(servers.map(({ host, port }) => `${host}:${port}`)).toContain(at('postgresql.connect_address'))
  expect(servers.map(({ host }) => `${host}:2379`)).toEqual(at('etcd3.hosts'))
  for (const { port, rest } of servers)
    expect({ port, rest }).toEqual({ port: portOf('postgresql.listen'), rest: `check port ${portOf('restapi.listen')}` })
  expect(servers.map(({ name }) => name)).toContain(at('name'))
  expect(lines).toContain('http-check send meth GET uri /primary')
  expect(lines.find((line) => line.startsWith('default-server '))).toMatch(/ on-marked-down shutdown-sessions$/)
  const [address] = blocksOf('ini')
    .map((block) => parseEnv(block).DATABASE_URL ?? '')
    .filter((url) => url !== '')
  expect(lines).toContain(`bind ${new URL(address ?? '').host}`)
})

test('the balancer asks a path that both services have, on the ports that the examples set, and hands on what they read', () => {
  for (const [name, { settings, endpoints }] of Object.entries({ identity, payments })) {
    const example = parseEnv(fileOf(`deploy/${name}.example.env`))
    const { prefix } = settings.family
    const servers = serversIn(serviceProxy.get(`backend ${name}`))
    expect(servers).toHaveLength(3)
    for (const { port } of servers) expect(port).toBe(example[`${prefix}_API_PORT`])
    const [, path] =
      /uri (\S+)/.exec(serviceProxy.get('defaults')?.find((line) => line.startsWith('http-check send')) ?? '') ?? []
    const paths = endpoints.filter(({ method }) => method === 'GET').map((each) => each.path)
    expect(paths).toContain(path)
    const host = new URL(example[`${prefix}_API_EXTERNAL_URL`] ?? '').host
    expect(serviceProxy.get('frontend https')).toContain(`use_backend ${name} if { hdr(host) -i ${host} }`)
    expect(serviceProxy.get('frontend https')).toContain(
      `http-request set-header ${example[`${prefix}_RATE_LIMIT_HEADER`]} %[src]`,
    )
  }
})

test('connections of all nodes fit the server, and every setting of the guide is one', () => {
  const settings = Object.assign({}, ...blocksOf('ini').map((block) => parseEnv(block))) as Record<string, string>
  const together = Number(settings.AUTH_DB_MAX_POOL_SIZE) + Number(settings.PAY_DB_MAX_POOL_SIZE)
  const nodes = serversIn(serviceProxy.get('backend identity')).length
  expect(guide).toContain(`there are ${nodes * together} of them`)
  expect(nodes * together).toBeLessThan(Number(at('bootstrap.dcs.postgresql.parameters.max_connections')))
  const filled = {
    AUTH_JWT_SECRET: 'f'.repeat(64),
    AUTH_SMTP_USER: 'x',
    AUTH_SMTP_PASS: 'x',
    PAY_SMTP_USER: 'x',
    PAY_SMTP_PASS: 'x',
  }
  for (const [name, { settings: own }] of Object.entries({ identity, payments })) {
    const { PAY_VAULT_KEYS: _, PAY_JWT_SECRET: __, ...example } = parseEnv(fileOf(`deploy/${name}.example.env`))
    const urls = { AUTH_DB_DATABASE_URL: settings.DATABASE_URL ?? '', PAY_DB_DATABASE_URL: settings.DATABASE_URL ?? '' }
    const env = Object.entries({ ...example, ...urls, ...filled, ...settings }).filter(
      ([key]) => !key.includes(name === 'identity' ? 'PAY_' : 'AUTH_'),
    )
    expect(own.read(Object.fromEntries(env)).warnings).toEqual([])
  }
  // What the guide warns of is what people have who set nothing.
  expect(fileOf('.env.example')).toContain('#AUTH_SECURITY_REFRESH_TOKEN_REUSE_INTERVAL=10\n')
})

test('the role and the database that the guide makes are enough', { timeout: 60_000 }, async () => {
  const [make = ''] = blocksOf('sql')
  const name = `scaling_${process.pid}`
  const server = inject('postgres')
  const statements = make
    .replaceAll('tollgate', name)
    .split(';\n')
    .filter((statement) => statement.trim() !== '')
  onTestFinished(async () => {
    await ask(server, `drop database if exists ${name} with (force)`)
    await ask(server, `drop role if exists ${name}`)
  })
  for (const statement of statements) await ask(server, statement)
  const url = new URL(server)
  url.pathname = `/${name}`
  url.username = name
  const ended = await runTollgate(['payments', 'migrate'], { DATABASE_URL: url.href }).ended
  expect(ended).toMatchObject({ code: 0, complaints: '' })
})

test.each([
  ['postgres://tollgate@127.0.0.1,127.0.0.2/tollgate?target_session_attrs=read-write', 'The database cannot be reached'],
  ['postgres://tollgate@127.0.0.1:1,127.0.0.1:2/tollgate?target_session_attrs=read-write', 'DATABASE_URL is not one address'],
])('an address that is a list is refused at once, in words: %s', async (url, words) => {
  const { code, complaints } = await runTollgate(['payments', 'migrate'], { DATABASE_URL: url }).ended
  expect([code, complaints]).toEqual([1, expect.stringContaining(words)])
  expect(complaints).not.toContain('    at ')
})

const hasHaproxy = spawnSync('haproxy', ['-v']).status === 0

/** Somebody who answers for a server as Patroni does. */
async function startPatroni(): Promise<{ port: number; isPrimary: boolean }> {
  const state = { port: 0, isPrimary: false }
  const server = createServer((request, response) => {
    response.writeHead(request.url === '/primary' && state.isPrimary ? 200 : 503).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  state.port = (server.address() as AddressInfo).port
  return state
}

test.runIf(hasHaproxy)(
  'HAProxy follows the primary, and cuts off whoever is still with the old one',
  { timeout: 30_000 },
  async () => {
    const pair = await startPair()
    const [one, two] = [await startPatroni(), await startPatroni()]
    one.isPrimary = true
    const port = await freePort()
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-haproxy-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const own = fileOf('deploy/haproxy/database.cfg')
      .replace('bind 127.0.0.1:5432', `bind 127.0.0.1:${port}`)
      .replace('10.0.0.11:5432 check port 8008', `unix@${socketOf(pair.primary)} check addr 127.0.0.1 port ${one.port}`)
      .replace('10.0.0.12:5432 check port 8008', `unix@${socketOf(pair.standby)} check addr 127.0.0.1 port ${two.port}`)
      .replace(/.*10\.0\.0\.13.*\n/, '')
    writeFileSync(join(folder, 'haproxy.cfg'), own)
    const haproxy = spawn('haproxy', ['-db', '-f', join(folder, 'haproxy.cfg')], { stdio: 'ignore' })
    onTestFinished(async () => {
      haproxy.kill('SIGKILL')
      if (haproxy.exitCode === null && haproxy.signalCode === null) await once(haproxy, 'exit')
    })
    const url = `postgres://tollgate@127.0.0.1:${port}/tollgate?sslmode=disable`
    const db = openDb({ url, schema: { written: 'pay', actual: 'pay' }, name: 'through-haproxy', lanes: 2, poolSize: 1 })
    onTestFinished(() => db.close())
    const write = () =>
      db`create table if not exists written (id int)`.then(
        () => true,
        () => false,
      )
    await expect.poll(write, { timeout: 10_000, interval: 50 }).toBe(true)
    await db.begin((tx) => tx`select 1`)

    // Nobody has killed the old one.
    one.isPrimary = false
    await promote(pair.standby)
    two.isPrimary = true
    const left = () =>
      ask(pair.primary.url('postgres'), "select from pg_stat_activity where application_name = 'through-haproxy'")
    await expect.poll(left, { timeout: 10_000, interval: 50 }).toHaveLength(0)
    await expect.poll(write, { timeout: 10_000, interval: 50 }).toBe(true)
    expect(
      await db`select pg_is_in_recovery() as standby, pg_walfile_name(pg_current_wal_lsn()) like '00000002%' as promoted`,
    ).toEqual([{ standby: false, promoted: true }])
  },
)

test.runIf(hasHaproxy)('HAProxy understands both files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-haproxy-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const pem = join(folder, 'tollgate.pem')
  const subject = ['-newkey', 'rsa:2048', '-subj', '/CN=example.com', '-keyout', pem, '-out', `${pem}.crt`]
  expect(spawnSync('openssl', ['req', '-x509', '-nodes', '-days', '2', ...subject]).status).toBe(0)
  writeFileSync(pem, readFileSync(`${pem}.crt`, 'utf8') + readFileSync(pem, 'utf8'))
  for (const file of ['database.cfg', 'services.cfg']) {
    const config = join(folder, file)
    writeFileSync(config, fileOf(`deploy/haproxy/${file}`).replace('/etc/haproxy/tollgate.pem', pem))
    const { status, stderr } = spawnSync('haproxy', ['-c', '-f', config], { encoding: 'utf8' })
    expect([file, status, stderr]).toEqual([file, 0, ''])
  }
})

// Sharding

const [together = [], apart = [], reference = [], local = []] = rowsUnder('Tables').map(([cell = '']) => namesIn(cell))
const distributed = [...together, ...apart]

type Column = { table: string; column: string; type: string; nullable: boolean }

test('the guide has every table of payments in one place, and merchant_id leads where it says so', async () => {
  const { url, drop } = await scratchDatabase('template_payments')
  onTestFinished(drop)
  const columns = await ask<Column>(
    url,
    `select table_name as table, column_name as column, coalesce(domain_name, data_type) as type, is_nullable = 'YES' as nullable
     from information_schema.columns join information_schema.tables using (table_schema, table_name)
     where table_schema = 'pay' and table_type = 'BASE TABLE'`,
  )
  expect([...distributed, ...reference, ...local].toSorted()).toEqual([...new Set(columns.map(({ table }) => table))].toSorted())
  const keys = columns.filter(({ table, column }) => column === 'merchant_id' && distributed.includes(table))
  expect(
    keys.map(({ table, type, nullable }) => ({ table, type, nullable })).toSorted((a, b) => (a.table < b.table ? -1 : 1)),
  ).toEqual(
    [
      ...together.map((table) => ({ table, type: 'text', nullable: false })),
      ...apart.map((table) => ({ table, type: 'id', nullable: false })),
    ].toSorted((a, b) => (a.table < b.table ? -1 : 1)),
  )
  const indices = await ask<{ table: string; index: string; primary: boolean; columns: string[] }>(
    url,
    `select relname as table, indexrelid::regclass::text as index, indisprimary as primary,
       array(select attname::text from unnest(indkey::int2[]) with ordinality as key (number, place)
         join pg_attribute on attrelid = indrelid and attnum = number order by place) as columns
     from pg_index join pg_class on pg_class.oid = indrelid
     where relnamespace = 'pay'::regnamespace and indisunique`,
  )
  const ours = indices.filter(({ table }) => distributed.includes(table))
  expect(ours.filter(({ primary }) => primary)).toHaveLength(distributed.length)
  expect(ours.filter(({ primary, columns: [first] }) => primary && first !== 'merchant_id')).toEqual([])
  expect(ours.filter(({ columns: all }) => !all.includes('merchant_id'))).toEqual([])
  const foreign = await ask<{ from: string; to: string }>(
    url,
    `select conrelid::regclass::text as from, confrelid::regclass::text as to from pg_constraint
     where contype = 'f' and connamespace = 'pay'::regnamespace`,
  )
  expect(foreign.filter(({ from, to }) => distributed.includes(bare(from)) || distributed.includes(bare(to)))).toEqual([])
  const triggers = await ask<{ table: string }>(
    url,
    `select distinct tgrelid::regclass::text as table from pg_trigger join pg_class on pg_class.oid = tgrelid
     where relnamespace = 'pay'::regnamespace and not tgisinternal`,
  )
  expect(triggers.map(({ table }) => bare(table)).toSorted()).toEqual(['lines', 'postings'])
})

const bare = (table: string) => table.replace(/^pay\./, '')

test('the guide names every statement that does not say of which merchant it is', () => {
  const views = ['movable_transactions', 'standing_merchants', 'ledger']
  const store = join(root, 'packages/payments/src/store')
  const all = statementsIn(store).filter(
    ({ file, tables }) => file !== 'seed.ts' && tables.some((table) => [...distributed, ...views].includes(table)),
  )
  expect(all.filter(namesMerchant).length).toBeGreaterThan(30)
  const crossing = all.filter((statement) => !namesMerchant(statement)).map(({ file, name }) => `${file} ${name}`)
  const told = rowsUnder('What stands in the way').flatMap(([files = '', names = '']) => {
    const [inFiles, functions] = [namesIn(files), namesIn(names)]
    return functions.map((name, index) => `${inFiles[inFiles.length === 1 ? 0 : index]} ${name}`)
  })
  expect(told.toSorted()).toEqual([...new Set(crossing)].toSorted())
})
