import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Db, openDb } from '@tollgate/kit/db'
import { startPostgres } from '@tollgate/kit/embedded-postgres'
import type { Cleanup } from './cleanup.ts'

export type Database = {
  /** The address of one of its databases, which is made when it is asked for first. */
  url(name: string): Promise<string>
  /** Says something to one of its databases, past the services. */
  tell<T>(name: string, story: (sql: Db) => Promise<T>): Promise<T>
  pid: number
  version: string
  /** An empty folder that goes when the database goes. */
  folder: string
  /** How many statements have been run in one of its databases so far. */
  statements(name: string): Promise<number>
  /** Looks on while nobody asks. What runs then runs by the clock, and counts for no request. */
  watchIdling(): Promise<void>
}

/** Longer than what runs by the clock takes to come round. */
const idleMilliseconds = 6_000

const schema = { written: 'public', actual: 'public' }

/** A PostgreSQL of our own with everything as durable as it comes; only the counting of statements, and room for all our services, is added. */
export async function startDatabase(cleanup: Cleanup): Promise<Database> {
  // At once, so that no interruption comes between making it and knowing that it has to go.
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-bench-'))
  cleanup.later(() => rm(folder, { recursive: true, force: true }))
  // More services than anybody runs on one PostgreSQL are connected to it.
  const settings = { shared_preload_libraries: 'pg_stat_statements', max_connections: '500' }
  const starting = startPostgres({ folder: join(folder, 'postgres'), settings })
  // Said before it has started, as it would survive an interruption meanwhile.
  cleanup.later(() =>
    starting.then(
      (postgres) => postgres.stop(),
      () => {},
    ),
  )
  const postgres = await starting

  // The harness asks from another database than the services use, so that its own statements are not counted.
  const sql = openDb({ url: postgres.url('postgres'), schema, name: 'bench', lanes: 1, poolSize: 1 })
  cleanup.later(() => sql.close())
  await sql`create extension pg_stat_statements`
  const [server] = await sql<{ server_version: string }>`show server_version`
  const made = new Map<string, Promise<unknown>>()
  let byTheClock: readonly string[] = []

  async function url(name: string): Promise<string> {
    // The name of a database cannot be a parameter.
    const making = made.get(name) ?? sql(Object.assign([`create database ${name}`], { raw: [] }))
    made.set(name, making)
    await making
    return postgres.url(name)
  }

  return {
    url,
    async tell(name, story) {
      const own = openDb({ url: await url(name), schema, name: 'bench', lanes: 1, poolSize: 1, patience: { statement: 600_000 } })
      try {
        return await story(own)
      } finally {
        await own.close()
      }
    },
    pid: postgres.pid,
    version: server?.server_version ?? '',
    folder,
    async statements(name) {
      // A statement is counted a moment after it was answered.
      await sleep(50)
      const [counted] = await sql<{ calls: number }>`
        select coalesce(sum(calls), 0)::bigint as calls from pg_stat_statements
        where dbid = (select oid from pg_database where datname = ${name}) and not queryid::text = any(${byTheClock})`
      return counted?.calls ?? 0
    },
    async watchIdling() {
      const count = async () => {
        const rows = await sql<{ id: string; calls: number }>`
          select queryid::text as id, sum(calls)::bigint as calls from pg_stat_statements
          where dbid <> (select oid from pg_database where datname = current_database()) group by queryid`
        return new Map(rows.map(({ id, calls }) => [id, calls]))
      }
      const before = await count()
      await sleep(idleMilliseconds)
      const after = await count()
      byTheClock = [...after].filter(([id, calls]) => calls > (before.get(id) ?? 0)).map(([id]) => id)
    },
  }
}
