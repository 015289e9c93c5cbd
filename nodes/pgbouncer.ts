import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PoolerOptions } from './pooler.ts'

/** The version of the PgBouncer that this machine has, such as 1.24. Undefined where it has none. */
export function pgBouncerVersion(): string | undefined {
  try {
    return /PgBouncer (\d+\.\d+)/.exec(execFileSync('pgbouncer', ['--version'], { encoding: 'utf8' }))?.[1]
  } catch {
    return undefined
  }
}

/** Since 1.21 it can keep prepared statements. */
export function keepsStatements(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major > 1 || minor >= 21
}

/** The real one, in transaction mode on the same terms as ours. */
export async function startPgBouncer({
  server,
  size = 4,
  prepared = 200,
}: PoolerOptions): Promise<{ port: number; close(): Promise<void> }> {
  const { username, hostname, port: serverPort, searchParams } = new URL(server)
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-pgbouncer-'))
  chmodSync(folder, 0o755)
  const port = await freePort()
  const host = searchParams.get('host') ?? hostname
  const settings = [
    '[databases]',
    `* = host=${host} port=${serverPort || 5432} user=${username}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    'pool_mode = transaction',
    `default_pool_size = ${size}`,
    'max_client_conn = 2000',
    'server_login_retry = 1',
    'server_round_robin = 1',
    ...(keepsStatements(pgBouncerVersion() ?? '') ? [`max_prepared_statements = ${prepared}`] : []),
  ]
  const file = join(folder, 'pgbouncer.ini')
  writeFileSync(file, settings.join('\n'))
  // It refuses root, as PostgreSQL does, which then runs as nobody too.
  const nobody = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}
  const child = spawn('pgbouncer', ['-q', file], { ...nobody, stdio: ['ignore', 'ignore', 'pipe'] })
  let complaints = ''
  child.stderr.on('data', (chunk) => {
    complaints += chunk
  })
  const ended = once(child, 'exit')
  while (!(await answers(port))) {
    if (child.exitCode !== null) throw new Error(`PgBouncer did not start:\n${complaints}`)
    await sleep(10)
  }
  return {
    port,
    async close() {
      child.kill('SIGKILL')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const address = probe.address()
  probe.close()
  await once(probe, 'close')
  return typeof address === 'object' && address ? address.port : 0
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  const there = await once(socket, 'connect').then(
    () => true,
    () => false,
  )
  socket.destroy()
  return there
}
