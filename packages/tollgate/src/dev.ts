import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { identity } from '@tollgate/identity/main'
import { type EmbeddedPostgres, startPostgres } from '@tollgate/kit/embedded-postgres'
import { type Env, withDotEnv } from '@tollgate/kit/env'
import { migrateService, type Running, type Service, startService, telemetrySettings } from '@tollgate/kit/service'
import type { ServiceConfig } from '@tollgate/kit/service-settings'
import { startSmtpSink } from '@tollgate/kit/smtp-sink'
import { startTelemetry } from '@tollgate/kit/telemetry'
import { payments } from '@tollgate/payments/main'
import { seed } from '@tollgate/payments/operations/seed'
import pg from 'pg'
import { consoleLog } from './dev/console-log.ts'
import { demoShop } from './dev/demo-shop.ts'
import { banner, tellFacts } from './dev/facts.ts'
import { holdFolder } from './dev/lock.ts'
import { keepSecrets } from './dev/secrets.ts'
import { devPorts, devSettings, host } from './dev/settings.ts'
import { startTestProvider } from './dev/test-provider.ts'
import { Mistake } from './mistake.ts'
import { checkPort } from './port.ts'
import { startWelcome } from './welcome/welcome.ts'

/** Everything on one machine, in one process, with nothing to install or to set. */
export async function dev(words: readonly string[]): Promise<void> {
  if (words.length > 0) return console.log(help)
  const running = new AbortController()
  // Listened to from the start: who presses Ctrl-C while PostgreSQL is being set up wants everything gone as well.
  const stop = (reason: string) => () => running.abort(reason)
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop(signal))

  const folder = holdFolder(resolve('.tollgate'))
  const house: House = { folder: folder.path, services: [], postgres: undefined }
  try {
    await start(house)
    if (!running.signal.aborted) await Promise.race([once(running.signal, 'abort'), untilPostgresEnds(house)])
  } finally {
    await close(house)
    folder.release()
  }
  process.exit(0)
}

/** What is running, so that all of it can be stopped wherever the start got to. */
type House = { folder: string; services: (() => Promise<void>)[]; postgres: EmbeddedPostgres | undefined }

async function start(house: House): Promise<void> {
  const started = performance.now()
  const env = withDotEnv(process.env, '.env')
  const secrets = keepSecrets(house.folder)
  const settings = devSettings(env, secrets)
  const ports = devPorts(settings)
  await Promise.all(Object.entries(ports).map(([setting, port]) => checkPort({ host, port }, setting)))

  const postgres = await startPostgres({ folder: join(house.folder, 'postgres') })
  house.postgres = postgres
  await createDatabase(postgres)
  const database = postgres.url('tollgate')
  const inbox = await startSmtpSink({ host, port: ports.TOLLGATE_SMTP_PORT })
  house.services.push(() => inbox.close())

  const redirectUri = `${(settings.AUTH_API_EXTERNAL_URL ?? '').replace(/\/+$/, '')}/callback`
  const provider = await startTestProvider({ host, port: ports.TOLLGATE_PROVIDER_PORT, redirectUri })
  house.services.push(() => provider.close())

  const own: Env = { AUTH_DB_DATABASE_URL: database, PAY_DB_DATABASE_URL: database, ...settings }
  const [, { app }] = await Promise.all([startInDev(identity, own, house), startInDev(payments, own, house)])
  const shop = demoShop({ app: secrets.app, today: new Date(secrets.app.created) })
  await seed(app, shop)

  const { externalUrl, posUrl } = app.config.customers
  const [{ id: merchantId, key }] = shop.merchants
  const told = tellFacts({
    ports,
    secrets,
    jwtSecret: own.AUTH_JWT_SECRET ?? '',
    customProviders: own.AUTH_EXTERNAL_CUSTOM_PROVIDERS,
    merchantId,
    database,
    folder: house.folder,
  })
  const shopUrl = `http://localhost:${ports.TOLLGATE_PORT}/shop`
  const facts = { ...told, shop: { url: shopUrl, service: externalUrl, posUrl, key, appKey: secrets.app.key } }
  // Last, so that a page that is still open from before finds the services running; an SMS that comes too early is sent again.
  const welcome = await startWelcome({ host, port: ports.TOLLGATE_PORT, facts, inbox })
  house.services.push(() => welcome.close())
  console.log(banner(facts, ports.TOLLGATE_PORT, performance.now() - started))
}

async function untilPostgresEnds({ postgres, folder }: House): Promise<never> {
  await postgres?.exited
  throw new Mistake(`PostgreSQL has ended by itself; its last words are in ${join(folder, 'postgres', 'postgres.log')}.`)
}

/** Services first, then the database under them; all within five seconds. One part's trouble does not keep the others running. */
async function close({ services, postgres }: House): Promise<void> {
  const outcomes = await Promise.allSettled(services.map((stop) => stop()))
  for (const outcome of outcomes) if (outcome.status === 'rejected') console.error(outcome.reason)
  if (!postgres) return
  // A server that will not end in time is cut, and recovers at the next start.
  const late = setTimeout(() => process.kill(postgres.pid, 'SIGQUIT'), 1_500)
  await postgres.stop()
  clearTimeout(late)
}

const help = `Usage: tollgate dev

Starts an embedded PostgreSQL, both services, a welcome page, an inbox for mail and SMS, and a provider to try social sign-in with.
Data and secrets are kept in .tollgate/.
Every AUTH_ and PAY_ setting can be given in the environment or in .env; names without prefix are left alone.

  TOLLGATE_PORT            The port of the welcome page, which receives SMS as well. [default 8080]
  TOLLGATE_SMTP_PORT       The port on which the inbox receives mail. [default 8083]
  TOLLGATE_PROVIDER_PORT   The port of the provider that social sign-in can be tried with. [default 8084]`

async function startInDev<Config extends ServiceConfig, App>(
  service: Service<Config, App>,
  env: Env,
  house: House,
): Promise<Running<App>> {
  const { config, warnings } = service.settings.read(env)
  const log = consoleLog(service.name, config.log.level)
  for (const warning of warnings) log.warn(warning)
  await migrateService(service, config)
  const telemetry = await startTelemetry({ ...telemetrySettings(service, config), warn: (message) => log.warn(message) })
  const running = await startService(service, config, { log, telemetry })
  house.services.push(async () => {
    await running.stop(1)
    await telemetry.stop()
  })
  return running
}

async function createDatabase(postgres: EmbeddedPostgres) {
  const client = new pg.Client(postgres.url('postgres'))
  await client.connect()
  try {
    const { rowCount } = await client.query("select from pg_database where datname = 'tollgate'")
    if (rowCount === 0) await client.query('create database tollgate')
  } finally {
    await client.end()
  }
}
