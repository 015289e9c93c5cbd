import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { identity } from '@tollgate/identity/main'
import { startPostgres } from '@tollgate/kit/embedded-postgres'
import { migrate } from '@tollgate/kit/migrate'
import { payments } from '@tollgate/payments/main'
import pg from 'pg'
import type { TestProject } from 'vitest/node'

const folder = join(tmpdir(), `tollgate-test-${process.pid}`)
let stop = async () => {}

/** One real PostgreSQL for the whole run, with a migrated template a service, from which every test file gets a copy of its own. */
export async function setup(project: TestProject) {
  const postgres = await startPostgres({
    folder: join(folder, 'postgres'),
    template: join(import.meta.dirname, '..', 'node_modules', '.cache', 'tollgate', 'postgres'),
    settings: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '300' },
  })
  stop = postgres.stop
  const admin = new pg.Client(postgres.url('postgres'))
  await admin.connect()
  for (const { name, schema, migrations } of [identity, payments]) {
    await admin.query(`create database template_${name}`)
    await migrate({ url: postgres.url(`template_${name}`), schema: { written: schema, actual: schema }, migrations })
  }
  await admin.end()
  project.provide('postgres', postgres.url('postgres'))
}

export async function teardown() {
  await stop()
  rmSync(folder, { recursive: true, force: true })
}

declare module 'vitest' {
  interface ProvidedContext {
    postgres: string
  }
}
