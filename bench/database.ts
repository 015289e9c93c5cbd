import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openDb } from '@tollgate/kit/db'
import { startPostgres } from '@tollgate/kit/embedded-postgres'
import type { Cleanup } from './cleanup.ts'

export type Database = {
  url: string
  pid: number
  version: string
  /** An empty folder that goes when the database goes. */
  folder: string
  /** How many statements the services have run so far. */
  statements(): Promise<number>
}

/** A PostgreSQL of our own with everything as durable as it comes; only the counting of statements is added. */
export async function startDatabase(cleanup: Cleanup): Promise<Database> {
  // At once, so that no interruption comes between making it and knowing that it has to go.
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-bench-'))
  cleanup.later(() => rm(folder, { recursive: true, force: true }))
  const settings = { shared_preload_libraries: 'pg_stat_statements' }
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
  const schema = { written: 'public', actual: 'public' }
  const sql = openDb({ url: postgres.url('postgres'), schema, name: 'bench', lanes: 1, poolSize: 1 })
  cleanup.later(() => sql.close())
  await sql`create extension pg_stat_statements`
  await sql`create database tollgate`
  const [server] = await sql<{ server_version: string }>`show server_version`

  return {
    url: postgres.url('tollgate'),
    pid: postgres.pid,
    version: server?.server_version ?? '',
    folder,
    async statements() {
      // A statement is counted a moment after it was answered.
      await sleep(50)
      const [counted] = await sql<{ calls: number }>`
        select coalesce(sum(calls), 0)::bigint as calls
        from pg_stat_statements where dbid = (select oid from pg_database where datname = 'tollgate')`
      return counted?.calls ?? 0
    },
  }
}
