import { once } from 'node:events'
import { chmod, chown, constants, mkdir, mkdtemp, open, readFile, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client, DatabaseError } from 'pg'
import { type Account, chooseAccount, handOver, spawnAs } from './embedded-postgres/account.ts'
import { findBinaries } from './embedded-postgres/binaries.ts'
import { createData, inspectData } from './embedded-postgres/folder.ts'
import { endLeftover, endServer, port, privateSocketFolder } from './embedded-postgres/leftover.ts'
import { explain, failure, PostgresProblem } from './embedded-postgres/problem.ts'

export { PostgresProblem }

export type EmbeddedPostgres = {
  /** A connection string over the Unix socket. */
  url(database: string): string
  pid: number
  /** Resolves when the server is gone for whatever reason, so that a caller can notice a crash. */
  exited: Promise<void>
  stop(): Promise<void>
}

type PostgresOptions = {
  /** Keeps the data between starts, and the server's log in `postgres.log`. */
  folder: string
  /** Server settings, such as `{ fsync: 'off' }`. */
  settings?: Record<string, string>
  /** A folder where what initdb makes is kept, so that the next new data folder is a quick copy. */
  template?: string
}

type Launch = { program: string; account: Account; folder: string; settings: Record<string, string> }

/** Starts a PostgreSQL of our own on a data folder. The caller sees to it that no other process uses the folder. */
export async function startPostgres({ folder: wanted, settings = {}, template }: PostgresOptions): Promise<EmbeddedPostgres> {
  const binaries = await findBinaries()
  try {
    const folder = await settle(wanted)
    const cache = template && (await settle(join(template, binaries.version)))
    const owner = await inspectData(folder, binaries.version)
    const places = [folder, ...(cache ? [cache] : [])].map(dirname)
    const account = await chooseAccount(binaries.postgres, fits(folder) ? places : [...places, socketHome()], owner)

    if (owner) {
      await endLeftover(folder)
      await handOver(folder, account)
      await chmod(folder, 0o700)
    } else {
      await createData({ folder, binaries, account }, cache)
    }
    return await launchPatiently({ program: binaries.postgres, account, folder, settings })
  } catch (error) {
    throw explain(error, resolve(wanted))
  }
}

/** One spelling for a folder, whichever symbolic links led to it, so that a server left over on it is recognised. */
async function settle(path: string): Promise<string> {
  const whole = resolve(path)
  await mkdir(dirname(whole), { recursive: true })
  const settled = join(await realpath(dirname(whole)), basename(whole))
  return realpath(settled).catch(() => settled)
}

/** Backends of a server that was killed hard finish their statement before they notice; until then no new one may start. */
async function launchPatiently(launching: Launch): Promise<EmbeddedPostgres> {
  const deadline = Date.now() + 10_000
  for (;;) {
    try {
      return await launch(launching)
    } catch (error) {
      const orphans = error instanceof PostgresProblem && /shared memory block .* is still in use/.test(error.message)
      if (!orphans || Date.now() > deadline) throw error
      await sleep(100)
    }
  }
}

async function launch({ program, account, folder, settings }: Launch): Promise<EmbeddedPostgres> {
  const sockets = fits(folder) ? folder : await makeSocketFolder(account)
  const log = await openLog(join(folder, 'postgres.log'), account)
  const args = ['-D', folder, '-p', String(port), ...switches({ ...defaults, ...settings, ...socketSettings(sockets) })]
  // Detached, so that a Ctrl-C at the terminal does not reach the server before the services have drained.
  const child = spawnAs(account, program, args, { detached: true, stdio: ['ignore', log.fd, log.fd] })
  await once(child, 'spawn').finally(() => void log.close())
  let running = true
  const exited = once(child, 'exit').then(async () => {
    running = false
    if (sockets !== folder) await rm(sockets, { recursive: true, force: true })
  })
  const pid = child.pid as number
  const url = (database: string) => connectionString(sockets, database)
  const gone = (patience: number) => Promise.race([exited.then(() => true), sleep(patience, false, { ref: false })])
  const stop = async () => {
    if (running) await endServer(pid, gone)
    await exited
  }
  const complaint = await complaintUntilReady(url('postgres'), () => running)
  if (complaint === undefined) return { url, pid, exited, stop }

  await stop()
  const cure = `see ${log.path}, or move the folder away to start afresh`
  throw failure(`PostgreSQL ${complaint} on the data in ${folder} (${cure})`, await log.written())
}

const defaults = {
  max_connections: '100',
  shared_buffers: '128MB',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_destination: 'stderr',
}

function socketSettings(folder: string): Record<string, string> {
  // The setting is a list: quotes keep a comma in the path from ending it.
  const quoted = `"${folder.replaceAll('"', '""')}"`
  return { listen_addresses: '', unix_socket_directories: quoted, unix_socket_permissions: '0700' }
}

function switches(settings: Record<string, string>): string[] {
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}

/** The first host is for readers that insist on one; all prefer the one in the query. Port and sslmode ward off PG* variables. */
function connectionString(sockets: string, database: string): string {
  const query = `host=${encodeURIComponent(sockets)}&sslmode=disable`
  return `postgres://tollgate@localhost:${port}/${encodeURIComponent(database)}?${query}`
}

/** Undefined when the server has answered, else what it did instead. */
async function complaintUntilReady(url: string, running: () => boolean): Promise<string | undefined> {
  const patience = 30_000
  let deadline = Date.now() + patience
  for (let pause = 5; running(); pause = Math.min(pause * 1.5, 50)) {
    const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000 })
    client.on('error', () => {})
    try {
      await client.connect()
      await client.query('select 1')
      return undefined
    } catch (error) {
      const starting = error instanceof DatabaseError && error.code === '57P03'
      if (error instanceof DatabaseError && !starting) return `answered "${error.message}"`
      // One that says it is still starting is at work on its recovery after a crash, and only loses by being stopped.
      if (starting) deadline = Date.now() + patience
      if (Date.now() > deadline) return 'did not answer'
    } finally {
      await client.end().catch(() => {})
    }
    await sleep(pause)
  }
  return 'did not start'
}

/** Never the terminal's business; and begun anew when it has grown large. */
async function openLog(path: string, { owner }: Account) {
  // No following: root would otherwise write to, and give away, whatever file the owner of the folder points it to.
  const file = await open(path, constants.O_APPEND | constants.O_CREAT | constants.O_WRONLY | constants.O_NOFOLLOW, 0o600)
  if (owner) await file.chown(owner.uid, owner.gid)
  const { size } = await file.stat()
  const start = size > 8_000_000 ? 0 : size
  if (start === 0) await file.truncate()
  const written = async () => (await readFile(path)).subarray(start).toString()
  return { path, fd: file.fd, close: () => file.close(), written }
}

// 103 bytes is what macOS allows for the path of a socket; Linux has four more.
function fits(folder: string): boolean {
  return Buffer.byteLength(join(folder, `.s.PGSQL.${port}`)) <= 103
}

function socketHome(): string {
  return tmpdir().length < 60 ? tmpdir() : '/tmp'
}

async function makeSocketFolder({ owner }: Account): Promise<string> {
  const folder = await mkdtemp(join(await realpath(socketHome()), privateSocketFolder))
  if (owner) await chown(folder, owner.uid, owner.gid)
  return folder
}
