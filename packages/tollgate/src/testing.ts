import { spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { requiredSettings } from '@tollgate/identity/testing'
import type { LogLine } from '@tollgate/kit/testing'
import { onTestFinished } from 'vitest'

export type Program = {
  pid: number
  /** The first line of the log that fits, whether it came already or is to come. */
  line(fits: (line: LogLine) => boolean): Promise<LogLine>
  lines: LogLine[]
  signal(signal: NodeJS.Signals): void
  /** How it ended and what it said, when it has. */
  ended: Promise<{ code: number | null; out: string; complaints: string }>
}

/** Where tools/run.mjs lets `npm start` keep its compiled code, too. */
const compileCache = join(import.meta.dirname, '..', '..', '..', 'node_modules', '.cache', 'compile')

/** The command line as a process of its own, in an empty folder and with no settings but these. */
export function runTollgate(words: readonly string[], env: Record<string, string> = {}): Program {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-run-'))
  const child = spawn(process.execPath, [join(import.meta.dirname, 'main.ts'), ...words], {
    cwd: folder,
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: compileCache, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const arrivals = new EventEmitter().setMaxListeners(0)
  const lines: LogLine[] = []
  let out = ''
  let complaints = ''
  createInterface(child.stdout).on('line', (text) => {
    out += `${text}\n`
    if (text.startsWith('{')) lines.push(JSON.parse(text))
    arrivals.emit('arrival')
  })
  child.stderr.on('data', (chunk) => {
    complaints += chunk
  })
  const ended = once(child, 'close').then(([code]) => {
    arrivals.emit('arrival')
    rmSync(folder, { recursive: true, force: true })
    return { code: code as number | null, out, complaints }
  })
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return {
    pid: child.pid ?? 0,
    lines,
    async line(fits) {
      for (;;) {
        const found = lines.find(fits)
        if (found) return found
        if (child.exitCode !== null) throw new Error(`It ended with ${child.exitCode} instead:\n${out}${complaints}`)
        await once(arrivals, 'arrival')
      }
    },
    signal: (signal) => void child.kill(signal),
    ended,
  }
}

export const message = (text: string) => (line: LogLine) => line.message === text

/** Settings of a service on this database and port, with as many workers as are asked for. */
export function settingsOf(database: { url: string }, port: number, workers: number): Record<string, string> {
  const names = { DATABASE_URL: database.url, PORT: String(port), WORKERS: String(workers) }
  return { ...(requiredSettings as Record<string, string>), AUTH_API_HOST: '127.0.0.1', PAY_API_HOST: '127.0.0.1', ...names }
}

/** Below those that the system hands out by itself, so that nobody else gets it meanwhile. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000)
    const probe = createServer().listen(port, '127.0.0.1')
    const free = await once(probe, 'listening').then(
      () => true,
      () => false,
    )
    if (!free) continue
    probe.close()
    await once(probe, 'close')
    return port
  }
}
