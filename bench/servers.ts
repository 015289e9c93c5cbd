import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Child, startChild } from './child.ts'
import type { Cleanup } from './cleanup.ts'
import type { Database } from './database.ts'
import { type Answer, freePort, untilAnswers } from './http.ts'
import type { Script } from './script.ts'

/** Everything that the servers of a run have in common. */
export type Site = {
  program: string
  database: Database
  workers: number
  cleanup: Cleanup
  /** Whether the services let themselves be looked at from inside. */
  inspected?: boolean
}

/** A server, and the name of the database that it uses alone. */
export type Server = {
  port: number
  child: Child
  database: string
  /** The same server once more, with one worker and its database at another address. */
  again?(url: string, cleanup: Cleanup): Promise<Server>
}

export type ServiceName = 'identity' | 'payments'

/** What access tokens are signed with in all servers of a run. */
export const secret = randomBytes(32).toString('hex')

/** What a server has that others of its kind do not. */
export type Setup = { database?: string; env?: Readonly<Record<string, string>> }

/** The production entry with the settings it insists on and, but for the address and the number of workers, its defaults. */
export function environment(name: ServiceName, { workers, port, url }: { workers: number; port: number; url: string }) {
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
  const start = async (url: string, { workers, cleanup, inspected = false }: Omit<Site, 'program' | 'database'>) => {
    const port = await freePort()
    const whole = { ...environment(name, { workers, port, url }), ...env }
    // As deploy/ starts it.
    const words = [...(inspected ? inspecting : []), '--max-semi-space-size=16', site.program, name, 'serve']
    const child = startChild({ words, env: whole, folder: site.database.folder })
    return settle(name, { port, child, database }, '/health', cleanup)
  }
  const server = await start(await site.database.url(database), site)
  return { ...server, again: (url, cleanup) => start(url, { workers: 1, cleanup }) }
}

const usualDatabase = 'tollgate'

/** At any port that is free; and optimised code is to know which functions went into it, or all their time would be their caller's. */
export const inspecting = ['--inspect=127.0.0.1:0', '--detailed-line-info']

/** A node:http server without anything, which answers what the service answered. */
export async function startBare(answer: Answer, site: Site): Promise<Server> {
  const port = await freePort()
  const env = {
    BARE_PORT: String(port),
    BARE_BODY: answer.body,
    BARE_TYPE: answer.contentType,
    WORKERS: String(site.workers),
  }
  return startOwn('bare', { env, database: usualDatabase, path: '/' }, site)
}

/** A server that hashes a password for every request. */
export async function startBareHash(site: Site): Promise<Server> {
  const env = { BARE_PORT: String(await freePort()), WORKERS: String(site.workers) }
  return startOwn('bare-hash', { env, database: usualDatabase, path: '/health' }, site)
}

/** A server that says the statements of a service to the database of that service, and nothing else. */
export async function startBareReplay(scripts: Readonly<Record<string, Script>>, database: string, site: Site): Promise<Server> {
  const file = join(site.database.folder, `scripts-${database}.json`)
  await writeFile(file, JSON.stringify(scripts))
  const url = await site.database.url(database)
  const port = await freePort()
  const env = { BARE_PORT: String(port), BARE_SCRIPTS: file, DATABASE_URL: url, WORKERS: String(site.workers) }
  return startOwn('bare-replay', { env, database, path: '/health' }, site)
}

/** The textbook on a database of its own, with as many connections as a service with as many workers takes. */
export async function startTextbook(site: Site, lock: 'first' | 'late'): Promise<Server> {
  const start = async (url: string, { workers, cleanup }: Pick<Site, 'workers' | 'cleanup'>) => {
    const port = await freePort()
    const env = {
      ...{ BARE_PORT: String(port), TEXTBOOK_LOCK: lock },
      ...{ DATABASE_URL: url, POOL_SIZE: '16', WORKERS: String(workers) },
    }
    return startOwn('textbook', { env, database: 'textbook', path: '/health' }, { ...site, cleanup })
  }
  const server = await start(await site.database.url('textbook'), site)
  return { ...server, again: (url, cleanup) => start(url, { workers: 1, cleanup }) }
}

type Own = { env: Readonly<Record<string, string>> & { BARE_PORT: string }; database: string; path: string }

/** A server of this folder. */
function startOwn(name: string, { env, database, path }: Own, site: Site): Promise<Server> {
  const words = [...(site.inspected ? inspecting : []), join(import.meta.dirname, `${name}.ts`)]
  const child = startChild({ words, env, folder: site.database.folder, ipc: true })
  return settle(name, { port: Number(env.BARE_PORT), child, database }, path, site.cleanup)
}

async function settle(name: string, server: Server, path: string, cleanup: Cleanup): Promise<Server> {
  cleanup.later(() => server.child.stop())
  await untilAnswers(server.port, path, () => {
    const complaint = server.child.complaint()
    return complaint === undefined ? undefined : `${name} ${complaint}`
  })
  return server
}
