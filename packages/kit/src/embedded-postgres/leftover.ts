import { execFile } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { PostgresProblem } from './problem.ts'

export const port = 5432
export const privateSocketFolder = 'tollgate-socket-'

/** A server outlives a Node that was killed with -9. The caller holds the lock on the folder, so nobody else still uses it. */
export async function endLeftover(folder: string): Promise<void> {
  const lines = (await readFile(join(folder, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n')
  const pid = Number(lines[0])
  if (await serves(pid, folder)) {
    const ended = await endServer(pid, (patience) => gone(pid, folder, patience))
    if (!ended) throw new PostgresProblem(`A PostgreSQL (pid ${pid}) still runs on ${folder} and does not stop; end it by hand.`)
  }
  // PostgreSQL itself would take a stranger with the old pid for a running server.
  for (const name of ['postmaster.pid', `.s.PGSQL.${port}`, `.s.PGSQL.${port}.lock`])
    await rm(join(folder, name), { force: true })
  const sockets = lines[4] ?? ''
  if (basename(sockets).startsWith(privateSocketFolder)) await rm(sockets, { recursive: true, force: true })
}

/** Fast shutdown, immediate shutdown, and the signal that nobody can ignore. `gone` waits so many milliseconds at most. */
export async function endServer(pid: number, gone: (patience: number) => Promise<boolean>): Promise<boolean> {
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    try {
      process.kill(pid, signal)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
    if (await gone(10_000)) return true
  }
  return false
}

async function gone(pid: number, folder: string, patience: number): Promise<boolean> {
  const deadline = Date.now() + patience
  while (Date.now() < deadline) {
    if (!(await serves(pid, folder))) return true
    await sleep(10)
  }
  return false
}

// By its command line, as a pid may have gone to a stranger, or to a zombie that nobody reaps in a container.
async function serves(pid: number, folder: string): Promise<boolean> {
  if (!Number.isInteger(pid) || pid <= 0) return false
  return `${await commandLine(pid)} `.includes(`/postgres -D ${folder} `)
}

async function commandLine(pid: number): Promise<string> {
  try {
    if (process.platform === 'linux') return (await readFile(`/proc/${pid}/cmdline`, 'utf8')).replaceAll('\0', ' ')
    return (await promisify(execFile)('ps', ['-ww', '-o', 'command=', '-p', String(pid)])).stdout.trim()
  } catch {
    return ''
  }
}
