import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'

export type Child = {
  pid: number
  process: ChildProcess
  stop(): Promise<void>
  complaint(): string | undefined
  /** Where it and its workers can be looked at from inside, if they were started for that. */
  inspectors(): readonly string[]
}

type Start = { words: readonly string[]; env: Record<string, string>; folder: string; ipc?: boolean }

/** Runs a program in Node, in an environment that holds nothing but what is given, so that a developer's settings do not count. */
export function startChild({ words, env, folder, ipc = false }: Start): Child {
  const { PATH = '', NODE_COMPILE_CACHE } = process.env
  const child = spawn(process.execPath, words, {
    // Services read a .env where they stand.
    cwd: folder,
    env: { PATH, ...(NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }), ...env },
    stdio: ['ignore', 'pipe', 'pipe', ...(ipc ? (['ipc'] as const) : [])],
    serialization: 'advanced',
  })
  // Read and forgotten, as a container's log collector would read it; the end is kept for the case that it dies.
  let said: Buffer[] = []
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => {
      said = [...said.slice(-3), chunk]
    })
  const inspectors: string[] = []
  if (words.some((word) => word.startsWith('--inspect')) && child.stderr)
    createInterface(child.stderr).on('line', (line) => {
      const [address] = /(?<=^Debugger listening on )ws:\S+$/.exec(line) ?? []
      if (address !== undefined) inspectors.push(address)
    })
  const gone = once(child, 'exit')
  const ended = () => child.exitCode !== null || child.signalCode !== null
  return {
    pid: child.pid as number,
    process: child,
    inspectors: () => inspectors,
    complaint: () =>
      ended()
        ? `ended with ${child.signalCode ?? child.exitCode}: ${Buffer.concat(said).toString().trim().slice(-2_000)}`
        : undefined,
    async stop() {
      if (ended()) return
      child.kill('SIGTERM')
      const late = sleep(5_000, 'late', { ref: false })
      if ((await Promise.race([gone, late])) === 'late') child.kill('SIGKILL')
      await gone
    },
  }
}
