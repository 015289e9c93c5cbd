import { type ChildProcess, fork } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { identity } from '@tollgate/identity/main'
import { requiredSettings } from '@tollgate/identity/testing'
import { type EmbeddedPostgres, startPostgres } from '@tollgate/kit/embedded-postgres'
import { startHttpFake } from '@tollgate/kit/http-fake'
import { createLog } from '@tollgate/kit/log'
import { migrateService, type Service, startService } from '@tollgate/kit/service'
import type { ServiceConfig } from '@tollgate/kit/service-settings'
import { startSmtpSink } from '@tollgate/kit/smtp-sink'
import { caller, type LogLine, noTelemetry, stillClock } from '@tollgate/kit/testing'
import { payments } from '@tollgate/payments/main'
import pg from 'pg'
import { fuzzBytes, wrongWithIdentity, wrongWithPayments } from '../packages/tollgate/src/fuzz-bytes.ts'
import { reachOf, statusesOf } from '../packages/tollgate/src/fuzz-findings.ts'
import { fuzzIdentity, identityFuzzSettings, startFuzzProvider } from '../packages/tollgate/src/fuzz-identity-run.ts'
import type { Fuzzing, FuzzNode } from '../packages/tollgate/src/fuzz-node.ts'
import { fuzzPayments, hasFuzzRates, paymentsFuzzSettings } from '../packages/tollgate/src/fuzz-payments-run.ts'
import {
  complaintsOf,
  type FuzzOutcome,
  fuzzUsage,
  readFuzzOptions,
  tellBug,
  tellHeld,
  tellOutcome,
} from '../packages/tollgate/src/fuzz-report.ts'
import { type FuzzedName, fuzzed, type Memory, type Order, type Reply } from '../packages/tollgate/src/fuzz-services.ts'

const batch = 500
/** Of a batch; the rest is made from what endpoints say they take. */
const asBytes = 50
const quietSeconds = 5
/** How often memory is looked at. */
const measurements = 40

type Unnumbered<T> = T extends unknown ? Omit<T, 'id'> : never
type Host = { tell(order: Unnumbered<Order>): Promise<Reply>; lines: LogLine[]; stop(): Promise<void> }

function startHost(): Host {
  const child: ChildProcess = fork(new URL('../packages/tollgate/src/fuzz-host.ts', import.meta.url), {
    execArgv: ['--expose-gc'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const lines: LogLine[] = []
  const waiting = new Map<number, PromiseWithResolvers<Reply>>()
  const ended = once(child, 'exit').then(([code, signal]) => {
    for (const { reject } of waiting.values()) reject(new Error(`the service ended with ${code ?? signal}`))
  })
  child.on('message', (message: Reply | { line: LogLine }) => {
    if ('line' in message) return void lines.push(message.line)
    waiting.get(message.id)?.resolve(message)
    waiting.delete(message.id)
  })
  let last = 0
  async function tell(order: Unnumbered<Order>): Promise<Reply> {
    if (!child.connected) throw new Error('the service is gone')
    const answer = Promise.withResolvers<Reply>()
    waiting.set(++last, answer)
    child.send({ id: last, ...order })
    return answer.promise
  }
  return {
    tell,
    lines,
    async stop() {
      if (child.connected) await tell({ order: 'stop' }).catch(() => child.kill('SIGKILL'))
      await ended
    },
  }
}

/** `over` when nobody wants to know any more. */
type Site = { postgres: EmbeddedPostgres; folder: string; ends: (() => Promise<unknown>)[]; over: boolean }

/** The service in a process of its own, and here another node of it that nobody asks anything: its app sets the stage. */
async function startNode<Config extends ServiceConfig, App>(
  service: Service<Config, App>,
  { env, host, site }: { env: Record<string, string>; host: Host; site: Site },
): Promise<FuzzNode<App>> {
  const url = await createDatabase(site.postgres, service.name)
  const { prefix } = service.settings.family
  const all = { [`${prefix}_API_HOST`]: '127.0.0.1', [`${prefix}_API_PORT`]: '0', DATABASE_URL: url, ...env }
  const { config } = service.settings.read(all)
  await migrateService(service, config)
  const { port } = await host.tell({ order: 'start', name: service.name as FuzzedName, env: all })
  const { tell, lines } = host
  const sink = { write: (line: string) => void (/"level":"error"/.test(line) && lines.push(JSON.parse(line))), flush() {} }
  const now = stillClock()
  const log = createLog({ level: 'error', service: service.name, sink })
  const beside = await startService(service, config, { log, telemetry: noTelemetry, now })
  site.ends.push(() => beside.stop(0))
  const origin = `http://127.0.0.1:${port}`
  return {
    ...{ app: beside.app, call: caller(origin), origin, now, lines },
    async advance(seconds) {
      now.advance(seconds)
      await tell({ order: 'advance', seconds })
    },
    // What was logged before is told before.
    heard: async () => void (await tell({ order: 'advance', seconds: 0 })),
  }
}

async function createDatabase(postgres: EmbeddedPostgres, name: string): Promise<string> {
  const admin = new pg.Client(postgres.url('postgres'))
  await admin.connect()
  await admin.query(`create database fuzz_${name}`).finally(() => admin.end())
  return postgres.url(`fuzz_${name}`)
}

type Kinds = { bySchema: Fuzzing; byBytes: Fuzzing }

async function identityKinds(site: Site, host: Host, seed: number): Promise<Kinds> {
  const mails = await startSmtpSink()
  const gateway = await startHttpFake({ 'POST /sms': { json: { id: '1' } } })
  const provider = await startFuzzProvider()
  site.ends.push(mails.close, gateway.close, provider.close)
  const env = {
    ...(requiredSettings as Record<string, string>),
    ...identityFuzzSettings(provider),
    AUTH_SMTP_PORT: String(mails.port),
    AUTH_EXTERNAL_PHONE_ENABLED: 'true',
    AUTH_SMS_PROVIDER: 'console',
    AUTH_SMS_CONSOLE_URL: gateway.origin,
    AUTH_RATE_LIMIT_EMAIL_SENT: '1000000',
    AUTH_RATE_LIMIT_SMS_SENT: '1000000',
  }
  const node = await startNode(fuzzed.identity, { env, host, site })
  return {
    bySchema: await fuzzIdentity({ ...node, mails, gateway, provider }, seed),
    byBytes: fuzzBytes(node, { seed, wrongWith: wrongWithIdentity }),
  }
}

async function paymentsKinds(site: Site, host: Host, seed: number): Promise<Kinds> {
  const env = {
    ...{ PAY_ENV: 'development', PAY_EXCHANGE_MAX_AGE: '0' },
    PAY_VAULT_KEYS: `fuzz:${Buffer.alloc(32, 'fuzz').toString('base64')}`,
    ...paymentsFuzzSettings(join(site.folder, 'rates.xml')),
  }
  const node = await startNode(fuzzed.payments, { env, host, site })
  while (!hasFuzzRates(node.app)) await sleep(20)
  return { bySchema: await fuzzPayments(node, seed), byBytes: fuzzBytes(node, { seed, wrongWith: wrongWithPayments }) }
}

async function fuzzService(name: FuzzedName, requests: number, seed: number, site: Site): Promise<FuzzOutcome> {
  const host = startHost()
  site.ends.push(host.stop)
  const { bySchema, byBytes } = await (name === 'identity' ? identityKinds : paymentsKinds)(site, host, seed)
  site.ends.push(async () => bySchema.close())
  const fuzzings = [bySchema, byBytes]
  const answers = () => fuzzings.reduce((sum, { findings }) => sum + total(statusesOf(findings)), 0)
  const started = performance.now()
  const seconds = () => (performance.now() - started) / 1000
  const again = (made: number) => `npm run fuzz -- --service ${name} --seed ${seed} --requests ${made}`

  const told = new Set<string>()
  function tellNew(made: number) {
    for (const bug of fuzzings.flatMap(({ findings }) => [...findings.bugs.values()])) {
      if (told.has(bug.kind) || site.over) continue
      told.add(bug.kind)
      console.log(tellBug(bug, again(made)))
    }
  }

  const memory: Memory[] = []
  const collect = async () => (await host.tell({ order: 'collect' })).memory as Memory

  let made = 0
  try {
    let spoke = seconds()
    for (let number = 0; made < requests; number++) {
      const count = Math.min(batch, requests - made)
      const bytes = Math.round((count * asBytes) / batch)
      await byBytes.send(number, bytes)
      await bySchema.send(number, count - bytes)
      made += count
      tellNew(made)
      if (made >= ((memory.length + 1) * requests) / measurements) memory.push(await collect())
      if (seconds() - spoke < quietSeconds) continue
      spoke = seconds()
      const pace = `${(answers() / spoke).toFixed(0)} answers/s`
      console.error(`${name}: ${made} of ${requests} requests, ${pace}, ${tellHeld(await collect())}, bugs: ${told.size}`)
    }
    await bySchema.finish()
  } catch (problem) {
    bySchema.findings.note('the run broke off', String((problem as Error).stack))
  }
  tellNew(Math.min(requests, made + batch))
  const statuses: Record<string, number> = {}
  for (const { findings } of fuzzings)
    for (const [status, count] of Object.entries(statusesOf(findings))) statuses[status] = (statuses[status] ?? 0) + count
  return {
    ...{ name, requests, answers: answers(), seconds: seconds(), statuses },
    bugs: fuzzings.flatMap(({ findings }) => [...findings.bugs.values()]),
    memory,
    reach: reachOf(bySchema.findings, likable(name)),
  }
}

function total(counts: Record<string, number>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0)
}

/** What does something, and is not there for requests as bytes alone. */
function likable(name: FuzzedName): string[] {
  const endpoints: readonly { method: string; path: string; reply: object }[] = { identity, payments }[name].endpoints
  return endpoints.filter(({ reply }) => Object.keys(reply).length > 0).map(({ method, path }) => `${method} ${path}`)
}

function interruption(): Promise<never> {
  return new Promise((_, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.on(signal, () => reject(new Error(`stopped by ${signal}`)))
  })
}

async function run(): Promise<number> {
  const { requests, seed = randomInt(2 ** 31), services, help } = readFuzzOptions(process.argv.slice(2))
  if (help) {
    console.log(fuzzUsage)
    return 0
  }
  console.log(`seed ${seed}`)
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-fuzz-'))
  const site: Site = { folder, ends: [], over: false, postgres: await startDatabase(folder) }
  let outcomes: FuzzOutcome[]
  try {
    // Side by side, for one alone leaves half of a machine idle. What does not divide evenly goes to the first.
    const share = (index: number) => Math.floor(requests / services.length) + (index < requests % services.length ? 1 : 0)
    const runs = services.map((name, index) => fuzzService(name, share(index), seed, site))
    outcomes = await Promise.race([Promise.all(runs), interruption()])
  } finally {
    site.over = true
    await endAll(site)
    await site.postgres.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  for (const outcome of outcomes) console.log(tellOutcome(outcome))
  return outcomes.some((outcome) => complaintsOf(outcome).length > 0) ? 1 : 0
}

function startDatabase(folder: string): Promise<EmbeddedPostgres> {
  return startPostgres({
    folder: join(folder, 'postgres'),
    template: join(import.meta.dirname, '..', 'node_modules', '.cache', 'tollgate', 'postgres'),
    // Nothing here is to be kept.
    settings: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '300' },
  })
}

/** The last that was begun ends first. */
async function endAll({ ends }: Site): Promise<void> {
  for (let end = ends.pop(); end; end = ends.pop()) await end()
}

try {
  process.exit(await run())
} catch (problem) {
  console.error(`fuzz: ${(problem as Error).message}`)
  process.exit(1)
}
