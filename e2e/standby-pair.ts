import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type EmbeddedPostgres, startPostgres } from '@tollgate/kit/embedded-postgres'
import pg from 'pg'
import { expect, onTestFinished } from 'vitest'

/** A primary, and a standby whose word every commit waits for. */
export type Pair = {
  primary: EmbeddedPostgres
  standby: EmbeddedPostgres
  /** The primary as somebody finds it who turns its machine on again. */
  restartPrimary(): Promise<EmbeddedPostgres>
}

const template = join(import.meta.dirname, '..', 'node_modules', '.cache', 'tollgate', 'postgres')

/** Plain streaming replication with a database `tollgate`. */
export async function startPair(): Promise<Pair> {
  const home = mkdtempSync(join(tmpdir(), 'tollgate-standby-'))
  // The servers may run as somebody else, who has to get to their folders.
  chmodSync(home, 0o755)
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const [one, two] = [join(home, 'one'), join(home, 'two')]
  const start = async (folder: string) => {
    // What is killed here is a process: what it has given to the system is written, flushed or not.
    const server = await startPostgres({ folder, template, settings: { fsync: 'off' } })
    onTestFinished(() => server.stop())
    return server
  }
  const empty = await start(one)
  await ask(empty.url('postgres'), 'create database tollgate')
  await empty.stop()
  // The copy of a server that is stopped needs nothing else.
  execFileSync('cp', ['-a', one, two])
  const primary = await start(one)
  appendFileSync(join(two, 'postgresql.auto.conf'), `primary_conninfo = '${conninfo(primary)} application_name=standby'\n`)
  writeFileSync(join(two, 'standby.signal'), '')
  const standby = await start(two)
  await ask(primary.url('postgres'), "alter system set synchronous_standby_names = 'standby'")
  await ask(primary.url('postgres'), 'select pg_reload_conf()')
  const isSynchronous = async () =>
    (await ask<{ state: string }>(primary.url('postgres'), 'select sync_state as state from pg_stat_replication'))[0]?.state
  await expect.poll(isSynchronous, { timeout: 10_000, interval: 20 }).toBe('sync')
  return { primary, standby, restartPrimary: () => start(one) }
}

/** As after a power cut. */
export async function kill({ pid, exited }: EmbeddedPostgres): Promise<void> {
  process.kill(pid, 'SIGQUIT')
  await exited
}

/** Comes back when it takes writes. */
export async function promote(standby: EmbeddedPostgres): Promise<void> {
  const [row] = await ask<{ promoted: boolean }>(standby.url('postgres'), 'select pg_promote() as promoted')
  expect(row?.promoted).toBe(true)
}

/** From now on it hears nothing of the primary. */
export async function cutOff({ standby, primary }: Pair): Promise<void> {
  await ask(standby.url('postgres'), "alter system set primary_conninfo = ''")
  await ask(standby.url('postgres'), 'select pg_reload_conf()')
  const listeners = () => ask(primary.url('postgres'), 'select from pg_stat_replication')
  await expect.poll(listeners, { timeout: 10_000, interval: 20 }).toHaveLength(0)
}

/** How many commits wait for the standby. */
export async function countWaiting(server: EmbeddedPostgres): Promise<number> {
  const rows = await ask(server.url('postgres'), "select from pg_stat_activity where wait_event = 'SyncRep'")
  return rows.length
}

/** What operators have in front of their servers: one address that follows the primary, and leaves nobody with the old one. */
export async function startAddress(first: EmbeddedPostgres): Promise<{ port: number; follow(server: EmbeddedPostgres): void }> {
  const sockets = new Set<Socket>()
  let path = socketOf(first)
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  const server = createServer((client) => {
    const database = connect({ path })
    const ends = [client, database]
    for (const socket of ends) {
      sockets.add(socket)
      socket.setNoDelay(true).on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        for (const end of ends) end.destroy()
      })
    }
    client.pipe(database).pipe(client)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    cut()
  })
  return {
    port: (server.address() as AddressInfo).port,
    follow(leader) {
      path = socketOf(leader)
      cut()
    },
  }
}

export function socketOf(server: EmbeddedPostgres): string {
  const { folder, port } = placeOf(server)
  return join(folder, `.s.PGSQL.${port}`)
}

function conninfo(server: EmbeddedPostgres): string {
  const { folder, port } = placeOf(server)
  return `host=${folder} port=${port} user=tollgate`
}

function placeOf(server: EmbeddedPostgres): { folder: string; port: string } {
  const url = new URL(server.url('postgres'))
  return { folder: url.searchParams.get('host') ?? '', port: url.port || '5432' }
}

export async function ask<Row>(url: string, statement: string): Promise<Row[]> {
  const client = new pg.Client(url)
  // The server may be lost.
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query(statement)).rows
  } finally {
    await client.end()
  }
}
