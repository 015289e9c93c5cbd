import { once } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { createLog } from '@tollgate/kit/log'
import { type Running, type Service, startService } from '@tollgate/kit/service'
import type { ServiceConfig } from '@tollgate/kit/service-settings'
import { noTelemetry, stillClock } from '@tollgate/kit/testing'
import { fuzzed, type Order, type Reply } from './fuzz-services.ts'

/** A service under test in a process of its own, so that the memory that is looked at is the memory of the service. */
const now = stillClock()
let running: Running<unknown> | undefined

// Every line costs what it costs in production; those worth knowing are told to whoever started us.
const sink = {
  write(line: string) {
    if (/"level":"(?:error|fatal|panic)"/.test(line)) process.send?.({ line: JSON.parse(line) })
  },
  flush() {},
}

async function start<Config extends ServiceConfig, App>(service: Service<Config, App>, env: Record<string, string>) {
  const { config } = service.settings.read(env)
  const log = createLog({ level: 'info', service: service.name, sink })
  const started = await startService(service, config, { log, telemetry: noTelemetry, now, strict: true })
  running = started
  return { port: started.port }
}

async function obey(order: Order): Promise<Omit<Reply, 'id'>> {
  switch (order.order) {
    case 'start':
      return order.name === 'identity' ? start(fuzzed.identity, order.env) : start(fuzzed.payments, order.env)
    case 'advance':
      now.advance(order.seconds)
      return {}
    case 'collect': {
      if (!globalThis.gc) throw new Error('the process of the service has to be started with --expose-gc')
      // What was only waiting to be cleaned up after is gone the second time.
      globalThis.gc()
      await setImmediate()
      globalThis.gc()
      const { heapUsed, external, rss } = process.memoryUsage()
      return { memory: { held: heapUsed + external, resident: rss } }
    }
    case 'stop':
      await running?.stop(0)
      return {}
  }
}

process.on('message', async (order: Order) => {
  process.send?.({ id: order.id, ...(await obey(order)) })
  if (order.order === 'stop') process.disconnect()
})
// Whoever started us is gone, or wants no more.
await once(process, 'disconnect')
process.exit()
