import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { type Child, startChild } from './child.ts'
import type { Cleanup } from './cleanup.ts'
import type { Database } from './database.ts'
import { type Answer, freePort, untilAnswers } from './http.ts'

/** Everything that the servers of a run have in common. */
export type Site = { program: string; database: Database; workers: number; cleanup: Cleanup }

/** A server, and the name of the database that it uses alone. */
export type Server = { port: number; child: Child; database: string }

export type ServiceName = 'identity' | 'payments'

/** What access tokens are signed with in all servers of a run. */
export const secret = randomBytes(32).toString('hex')

/** What a server has that others of its kind do not. */
export type Setup = { database?: string; env?: Readonly<Record<string, string>> }

/** The production entry with the settings it insists on and, but for the address and the number of workers, its defaults. */
function environment(name: ServiceName, { workers, port, url }: { workers: number; port: number; url: string }) {
  const common = { DATABASE_URL: url, WORKERS: String(workers), API_PORT: String(port) }
  if (name === 'payments') return { ...common, PAY_API_HOST: '127.0.0.1' }
  return {
    ...common,
    AUTH_API_HOST: '127.0.0.1',
    AUTH_SITE_URL: 'http://127.0.0.1',
    AUTH_API_EXTERNAL_URL: `http://127.0.0.1:${port}`,
    AUTH_DB_DRIVER: 'postgres',
    AUTH_JWT_SECRET: secret,
    AUTH_SMTP_HOST: '127.0.0.1',
    AUTH_SMTP_PORT: '2525',
    AUTH_SMTP_ADMIN_EMAIL: 'bench@example.com',
  }
}

/** Resolves at its first 200 on /health. */
export async function startService(
  name: ServiceName,
  site: Site,
  { database = usualDatabase, env = {} }: Setup = {},
): Promise<Server> {
  const port = await freePort()
  const url = await site.database.url(database)
  const whole = { ...environment(name, { workers: site.workers, port, url }), ...env }
  const child = startChild({ words: [site.program, name, 'serve'], env: whole, folder: site.database.folder })
  return settle(name, { port, child, database }, '/health', site.cleanup)
}

const usualDatabase = 'tollgate'

/** A node:http server without anything, which answers what the service answered. */
export async function startBare(answer: Answer, site: Site): Promise<Server> {
  const port = await freePort()
  const env = {
    BARE_PORT: String(port),
    BARE_BODY: answer.body,
    BARE_TYPE: answer.contentType,
    WORKERS: String(site.workers),
  }
  const words = [join(import.meta.dirname, 'bare.ts')]
  const child = startChild({ words, env, folder: site.database.folder, ipc: true })
  return settle('bare', { port, child, database: usualDatabase }, '/', site.cleanup)
}

/** The textbook on a database of its own, with as many connections as a service with as many workers takes. */
export async function startTextbook(site: Site, lock: 'first' | 'late'): Promise<Server> {
  const [port, url] = [await freePort(), await site.database.url('textbook')]
  const env = {
    ...{ TEXTBOOK_PORT: String(port), TEXTBOOK_LOCK: lock },
    ...{ DATABASE_URL: url, POOL_SIZE: '16', WORKERS: String(site.workers) },
  }
  const words = [join(import.meta.dirname, 'textbook.ts')]
  const child = startChild({ words, env, folder: site.database.folder, ipc: true })
  return settle('textbook', { port, child, database: 'textbook' }, '/health', site.cleanup)
}

async function settle(name: string, server: Server, path: string, cleanup: Cleanup): Promise<Server> {
  cleanup.later(() => server.child.stop())
  await untilAnswers(server.port, path, () => {
    const complaint = server.child.complaint()
    return complaint === undefined ? undefined : `${name} ${complaint}`
  })
  return server
}
