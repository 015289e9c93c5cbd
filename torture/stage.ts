import { execFile } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Db, openDb } from '@tollgate/kit/db'
import { type EmbeddedPostgres, startPostgres } from '@tollgate/kit/embedded-postgres'
import pg from 'pg'
import type { Cleanup } from '../bench/cleanup.ts'
import { createClock, type TorturedClock } from './clock.ts'
import { type Disk, findDisk, smallDiskSettings } from './disk.ts'
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts'
import type { ServiceName } from './schedule.ts'
import { createService, type TorturedService } from './service.ts'

/** Somebody outside whom the service needs, and who has moods. */
export type Outsider = {
  /** Whoever it is behaves in one of several bad ways from now on, chosen by a number from 0 to 1. */
  sulk(lot: number): void
  behave(): void
  /** How often somebody has felt that. */
  felt(): number
}

export type Stage = {
  folder: string
  proxy: FaultProxy
  service: TorturedService
  clock: TorturedClock
  /** How far a clock may be off at most, in milliseconds. */
  longestJump: number
  /** Where PostgreSQL has a file system of its own. */
  disk: Disk | undefined
  outsiders: Partial<Record<'smtp' | 'sms' | 'acquirer', Outsider>>
  postgres: {
    /** Immediate shutdown, as after a power cut, and a start again. */
    crash(down: () => Promise<unknown>): Promise<void>
    /** Starts it again, as a process manager does, where it has ended by itself. */
    revive(): Promise<void>
    /** One of its processes is killed, chosen by a number from 0 to 1; it takes all the others along. */
    killBackend(lot: number): Promise<void>
  }
  /** Aborted when nothing is to go wrong any more. */
  over: AbortSignal
  /** Ends all that goes wrong by itself. */
  calm(): void
  /** The database as it is now, past the proxy. */
  openSql(): Promise<Db>
  /** What `tollgate payments verify` complains about. */
  verify(): Promise<string | undefined>
}

type Setting = {
  service: ServiceName
  program: string
  workers: number
  longestJump: number
  /** What the service is told besides. */
  env: Record<string, string>
  outsiders: Stage['outsiders']
  /** Milliseconds since the run began. */
  now(): number
}

const root = join(import.meta.dirname, '..')

/** Where data folders are copied from, and programs keep what was compiled: as everywhere in the house. */
const cache = join(root, 'node_modules', '.cache')

/** A PostgreSQL with normal durability, the proxy in front of it, and the service in front of that. */
export async function setStage(setting: Setting, cleanup: Cleanup): Promise<Stage> {
  const { service: name, program, workers, longestJump, outsiders } = setting
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-torture-'))
  cleanup.later(() => rm(folder, { recursive: true, force: true }))
  const disk = findDisk()
  const data = join(disk?.folder ?? folder, 'postgres')
  cleanup.later(() => rm(data, { recursive: true, force: true }))
  const settings = disk ? smallDiskSettings : {}
  const start = () => startPostgres({ folder: data, settings, template: join(cache, 'tollgate', 'postgres') })
  let starting: Promise<EmbeddedPostgres> = start()
  cleanup.later(() =>
    starting.then(
      (server) => server.stop(),
      () => {},
    ),
  )
  await tell((await starting).url('postgres'), 'create database tollgate')
  let socket = socketOf(await starting)
  const proxy = await startFaultProxy(() => ({ path: socket }))
  cleanup.later(() => proxy.close())
  const clock = createClock(folder, setting.now)
  const env = {
    DATABASE_URL: `postgres://tollgate@127.0.0.1:${proxy.port}/tollgate?sslmode=disable`,
    WORKERS: String(workers),
    NODE_COMPILE_CACHE: join(cache, 'compile'),
    ...clock.env,
    ...setting.env,
  }
  const log = join(folder, 'service.log')
  const service = await createService({
    name: name === 'identity' ? name : 'payments',
    program,
    words: clock.words,
    env,
    folder,
    log,
  })
  cleanup.later(() => service.stop())

  /** A server that lacks room at the end of its recovery ends; somebody has to start it until there is. */
  async function startAgain() {
    starting = patiently(start)
    socket = socketOf(await starting)
  }

  const ending = new AbortController()
  return {
    folder,
    proxy,
    service,
    clock,
    longestJump,
    disk,
    outsiders,
    over: ending.signal,
    calm() {
      ending.abort()
      proxy.calm()
      // What was written in a future that has not come would keep its readers waiting until then.
      clock.ahead(0)
      for (const outsider of Object.values(outsiders)) outsider.behave()
    },
    async openSql() {
      const schema = schemas[name]
      const sql = openDb({ url: (await starting).url('tollgate'), schema, name: 'torture', lanes: 1, poolSize: 1 })
      cleanup.later(() => sql.close())
      return sql
    },
    postgres: {
      async crash(down) {
        const server = await starting
        send(server.pid, 'SIGQUIT')
        await server.exited
        await down()
        await startAgain()
      },
      async revive() {
        const { exited, url } = await starting
        const gone = exited.then(() => true)
        const isGone = () => Promise.race([gone, sleep(100, false)])
        // It may be about to end, or about to recover.
        await patiently(async () => {
          if (await isGone()) await startAgain()
          else await tell(url('postgres'), 'select 1')
        })
      },
      async killBackend(lot) {
        const { url } = await starting
        // It may be busy with its recovery from the last one.
        const found = await patiently(() => tell<{ pids: number[] | null }>(url('tollgate'), theirBackends))
        const pids = found?.pids ?? []
        const pid = pids[Math.floor(lot * pids.length)]
        if (pid !== undefined) send(pid, 'SIGKILL')
      },
    },
    async verify() {
      const { code, out } = await run([...clock.words, program, 'payments', 'verify'], { env, cwd: folder })
      return code === 0 && out.includes('no breach') ? undefined : `it ended with ${code}: ${out}`
    },
  }
}

const theirBackends = `
  select array_agg(pid) as pids from pg_stat_activity where backend_type = 'client backend' and application_name <> 'torture'`

/** To a process that may have ended by itself. */
function send(pid: number, signal: NodeJS.Signals) {
  try {
    process.kill(pid, signal)
  } catch (problem) {
    if ((problem as NodeJS.ErrnoException).code !== 'ESRCH') throw problem
  }
}

async function patiently<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++)
    try {
      return await attempt()
    } catch (problem) {
      if (tries === 100) throw problem
      await sleep(50)
    }
}

const pay = { written: 'pay', actual: 'pay' }
const schemas = { payments: pay, acquirer: pay, identity: { written: 'auth', actual: 'auth' } }

/** Embedded servers listen on a socket in a folder, which may be another one after a restart. */
function socketOf(server: EmbeddedPostgres): string {
  const url = new URL(server.url('postgres'))
  return join(url.searchParams.get('host') ?? '', `.s.PGSQL.${url.port || 5432}`)
}

async function tell<Row extends object>(url: string, statement: string): Promise<Row | undefined> {
  const client = new pg.Client({ connectionString: url, application_name: 'torture' })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query<Row>(statement)).rows[0]
  } finally {
    await client.end()
  }
}

function run(words: string[], { env, cwd }: { env: Record<string, string>; cwd: string }) {
  return new Promise<{ code: number; out: string }>((resolve) => {
    const options = { cwd, env: { PATH: process.env.PATH ?? '', ...env } }
    execFile(process.execPath, words, options, (problem, out, complaints) =>
      resolve({ code: problem ? Number(problem.code ?? 1) : 0, out: `${out}${complaints}` }),
    )
  })
}
