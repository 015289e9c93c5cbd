import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import type { Log } from './log.ts'
import type { Snapshot } from './metrics.ts'
import { mergeSnapshots, withoutGauges } from './scrape.ts'

export type Supervisor = {
  /** What all workers have counted together, those that have died included: a sum that falls would look like a restart. */
  snapshot(): Promise<Snapshot>
  /** Asks all workers to finish what they are at, and waits for them. */
  stop(seconds: number): Promise<void>
}

type Message = { kind: 'ready' } | { kind: 'snapshot'; snapshot: Snapshot | undefined }
type Order = 'drain' | 'snapshot'

/** A worker that listened for less than this, or never, died of what its successor will meet too: that one waits a little. */
const shortLife = 1_000

/** Keeps `count` processes at work on the same port, replacing those that die. Resolves when all are listening. */
export async function superviseWorkers({ count, log }: { count: number; log: Log }): Promise<Supervisor> {
  let stopping = false
  let quickDeaths = 0
  let fromTheDead: Snapshot = []
  const latest = new Map<Worker, Snapshot>()

  function start(): Worker {
    const worker = cluster.fork()
    const born = performance.now()
    let ready = Number.POSITIVE_INFINITY
    worker.on('message', (message: Message) => {
      if (message.kind !== 'ready') return
      ready = performance.now()
      log.info({ pid: worker.process.pid, ms: Math.round(ready - born) }, 'a worker listens')
    })
    worker.on('exit', (code, signal) => {
      fromTheDead = mergeSnapshots([fromTheDead, withoutGauges(latest.get(worker) ?? [])])
      latest.delete(worker)
      if (stopping) return
      quickDeaths = performance.now() - ready < shortLife ? quickDeaths + 1 : 0
      const delay = quickDeaths <= 1 ? 0 : Math.min(5_000, 100 * 2 ** quickDeaths)
      log.error({ pid: worker.process.pid, code, signal, delay_ms: delay }, 'a worker died; starting another')
      setTimeout(() => {
        if (!stopping) start()
      }, delay)
    })
    return worker
  }

  // One that is dead stays on the list until its channel is closed, too.
  const workers = () =>
    Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined && !worker.isDead()) as Worker[]
  await Promise.all(Array.from({ length: count }, () => untilReady(start())))
  return {
    async snapshot() {
      await Promise.all(
        workers().map(async (worker) => {
          const snapshot = await askSnapshot(worker)
          if (snapshot && !worker.isDead()) latest.set(worker, snapshot)
        }),
      )
      return mergeSnapshots([fromTheDead, ...latest.values()])
    },
    async stop(seconds) {
      stopping = true
      const leaving = workers()
      const gone = Promise.all(leaving.map((worker) => once(worker, 'exit')))
      for (const worker of leaving) worker.send('drain' satisfies Order, () => {})
      const late = setTimeout(
        () => {
          for (const worker of leaving) worker.process.kill('SIGKILL')
        },
        seconds * 1000 + 2_000,
      )
      await gone
      clearTimeout(late)
    },
  }
}

/** The worker's end: tells when it listens, and does what the supervisor asks; a supervisor that is gone means stop. */
export function obeySupervisor(worker: { snapshot(): Snapshot | undefined; stop(): Promise<void> }) {
  let leaving = false
  const leave = () => {
    // A supervisor that dies while we drain is no reason to stop draining.
    if (leaving) return
    leaving = true
    worker.stop().finally(() => process.exit(0))
  }
  process.on('message', (order: Order) => {
    if (order === 'drain') leave()
    if (order === 'snapshot') send({ kind: 'snapshot', snapshot: worker.snapshot() })
  })
  process.on('disconnect', leave)
  // A signal to the whole group is the supervisor's to answer: it drains its workers in order.
  process.on('SIGTERM', () => {})
  process.on('SIGINT', () => {})
  send({ kind: 'ready' })
}

function send(message: Message) {
  process.send?.(message, undefined, undefined, () => {})
}

function untilReady(worker: Worker): Promise<void> {
  return new Promise((resolve, reject) => {
    worker.on('message', (message: Message) => {
      if (message.kind === 'ready') resolve()
    })
    worker.once('exit', () => reject(new Error('A worker ended before it could listen; its own message stands above.')))
  })
}

function askSnapshot(worker: Worker): Promise<Snapshot | undefined> {
  return new Promise((resolve) => {
    const done = (snapshot: Snapshot | undefined) => {
      clearTimeout(late)
      worker.off('message', onMessage)
      resolve(snapshot)
    }
    // A worker that is dying or busy is left out of this scrape.
    const late = setTimeout(() => done(undefined), 2_000)
    const onMessage = (message: Message) => {
      if (message.kind === 'snapshot') done(message.snapshot)
    }
    worker.on('message', onMessage)
    worker.send('snapshot' satisfies Order, (problem) => problem && done(undefined))
  })
}
