import type { TestProject } from 'vitest/node'
import { startPgBouncer } from './pgbouncer.ts'
import { startPooler } from './pooler.ts'

let close = async () => {}

/** For the suite on several nodes: a pooler before the PostgreSQL that tools/test-postgres.ts has started. */
export async function setup(project: TestProject) {
  const { postgres: server } = project.getProvidedContext()
  const pooler = await (process.env.TEST_POOLER === 'pgbouncer' ? startPgBouncer({ server }) : startPooler({ server }))
  close = pooler.close
  const url = `postgres://${new URL(server).username}@127.0.0.1:${pooler.port}/postgres?sslmode=disable`
  project.provide('spread', { nodes: 3, pooler: url })
}

export async function teardown() {
  await close()
}

declare module 'vitest' {
  interface ProvidedContext {
    /** Absent where every service is one process on PostgreSQL itself. */
    spread: { nodes: number; pooler: string } | undefined
  }
}
