import cluster from 'node:cluster'
import { createLog, type Log } from '@tollgate/kit/log'
import { type Scrape, serveScrape } from '@tollgate/kit/scrape'
import { migrateService, type Service, startService, telemetrySettings } from '@tollgate/kit/service'
import { affordableWorkers, type ServiceConfig } from '@tollgate/kit/service-settings'
import { startTelemetry, type Telemetry } from '@tollgate/kit/telemetry'
import { version } from '@tollgate/kit/version'
import { obeySupervisor, superviseWorkers } from '@tollgate/kit/workers'
import { checkPort } from './port.ts'
import { readSettings } from './settings.ts'

/** How long requests in flight may take to finish once we are asked to stop. */
const drainSeconds = 25

/** The production entry of a service: settings from the environment, migrations, then one process or a supervised group of them. */
export async function serve<Config extends ServiceConfig, App>(service: Service<Config, App>): Promise<void> {
  const { config, warnings } = readSettings(service)
  const log = createLog({ level: config.log.level, file: config.log.file, service: service.name })
  dieLoudly(log)
  if (cluster.isWorker) return work(service, config, log)

  for (const warning of warnings) log.warn(warning)
  const applied = await migrateService(service, config)
  if (applied.length > 0) log.info({ migrations: applied }, 'migrated')
  const workers = affordableWorkers(config)
  const port = workers === 1 ? await serveAlone(service, config, log) : await serveTogether(service, config, workers, log)
  log.info({ host: config.api.host, port, workers, pid: process.pid, version }, 'listening')
}

/** One worker needs no supervisor beside it: whatever started this process is its supervisor. */
async function serveAlone<Config extends ServiceConfig, App>(
  service: Service<Config, App>,
  config: Config,
  log: Log,
): Promise<number> {
  const telemetry = await openTelemetry(service, config, log)
  const running = await startService(service, config, { log, telemetry })
  const scrape = await openScrape(config, log, () => telemetry.snapshot() ?? [])
  stopOnSignal(log, async () => {
    await running.stop(drainSeconds)
    await scrape?.close()
    await telemetry.stop()
  })
  return running.port
}

async function serveTogether<Config extends ServiceConfig>(
  service: Service<Config>,
  config: Config,
  count: number,
  log: Log,
): Promise<number> {
  await checkPort(config.api, `${service.settings.family.prefix}_API_PORT`)
  const supervisor = await superviseWorkers({ count, log })
  const scrape = await openScrape(config, log, () => supervisor.snapshot())
  stopOnSignal(log, async () => {
    await supervisor.stop(drainSeconds)
    await scrape?.close()
  })
  return config.api.port
}

async function work<Config extends ServiceConfig, App>(service: Service<Config, App>, config: Config, log: Log) {
  const telemetry = await openTelemetry(service, config, log)
  const running = await startService(service, config, { log, telemetry })
  obeySupervisor({
    snapshot: telemetry.snapshot,
    async stop() {
      await running.stop(drainSeconds)
      await telemetry.stop()
      log.flush()
    },
  })
}

function openTelemetry<Config extends ServiceConfig>(service: Service<Config>, config: Config, log: Log): Promise<Telemetry> {
  return startTelemetry({ ...telemetrySettings(service, config), warn: (message) => log.warn(message) })
}

async function openScrape(
  config: ServiceConfig,
  log: Log,
  collect: Parameters<typeof serveScrape>[0]['collect'],
): Promise<Scrape | undefined> {
  const { metrics, metricsExporter, prometheusHost: host, prometheusPort: port } = config.telemetry
  if (!metrics || metricsExporter !== 'prometheus') return undefined
  await checkPort({ host, port }, 'OTEL_EXPORTER_PROMETHEUS_PORT')
  return serveScrape({ host, port, collect, warn: (message) => log.warn(message) })
}

function stopOnSignal(log: Log, stop: () => Promise<void>) {
  let stopping = false
  const leave = (signal: string) => {
    // A signal that reaches us both directly and through the terminal's process group is one request, not two.
    if (stopping) return
    stopping = true
    log.info({ signal }, 'stopping')
    stop().finally(() => {
      log.info('stopped')
      log.flush()
      process.exit(0)
    })
  }
  process.on('SIGTERM', leave)
  process.on('SIGINT', leave)
}

/** A process in an unknown state is replaced, not nursed. */
function dieLoudly(log: Log) {
  const die = (error: unknown) => {
    log.panic({ error }, 'the process cannot go on')
    log.flush()
    process.exit(1)
  }
  process.on('uncaughtException', die)
  process.on('unhandledRejection', die)
}
