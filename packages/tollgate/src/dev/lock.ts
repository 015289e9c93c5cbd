import { execFileSync } from 'node:child_process'
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Mistake } from '../mistake.ts'

/** Makes a data folder and holds it for this process alone. What a killed process left behind does not count. */
export function holdFolder(path: string): { path: string; release(): void } {
  const file = join(path, 'lock')
  const own = join(path, `lock.${process.pid}`)
  try {
    mkdirSync(path, { recursive: true })
    writeFileSync(own, String(process.pid))
  } catch (problem) {
    throw new Mistake(`The data folder ${path} cannot be used: ${(problem as Error).message}`)
  }
  try {
    for (let tries = 0; ; tries++) {
      try {
        // A link appears whole or not at all, and only one of two that are made at once.
        linkSync(own, file)
        return { path, release: () => rmSync(file, { force: true }) }
      } catch (problem) {
        if ((problem as { code?: string }).code !== 'EEXIST' || tries > 5) throw problem
        const holder = holderOf(file)
        if (holder !== undefined) {
          throw new Mistake(`Tollgate is running already on ${path}, as process ${holder}. Stop that one first: kill ${holder}`)
        }
        rmSync(file, { force: true })
      }
    }
  } finally {
    rmSync(own, { force: true })
  }
}

/** The process that holds the lock, if it lives and is one of ours: numbers of processes are used again. */
function holderOf(file: string): number | undefined {
  let holder: number
  try {
    holder = Number(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
  if (!Number.isInteger(holder) || holder <= 0 || holder === process.pid) return undefined
  return / dev( |$)/.test(commandLineOf(holder)) ? holder : undefined
}

function commandLineOf(pid: number): string {
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
    return execFileSync('ps', ['-o', 'command=', '-p', String(pid)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  } catch {
    return ''
  }
}
