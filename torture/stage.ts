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
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts'
import { createService, type TorturedService } from './service.ts'

export type Stage = {
  folder: string
  proxy: FaultProxy
  service: TorturedService
  postgres: {
    /** Immediate shutdown, as after a power cut, and a start again. */
    crash(down: () => Promise<unknown>): Promise<void>
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

const root = join(import.meta.dirname, '..')

/** Where data folders are copied from, and programs keep what was compiled: as everywhere in the house. */
const cache = join(root, 'node_modules', '.cache')

/** A PostgreSQL with normal durability, the proxy in front of it, and the service in front of that. */
export async function setStage({ program, workers }: { program: string; workers: number }, cleanup: Cleanup): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-torture-'))
  cleanup.later(() => rm(folder, { recursive: true, force: true }))
  const start = () => startPostgres({ folder: join(folder, 'postgres'), template: join(cache, 'tollgate', 'postgres') })
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
  const env = {
    DATABASE_URL: `postgres://tollgate@127.0.0.1:${proxy.port}/tollgate?sslmode=disable`,
    WORKERS: String(workers),
    PAY_API_HOST: '127.0.0.1',
    PAY_ASK_AGAIN_AFTER: '1',
    PAY_VAULT_KEYS: `torture:${Buffer.alloc(32, 'torture').toString('base64')}`,
    NODE_COMPILE_CACHE: join(cache, 'compile'),
  }
  const service = await createService({ program, env, folder, log: join(folder, 'service.log') })
  cleanup.later(() => service.stop())

  const ending = new AbortController()
  return {
    folder,
    proxy,
    service,
    over: ending.signal,
    calm() {
      ending.abort()
      proxy.calm()
    },
    async openSql() {
      const sql = openDb({ url: (await starting).url('tollgate'), schema, name: 'torture', lanes: 1, poolSize: 1 })
      cleanup.later(() => sql.close())
      return sql
    },
    postgres: {
      async crash(down) {
        const server = await starting
        process.kill(server.pid, 'SIGQUIT')
        await server.exited
        await down()
        starting = start()
        socket = socketOf(await starting)
      },
      async killBackend(lot) {
        const { url } = await starting
        // It may be busy with its recovery from the last one.
        const found = await patiently(() => tell<{ pids: number[] | null }>(url('tollgate'), theirBackends))
        const pids = found?.pids ?? []
        const pid = pids[Math.floor(lot * pids.length)]
        if (pid !== undefined) process.kill(pid, 'SIGKILL')
      },
    },
    async verify() {
      const { code, out } = await run([program, 'payments', 'verify'], { env, cwd: folder })
      return code === 0 && out.includes('no breach') ? undefined : `it ended with ${code}: ${out}`
    },
  }
}

const theirBackends = `
  select array_agg(pid) as pids from pg_stat_activity where backend_type = 'client backend' and application_name <> 'torture'`

async function patiently<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++)
    try {
      return await attempt()
    } catch (problem) {
      if (tries === 100) throw problem
      await sleep(50)
    }
}

const schema = { written: 'pay', actual: 'pay' }

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
