import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { identity } from '@tollgate/identity/main'
import { requiredSettings, startIdentity } from '@tollgate/identity/testing'
import type { ConfigProblem, Env } from '@tollgate/kit/env'
import { prometheusText } from '@tollgate/kit/scrape'
import { type Service, startService } from '@tollgate/kit/service'
import { startTelemetry } from '@tollgate/kit/telemetry'
import { caller, keptLog, noTelemetry, scratchDatabase } from '@tollgate/kit/testing'
import { payments } from '@tollgate/payments/main'
import { startPayments } from '@tollgate/payments/testing'
import { makeMasterKey } from '@tollgate/payments/vault/master-keys'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { freePort } from '../packages/tollgate/src/testing.ts'
import { canContain, type Image, standingOf, unpack } from './deploy-image.ts'
import { readYaml, type Yaml } from './deploy-yaml.ts'
import { openShop, pay } from './payments-service.ts'
import { buildPrograms } from './programs.ts'

const root = join(import.meta.dirname, '..')
const fileOf = (path: string) => readFileSync(join(root, path), 'utf8')
const guide = fileOf('docs/guides/deploy.md')

type AnyService = Pick<Service, 'name' | 'settings'>
const services: AnyService[] = [identity, payments]

// A process that is about to end

const startDraining = {
  identity: async (env: Env) =>
    startService(identity, identity.settings.read({ ...requiredSettings, ...env }).config, {
      log: keptLog().log,
      telemetry: noTelemetry,
    }),
  payments: async (env: Env) =>
    startService(payments, payments.settings.read(env).config, { log: keptLog().log, telemetry: noTelemetry }),
}

test.each(['identity', 'payments'] as const)('the %s service says that it is draining as soon as it is', async (name) => {
  const database = await scratchDatabase(`template_${name}`)
  onTestFinished(() => database.drop())
  const own = { DATABASE_URL: database.url, PORT: '0', AUTH_API_HOST: '127.0.0.1', PAY_API_HOST: '127.0.0.1' }
  const running = await startDraining[name](own)
  const socket = connect(running.port, '127.0.0.1')
  let heard = ''
  socket.on('data', (chunk) => (heard += chunk))
  // Half of the second question is on its way already, so that nobody takes the connection for an idle one.
  const question = 'GET /ready HTTP/1.1\r\nhost: localhost\r\n'
  socket.write(`${question}\r\n${question}`)
  await expect.poll(() => heard, { interval: 5 }).toContain('"ready"')
  const [before] = heard.split('\r\n')
  heard = ''
  const stopped = running.stop(15)
  socket.write('\r\n')
  await once(socket, 'close')
  await stopped
  expect(before).toBe('HTTP/1.1 200 OK')
  expect(heard.split('\r\n')[0]).toBe('HTTP/1.1 503 Service Unavailable')
  expect(heard).toMatch(/^connection: close\r$/m)
  expect(JSON.parse(heard.slice(heard.indexOf('\r\n\r\n')))).toEqual({ code: 'draining', message: expect.any(String) })
})

// Settings

const exampleOf = (name: string) => parseEnv(fileOf(`deploy/${name}.example.env`))

/** What whoever runs it has to fill in, and nobody can give an example of that would not be a secret of everybody's. */
const filledIn = {
  AUTH_DB_DATABASE_URL: 'postgres://tollgate:secret@127.0.0.1:5432/tollgate',
  AUTH_JWT_SECRET: 'f'.repeat(64),
  AUTH_SMTP_USER: 'mailer',
  AUTH_SMTP_PASS: 'secret',
  PAY_DB_DATABASE_URL: 'postgres://tollgate:secret@127.0.0.1:5432/tollgate',
  PAY_JWT_SECRET: 'f'.repeat(64),
  PAY_SMTP_USER: 'mailer',
  PAY_SMTP_PASS: 'secret',
  PAY_VAULT_KEYS: makeMasterKey(new Date()).reveal(),
}

test.each(services)('the example settings of $name need their empty lines filled in, and nothing else', ({ name, settings }) => {
  const example = exampleOf(name)
  const empty = Object.keys(example).filter((key) => example[key] === '')
  const own = Object.entries(filledIn).filter(([key]) => key.startsWith(settings.family.prefix))
  expect(empty.toSorted()).toEqual(own.map(([key]) => key).toSorted())
  expect(settings.read({ ...example, ...Object.fromEntries(own) }).warnings).toEqual([])
})

test.each([
  ['identity', identity, ['AUTH_DB_DATABASE_URL', 'AUTH_JWT_SECRET']],
  ['payments', payments, ['PAY_DB_DATABASE_URL']],
] as const)('%s does not start before it has what is secret', (name, { settings }, missing) => {
  const complaints = () => {
    try {
      settings.read(exampleOf(name))
      return []
    } catch (problem) {
      return (problem as ConfigProblem).complaints.map((complaint) => complaint.split(' ')[0])
    }
  }
  expect(complaints()).toEqual(missing)
})

test.each(services)('systemd, containers and Node read the example settings of $name alike', ({ name }) => {
  const lines = fileOf(`deploy/${name}.example.env`).split('\n')
  expect(lines.filter((line) => !/^(|#.*|[A-Z_\d]+=[^\s"'\\#$]*)$/.test(line))).toEqual([])
})

// Containers

type Instruction = { word: string; rest: string }

/** The instructions of each stage, with those of the stage that it is made from. */
function stagesOf(text: string): Map<string, Instruction[]> {
  const stages = new Map<string, Instruction[]>()
  let current: Instruction[] = []
  for (const line of text.split('\n').filter((each) => each !== '' && !each.startsWith('#'))) {
    const [, word = '', rest = ''] = /^([A-Z]+) (.+)$/.exec(line) ?? []
    const [, from = '', as = ''] = (word === 'FROM' && /^(\S+) AS (\S+)$/.exec(rest)) || []
    if (word === 'FROM') {
      current = [...(stages.get(from) ?? [{ word, rest: from }])]
      stages.set(as, current)
    } else current.push({ word, rest })
  }
  return stages
}

const stages = stagesOf(fileOf('deploy/Containerfile'))
const said = (stage: string, word: string) => stages.get(stage)?.findLast((each) => each.word === word)?.rest ?? ''

test.each(services)('the image of $name is Node, one file that the build makes, and somebody who is not root', ({ name }) => {
  expect(said(name, 'FROM')).toMatch(/^node:24-[a-z]+-slim$/)
  expect(said(name, 'COPY')).toBe(`--chown=0:0 dist/${name}.mjs ./`)
  expect(fileOf('tools/build.ts')).toContain(`${name}: 'packages/tollgate/src/${name}.ts'`)
  expect(said(name, 'USER')).toMatch(/^[1-9]\d*:[1-9]\d*$/)
  expect([...JSON.parse(said(name, 'ENTRYPOINT')), ...JSON.parse(said(name, 'CMD'))]).toEqual([
    ...['node', '--max-semi-space-size=16', `${name}.mjs`, 'serve'],
  ])
})

/** How the check of an image ends, with these settings. */
async function checkHealth(name: string, env: Record<string, string>): Promise<number> {
  const [command = '', ...words] = JSON.parse(said(name, 'HEALTHCHECK').replace(/^.* CMD /, ''))
  expect(command).toBe('node')
  const [code] = await once(spawn(process.execPath, words, { env, stdio: 'ignore' }), 'close')
  return code
}

test('the health check of an image finds out whether its service answers', async () => {
  const services = [await startIdentity(), await startPayments()]
  const [one, other] = services.map(({ origin }) => new URL(origin).port)
  expect(await checkHealth('identity', { AUTH_API_PORT: one ?? '' })).toBe(0)
  expect(await checkHealth('payments', { PAY_API_PORT: other ?? '' })).toBe(0)
  for (const { stop } of services) await stop()
  expect(await checkHealth('identity', { AUTH_API_PORT: one ?? '' })).toBe(1)
  expect(await checkHealth('payments', { PAY_API_PORT: other ?? '' })).toBe(1)
})

type Container = {
  build: Record<string, string>
  env_file: string
  environment: Record<string, string>
  ports: string[]
  tmpfs: string[]
  [more: string]: Yaml
}
const compose = readYaml(fileOf('deploy/compose.yaml')) as { services: Record<string, Container>; volumes: object }

test.each(services)(
  'compose runs $name with settings that it understands, locked in and behind a proxy',
  ({ name, settings }) => {
    const container = compose.services[name]
    expect(container).toMatchObject({
      build: { context: '..', dockerfile: 'deploy/Containerfile', target: name },
      env_file: `${name}.env`,
      read_only: 'true',
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      depends_on: { postgres: { condition: 'service_healthy' } },
    })
    // What hashes passwords is unpacked there and loaded from there.
    expect(container?.tmpfs).toEqual([expect.stringMatching(/^\/tmp:exec,/)])
    // Longer than the 25 seconds that requests in flight get.
    expect(Number.parseInt(String(container?.stop_grace_period), 10)).toBeGreaterThan(27)
    const interpolated = Object.entries(container?.environment ?? {}).map(([key, value]) => [
      key,
      value.replace(/\$\{POSTGRES_PASSWORD:\?[^}]+\}/, 'secret'),
    ])
    const { config, warnings } = settings.read({ ...exampleOf(name), ...filledIn, ...Object.fromEntries(interpolated) })
    expect(warnings.filter((warning) => warning.includes(settings.family.prefix))).toEqual([])
    const { api, db, telemetry } = config as ReturnType<typeof identity.settings.read>['config']
    expect([api.host, telemetry.prometheusHost]).toEqual(['0.0.0.0', '0.0.0.0'])
    expect(container?.ports).toEqual([`127.0.0.1:${api.port}:${api.port}`])
    expect(said(name, 'EXPOSE')).toBe(String(api.port))
    const { hostname, username, pathname } = new URL(db.url.reveal())
    const { environment } = compose.services.postgres as Container
    expect(hostname in compose.services).toBe(true)
    expect([username, pathname.slice(1)]).toEqual([environment.POSTGRES_USER, environment.POSTGRES_DB])
  },
)

// What the image would be, without a daemon that builds it

const contained = canContain()
let built: string
beforeAll(async () => {
  if (!contained) return
  built = mkdtempSync(join(tmpdir(), 'tollgate-built-'))
  await buildPrograms(built)
}, 60_000)
afterAll(() => contained && rmSync(built, { recursive: true, force: true }))

function imageOf(name: string): Image {
  const copied = (stages.get(name) ?? []).filter(({ word }) => word === 'COPY').map(({ rest }) => rest.split(' '))
  for (const words of copied) expect([words[0], words.at(-1)]).toEqual(['--chown=0:0', './'])
  return {
    copied: copied.flatMap((words) => words.slice(1, -1)),
    folder: said(name, 'WORKDIR'),
    user: said(name, 'USER'),
    entry: [...JSON.parse(said(name, 'ENTRYPOINT')), ...JSON.parse(said(name, 'CMD'))],
  }
}

/** All that a program said, and how it ended. */
async function ending(child: ChildProcessWithoutNullStreams): Promise<{ code: number | null; output: string }> {
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  const [code] = await once(child, 'close')
  return { code, output }
}

function listening(child: ChildProcessWithoutNullStreams): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        output += chunk
        if (output.includes('"listening"')) resolve()
      })
    child.on('close', () => reject(new Error(output)))
  })
}

/** A container reaches the database over the network, and not by files. */
async function overNetwork(url: string): Promise<string> {
  const { pathname, username, searchParams, hostname, port } = new URL(url)
  const folder = searchParams.get('host')
  const server = createServer((one) => {
    const other = folder ? connect(`${folder}/.s.PGSQL.5432`) : connect(Number(port), hostname)
    for (const socket of [one, other]) socket.on('error', () => {})
    one.pipe(other).pipe(one)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return `postgres://${username}@127.0.0.1:${(server.address() as AddressInfo).port}${pathname}`
}

/** What shows that all of it is there: what is compiled for the machine, what was made for browsers, the vault. */
const proofs = {
  identity: [['POST /signup', { email: 'ann@example.com', password: 'correct horse battery' }]],
  payments: [
    ['POST /vault', { type: 'pcn', value: '4100000000000000' }],
    ['GET /pos/popup', undefined],
    ['GET /sdk.js', undefined],
  ],
} as const

const tryToWrite = `
  const { writeFileSync } = require('node:fs')
  const told = ['/', '/opt/tollgate', '/tmp', '/etc', '/usr'].map((folder) => {
    try { writeFileSync(folder + '/left-behind', ''); return 'written' } catch ({ code }) { return code }
  })
  console.log(told.join())`

test.runIf(contained).each(['identity', 'payments'] as const)(
  'with what the image of %s copies and nothing else, as nobody and where nothing can be written, it serves',
  async (name) => {
    const tmpfs = (compose.services[name]?.tmpfs[0] ?? '').replace(/^\/tmp:/, '')
    const image = unpack(imageOf(name), { built, tmpfs })
    const database = await scratchDatabase()
    const [prefix, port] = [name === 'identity' ? 'AUTH' : 'PAY', await freePort()]
    const settings = {
      ...exampleOf(name),
      ...Object.fromEntries(Object.entries(filledIn).filter(([key]) => key.startsWith(prefix))),
      ...{ [`${prefix}_DB_DATABASE_URL`]: await overNetwork(database.url), [`${prefix}_API_PORT`]: String(port), WORKERS: '2' },
      ...{ [`${prefix}_OTEL_EXPORTER_PROMETHEUS_PORT`]: String(await freePort()) },
      // Nobody is asked for anything outside.
      ...(name === 'payments' ? { PAY_EXCHANGE_RATES: '' } : { AUTH_SMTP_HOST: '127.0.0.1', AUTH_SMTP_PORT: '1' }),
    } as Record<string, string>
    const child = image.start([], settings)
    onTestFinished(async () => {
      child.kill('SIGKILL')
      await database.drop()
      image.remove()
    })
    await listening(child)
    const call = caller(`http://127.0.0.1:${port}`)
    expect((await call('GET /ready')).status).toBe(200)
    for (const [what, json] of proofs[name])
      expect((await call(what, { headers: { 'accept-version': '1' }, ...(json ? { json } : {}) })).status, what).toBe(200)
    expect(standingOf(child.pid ?? 0)).toEqual({
      ...{ Uid: '1000\t1000\t1000\t1000', Gid: '1000\t1000\t1000\t1000', Groups: '' },
      ...{ CapEff: '0000000000000000', CapPrm: '0000000000000000', NoNewPrivs: '1' },
    })
    expect(await ending(image.start(['node', '-e', tryToWrite], {}))).toEqual({
      code: 0,
      output: 'EROFS,EROFS,written,EROFS,EROFS\n',
    })
    const check = JSON.parse(said(name, 'HEALTHCHECK').replace(/^.* CMD /, ''))
    expect(await ending(image.start(check, { [`${prefix}_API_PORT`]: String(port) }))).toEqual({ code: 0, output: '' })
    child.kill('SIGTERM')
    expect((await once(child, 'close'))[0]).toBe(0)
  },
  30_000,
)

test.runIf(contained)('an image that lacks its program does not serve', async () => {
  const image = unpack({ ...imageOf('payments'), copied: [] }, { built, tmpfs: 'size=1m' })
  onTestFinished(image.remove)
  const { code, output } = await ending(image.start([], {}))
  expect([code, output]).toEqual([1, expect.stringContaining("Cannot find module '/opt/tollgate/payments.mjs'")])
})

// systemd

const units = readdirSync(join(root, 'deploy/systemd'))
const hardening = [
  'DynamicUser=yes',
  'NoNewPrivileges=yes',
  'CapabilityBoundingSet=',
  'ProtectSystem=strict',
  'ProtectHome=yes',
  'PrivateTmp=yes',
  'PrivateDevices=yes',
  'RestrictNamespaces=yes',
  'SystemCallFilter=@system-service',
]

test.each(units.filter((unit) => unit.endsWith('.service')))('%s locks in what it starts', (unit) => {
  const lines = fileOf(`deploy/systemd/${unit}`).split('\n')
  expect(lines).toEqual(expect.arrayContaining(hardening))
  // Node could not compile anything.
  expect(lines).not.toContain('MemoryDenyWriteExecute=yes')
  expect(lines.find((line) => line.startsWith('ExecStart='))).toMatch(
    / node( --max-semi-space-size=16)? \/opt\/tollgate\/(%i|payments)\.mjs (serve|verify)$/,
  )
})

const canAnalyze = spawnSync('systemd-analyze', ['--version']).status === 0

test.runIf(canAnalyze)('systemd understands the units', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-units-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const files = units.map((unit) => join(folder, unit.replace('@', '@identity')))
  for (const [index, unit] of units.entries()) writeFileSync(files[index] ?? '', fileOf(`deploy/systemd/${unit}`))
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', ...files], { encoding: 'utf8' })
  expect([status, stderr]).toEqual([0, ''])
})

// Alerts and the dashboard

type Rule = { alert: string; expr: string; for?: string; labels: { severity: string }; annotations: { summary: string } }
const { groups } = readYaml(fileOf('deploy/prometheus/alerts.yaml')) as { groups: { name: string; rules: Rule[] }[] }
const rules = groups.flatMap((group) => group.rules)

type Panel = {
  id: number
  type: string
  title: string
  gridPos: Record<string, number>
  targets?: { expr: string; legendFormat: string }[]
}
const dashboard = JSON.parse(fileOf('deploy/grafana/tollgate.json')) as { panels: Panel[] }

test('every alert has a name of its own, somebody to tell, and something to tell them', () => {
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length)
  for (const { labels, annotations, alert } of rules) {
    expect([alert, labels.severity]).toEqual([alert, expect.stringMatching(/^(page|ticket)$/)])
    expect(annotations.summary.length).toBeGreaterThan(10)
  }
})

test('the panels of the dashboard do not lie on each other', () => {
  const cells = dashboard.panels.flatMap(({ gridPos: { x = 0, y = 0, w = 0, h = 0 } }) =>
    Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)} ${y + Math.floor(cell / w)}`),
  )
  expect(new Set(cells).size).toBe(cells.length)
  expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length)
})

type Selected = { metric: string; matchers: { label: string; operator: string; value: string }[] }

/** Every metric that an expression names, with its matchers, and every label that it groups by. */
function namesIn(expression: string): { selected: Selected[]; grouped: string[] } {
  const selected: Selected[] = []
  const grouped: string[] = []
  const bare = expression
    .replaceAll(/\b(?:by|on) \(([\w, ]+)\)/g, (_, labels: string) => {
      grouped.push(...labels.split(', '))
      return ''
    })
    .replaceAll(/\[(?:\d+[smhd]|\$__rate_interval)\]/g, '')
    .replaceAll(/([a-zA-Z_:][\w:]*)\{([^}]*)\}/g, (_, metric: string, inner: string) => {
      const matchers = [...inner.matchAll(/(\w+)(=~|!=|=)"([^"]*)"/g)].map(([, label = '', operator = '', value = '']) => ({
        label,
        operator,
        value,
      }))
      selected.push({ metric, matchers })
      return ''
    })
    .replaceAll(/[a-zA-Z_:][\w:]*(?![\w:]*\s*\()/g, (metric) => {
      selected.push({ metric, matchers: [] })
      return ''
    })
  // What is left are functions, numbers and signs, and as many brackets open as close.
  expect(bare).toMatch(/^[a-z_\d.()\s/+>=,-]*$/)
  expect(bare.match(/\(/g)?.length).toBe(bare.match(/\)/g)?.length)
  return { selected, grouped }
}

test('the names in an expression are found', () => {
  expect(namesIn('sum by (job, le) (rate(a_total{code=~"5..", to!="/x"}[5m])) / max(b) > 0.5')).toEqual({
    selected: [
      {
        metric: 'a_total',
        matchers: [
          { label: 'code', operator: '=~', value: '5..' },
          { label: 'to', operator: '!=', value: '/x' },
        ],
      },
      { metric: 'b', matchers: [] },
    ],
    grouped: ['job', 'le'],
  })
})

/** What Prometheus adds by itself, and what its node exporter tells of our units. */
const ofOthers = new Map([
  ['up', new Map()],
  ['node_systemd_unit_state', new Map([...namesOf('.service'), ['state', new Set(['active', 'failed'])]])],
  ['node_systemd_timer_last_trigger_seconds', namesOf('.timer')],
])
const labelsOfPrometheus = ['job', 'instance']

function namesOf(ending: string): Map<string, Set<string>> {
  return new Map([['name', new Set(units.filter((unit) => unit.endsWith(ending)))]])
}

/** Everything that is scraped: name → label → values. */
function metricsIn(text: string): Map<string, Map<string, Set<string>>> {
  const metrics = new Map<string, Map<string, Set<string>>>()
  for (const line of text.split('\n').filter((each) => each !== '' && !each.startsWith('#'))) {
    const [, name = '', inner = ''] = /^(\w+)(?:\{(.*)\})? \S+$/.exec(line) ?? []
    const labels = metrics.get(name) ?? new Map<string, Set<string>>()
    metrics.set(name, labels)
    for (const [, label = '', value = ''] of inner.matchAll(/(\w+)="([^"]*)"/g))
      labels.set(label, (labels.get(label) ?? new Set()).add(value))
  }
  return metrics
}

/** What is not there until it has happened: it is made to happen. */
const afterUse = [
  'http_status_codes_total',
  'http_server_request_duration_seconds_bucket',
  'global_auth_email_send_operations_total',
  'global_auth_email_send_errors_total',
  'tollgate_acquirer_duration_seconds_bucket',
]

async function scrapeBoth() {
  const telemetryOf = (service: string) =>
    startTelemetry({
      service,
      version: '0',
      versionAttribute: 'version',
      tracing: false,
      metrics: 'prometheus',
      exportInterval: 60_000,
    })
  const telemetries = [await telemetryOf('tollgate-identity'), await telemetryOf('tollgate-payments')]
  const [one, other] = telemetries
  if (!one || !other) throw new Error('There are two')
  // Nobody takes mail at this port.
  const people = await startIdentity({ AUTH_SMTP_PORT: '1' }, { telemetry: one })
  const shops = await startPayments({ PAY_VAULT_KEYS: '' }, { telemetry: other })
  onTestFinished(async () => {
    await people.stop()
    await shops.stop()
    for (const { stop } of telemetries) await stop()
  })
  const fresh = metricsIn(telemetries.map((telemetry) => prometheusText(telemetry.snapshot() ?? [])).join(''))
  for (const { call } of [people, shops]) await call('GET /ready')
  await people.call('POST /signup', { json: { email: 'ann@site.test', password: 'correct horse' } })
  const shop = await openShop(shops)
  const headers = { authorization: shop.authorization }
  // Where the simulator answers at once it is not asked: what it would say is part of the statement that pays.
  const slowly = { test: { acquirer: { latency: 15 } } }
  await shops.call(`POST /transactions/${await pay(shops, shop, slowly)}/captures`, { headers, json: { amount: 100 } })
  const declined = { amount: 100, currency: 'EUR', card: { number: '4100000000000008' } }
  await shops.call(`POST /merchants/${shop.id}/simulator/payments`, { headers, json: declined })
  await shops.call('POST /vault', { headers: { 'accept-version': '1' }, json: { type: 'pcn', value: '4100000000000000' } })
  const scrape = () => metricsIn(telemetries.map((telemetry) => prometheusText(telemetry.snapshot() ?? [])).join(''))
  // The loop that delivers has to have been round.
  await expect.poll(() => scrape().has('global_auth_email_send_errors_total'), { timeout: 10_000 }).toBe(true)
  return { fresh, used: scrape() }
}

test('alerts and dashboard ask for what both services tell, and for nothing else', async () => {
  const { fresh, used } = await scrapeBoth()
  const there = new Map([...used, ...ofOthers])
  const expressions = [
    ...rules.map(({ alert, expr }) => [alert, expr] as const),
    ...dashboard.panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const)),
  ]
  expect(expressions.length).toBeGreaterThan(40)
  const asked = new Set<string>()
  const wrong = expressions.flatMap(([name, expression]) => {
    const { selected, grouped } = namesIn(expression)
    for (const { metric } of selected) asked.add(metric)
    const unknown = selected.filter(({ metric }) => !there.has(metric)).map(({ metric }) => metric)
    const known = [...labelsOfPrometheus, ...selected.flatMap(({ metric }) => [...(there.get(metric)?.keys() ?? [])])]
    const groupless = grouped.filter((label) => !known.includes(label))
    const unmatched = selected.flatMap(({ metric, matchers }) =>
      matchers
        .filter(
          ({ label, operator, value }) =>
            !labelsOfPrometheus.includes(label) && !matches(there.get(metric)?.get(label), operator, value),
        )
        .map(({ label, value }) => `${metric}{${label}="${value}"}`),
    )
    return [...unknown, ...groupless, ...unmatched].map((problem) => `${name}: ${problem}`)
  })
  expect(wrong).toEqual([])
  const later = [...asked].filter((metric) => !ofOthers.has(metric) && !fresh.has(metric))
  expect(new Set(later.map((metric) => metric.replace(/_(sum|count)$/, '_bucket')))).toEqual(new Set(afterUse))
})

test.each([
  ['errors', 'http_status_codes_total'],
  ['slowness', 'http_server_request_duration_seconds_bucket'],
  ['passwords that wait', 'tollgate_password_queue'],
  ['messages that wait', 'tollgate_messages_waiting_age_seconds'],
  ['operations without an answer', 'tollgate_acquirer_pending_age_seconds'],
  ['plans that stand still', 'tollgate_plan_overdue_age_seconds'],
  ['books that nobody has verified', 'node_systemd_timer_last_trigger_seconds'],
])('somebody is told of %s', (_, metric) => {
  const asking = rules.filter(({ expr }) => namesIn(expr).selected.some((each) => each.metric === metric))
  // Zero would go off all the time, or never.
  expect(asking.map(({ expr }) => Number(/> ([\d.]+)$/.exec(expr)?.[1])).some((bound) => bound > 0)).toBe(true)
})

test('verify is started more often than its alert waits for', () => {
  const calendar = /^OnCalendar=(.+)$/m.exec(fileOf('deploy/systemd/tollgate-verify.timer'))?.[1]
  expect(calendar).toBe('*-*-* 02:30:00')
  const bound = /> (\d+)$/.exec(rules.find(({ alert }) => alert === 'TollgateVerifyOld')?.expr ?? '')?.[1]
  expect(Number(bound)).toBeGreaterThan(86_400 + 3_600)
})

function matches(values: Set<string> | undefined, operator: string, value: string): boolean {
  if (operator === '=') return values?.has(value) ?? false
  const whole = new RegExp(`^(?:${value})$`)
  // One that is left out has to be there, too, or it would be left out for nothing.
  return [...(values ?? [])].some((each) => whole.test(each))
}

test('the guide tells what each alert is for', () => {
  const told = [...guide.matchAll(/^\| `(Tollgate\w+)` \|/gm)].map(([, alert]) => alert)
  expect(told).toEqual(rules.map(({ alert }) => alert))
})
