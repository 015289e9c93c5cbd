import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Child, startChild } from '../bench/child.ts'
import { freePort, untilAnswers } from '../bench/http.ts'

export type TorturedService = {
  origin: string
  /** As a process manager does: again and again until it listens. */
  start(): Promise<void>
  /** Kills one of the workers that listen, chosen by a number from 0 to 1. False where there is none. */
  killWorker(lot: number): boolean
  /** Kills the supervisor and, unless they are left to notice that by themselves, its workers. */
  kill(withWorkers: boolean): Promise<void>
  stop(): Promise<void>
  tally: { starts: number; failedStarts: number; killed: number }
  /** Processes that ended though nobody had killed them. */
  deaths: string[]
  /** How often each line of its log that tells of trouble was written. */
  trouble: Map<string, number>
  /** How many of them tell that the database had no room. */
  lacksRoom(): number
}

type Options = {
  name: 'payments' | 'identity'
  program: string
  /** What Node is told before the program. */
  words: readonly string[]
  env: Record<string, string>
  folder: string
  log: string
}

type Line = { level?: string; message?: string; pid?: number }

/** In PostgreSQL's words, which the log has with the SQLSTATE. */
const noRoom = /No space left on device|"53100"/

/** How long it may take to come up while nothing is held against it. */
const startPatience = 90_000

/** A service as a program, whose log tells which workers there are. */
export async function createService({ name, program, words: before, env, folder, log }: Options): Promise<TorturedService> {
  const port = await freePort()
  const sink = createWriteStream(log, { flags: 'a' })
  const living = new Set<number>()
  const killed = new Set<number>()
  const deaths: string[] = []
  const trouble = new Map<string, number>()
  const tally = { starts: 0, failedStarts: 0, killed: 0 }
  let child: Child | undefined
  let stopping = false
  let lacks = 0

  function hear(text: string) {
    sink.write(`${text}\n`)
    const line = readLine(text)
    if (!line) return
    const { level, message = '', pid } = line
    if (message === 'a worker listens' && pid !== undefined) living.add(pid)
    if (message === 'a worker died; starting another' && pid !== undefined) {
      living.delete(pid)
      if (!killed.has(pid)) deaths.push(text)
      return
    }
    if (level === undefined || ['info', 'debug'].includes(level)) return
    if (noRoom.test(text)) lacks++
    const told = `${level}: ${message}`
    trouble.set(told, (trouble.get(told) ?? 0) + 1)
  }

  async function attempt(): Promise<boolean> {
    const words = [...before, program, name, 'serve']
    const started = startChild({ words, env: { ...env, API_PORT: String(port) }, folder })
    child = started
    tally.starts++
    let rest = ''
    started.process.stdout?.on('data', (chunk: Buffer) => {
      const lines = (rest + chunk.toString()).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) hear(line)
    })
    started.process.stderr?.on('data', (chunk: Buffer) => sink.write(chunk))
    try {
      await untilAnswers(port, '/health', started.complaint)
    } catch {
      tally.failedStarts++
      await end(started)
      return false
    }
    started.process.once('exit', (code, signal) => {
      if (!stopping && !killed.has(started.pid)) deaths.push(`the supervisor ended with ${signal ?? code}`)
    })
    return true
  }

  /** The supervisor first, so that it starts nobody else. */
  async function end({ pid, process: supervisor }: Child) {
    killed.add(pid)
    if (supervisor.exitCode !== null || supervisor.signalCode !== null) return
    const gone = once(supervisor, 'exit')
    supervisor.kill('SIGKILL')
    await gone
  }

  function killPid(pid: number) {
    killed.add(pid)
    living.delete(pid)
    try {
      process.kill(pid, 'SIGKILL')
      tally.killed++
    } catch (problem) {
      // It may have died in the meantime.
      if ((problem as NodeJS.ErrnoException).code !== 'ESRCH') throw problem
    }
  }

  return {
    origin: `http://127.0.0.1:${port}`,
    tally,
    deaths,
    trouble,
    lacksRoom: () => lacks,
    async start() {
      for (const deadline = performance.now() + startPatience; performance.now() < deadline; await sleep(200))
        if (await attempt()) return
      throw new Error(`the service did not come up: ${child?.complaint() ?? 'it does not answer'}`)
    },
    killWorker(lot) {
      const pid = [...living][Math.floor(lot * living.size)]
      if (pid !== undefined) killPid(pid)
      return pid !== undefined
    },
    async kill(withWorkers) {
      const workers = [...living]
      living.clear()
      if (child) {
        tally.killed++
        await end(child)
      }
      for (const pid of workers) {
        if (withWorkers) killPid(pid)
        // Nobody is left to tell of their end.
        else killed.add(pid)
      }
    },
    async stop() {
      stopping = true
      await child?.stop()
      for (const pid of living) killPid(pid)
      sink.end()
    },
  }
}

function readLine(text: string): Line | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
