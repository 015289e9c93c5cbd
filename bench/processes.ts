import { readdirSync, readFileSync } from 'node:fs'

/** The kernel counts in ticks of a hundredth of a second, on every Linux that Node runs on. */
const microsecondsPerTick = 10_000

type Process = { pid: number; parent: number; ticks: number }

/** The processor time, user and system, that a process and all that descend from it have used. Undefined where there is no /proc. */
export function processorMicroseconds(root: number): number | undefined {
  const all = listProcesses()
  if (all.length === 0) return undefined
  const family = new Set([root])
  // Children may stand before their parents in the list, so it is gone through until nobody new turns up.
  for (let size = 0; size !== family.size; ) {
    size = family.size
    for (const { pid, parent } of all) if (family.has(parent)) family.add(pid)
  }
  const ticks = all.filter(({ pid }) => family.has(pid)).reduce((sum, each) => sum + each.ticks, 0)
  return ticks * microsecondsPerTick
}

/** What all programs of the machine together have used, and what a hypervisor has given to others meanwhile. */
export function machineMicroseconds(): number | undefined {
  const [line] = /^cpu .*$/m.exec(readOrNothing('/proc/stat')) ?? []
  if (line === undefined) return undefined
  const [, user, nice, system, , , interrupts, softInterrupts, stolen] = line.split(/ +/).map(Number)
  const ticks = [user, nice, system, interrupts, softInterrupts, stolen].reduce<number>((sum, each) => sum + (each ?? 0), 0)
  return ticks * microsecondsPerTick
}

/** What children of ours that have ended had used. */
export function endedChildrenMicroseconds(): number | undefined {
  const fields = fieldsOf('self')
  return fields.length < 15 ? undefined : ticksOf(fields.slice(13, 15)) * microsecondsPerTick
}

/** The memory of a process that is in RAM, in MB of a million bytes. */
export function residentMegabytes(pid: number): number | undefined {
  return megabytesOf(pid, /^VmRSS:\s+(\d+) kB$/m)
}

/** The most that it ever was. */
export function peakMegabytes(pid: number): number | undefined {
  return megabytesOf(pid, /^VmHWM:\s+(\d+) kB$/m)
}

function megabytesOf(pid: number, line: RegExp): number | undefined {
  const kilobytes = line.exec(readOrNothing(`/proc/${pid}/status`))?.[1]
  return kilobytes === undefined ? undefined : (Number(kilobytes) * 1024) / 1e6
}

function listProcesses(): Process[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const fields = fieldsOf(name)
      const [, parent] = fields
      // Its own and, so that nothing is lost when one of them ends, that of children who have ended.
      const ticks = ticksOf(fields.slice(11, 15))
      return parent === undefined ? [] : [{ pid: Number(name), parent: Number(parent), ticks }]
    })
}

/** What the kernel tells of a process, from its third field on: the second is the program's name in parentheses, and may hold anything. */
function fieldsOf(process: string): string[] {
  return readOrNothing(`/proc/${process}/stat`)
    .replace(/^.*\) /s, '')
    .split(' ')
}

function ticksOf(fields: readonly string[]): number {
  return fields.reduce((sum, each) => sum + Number(each), 0)
}

/** A process may end while it is looked at. */
function readOrNothing(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
