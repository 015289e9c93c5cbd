import { parseArgs } from 'node:util'
import type { Bug, Reach } from './fuzz-findings.ts'
import type { FuzzedName, Memory } from './fuzz-services.ts'

export const fuzzUsage = `npm run fuzz -- [settings]

  --requests 1000000  how many requests are made up, for all services together
  --seed 7            which ones; without it a seed is chosen, and told
  --service NAME      only identity, or only payments`

export type FuzzOptions = { requests: number; seed: number | undefined; services: readonly FuzzedName[]; help: boolean }

const names: readonly FuzzedName[] = ['identity', 'payments']

/** Throws a sentence when the words make no sense. */
export function readFuzzOptions(words: string[]): FuzzOptions {
  const text = { type: 'string' } as const
  const { values } = parseArgs({
    args: words,
    options: { requests: text, seed: text, service: text, help: { type: 'boolean', short: 'h' } },
  })
  const { requests = '1000000', seed, service, help = false } = values
  const chosen = names.filter((name) => service === undefined || service === name)
  if (chosen.length === 0) throw new Error(`--service must be ${names.join(' or ')}, not ${JSON.stringify(service)}`)
  return {
    requests: wholeNumber('--requests', requests, { least: 1, most: 1e9 }),
    seed: seed === undefined ? undefined : wholeNumber('--seed', seed, { least: 0, most: 2 ** 31 - 1 }),
    services: chosen,
    help,
  }
}

function wholeNumber(name: string, text: string, { least, most }: { least: number; most: number }): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < least || value > most)
    throw new Error(`${name} must be a whole number from ${least} to ${most}, not ${JSON.stringify(text)}`)
  return value
}

export type FuzzOutcome = {
  name: FuzzedName
  /** Made up; some are sent twice, and some lead to more. */
  requests: number
  answers: number
  seconds: number
  statuses: Readonly<Record<string, number>>
  bugs: readonly Bug[]
  /** Measured from time to time, evenly over the run. */
  memory: readonly Memory[]
  /** Of every endpoint that does something. */
  reach: readonly Reach[]
}

/**
 * How much more there may be in the last quarter than in the one before, by when everything is loaded: caches that have a bound, of tokens
 * that were found good for one, go on filling up to it.
 */
const bounds = { held: 12e6, resident: 60e6 }

/** Fewer measurements tell more of the garbage of a moment than of what is kept. */
const leastMeasured = 12

/** So many requests to a service reach everything that it does. */
const reachesAll = 10_000

/** Why a run is no good, in a sentence each. */
export function complaintsOf({ bugs, memory, requests, answers, reach }: FuzzOutcome): string[] {
  const complaints = bugs.map(({ kind, times }) => `${kind}, ${times === 1 ? 'once' : `${times} times`}`)
  if (answers < requests * 0.9) complaints.push(`only ${answers} answers to ${requests} requests`)
  if (requests >= reachesAll)
    complaints.push(...reach.filter(({ done }) => done === 0).map(({ name }) => `${name} refused everything`))
  if (memory.length < leastMeasured) return complaints
  for (const which of ['held', 'resident'] as const) {
    const { before, after } = quarters(memory, which)
    if (after - before > bounds[which])
      complaints.push(
        `${which} memory grew by ${megabytes(after - before)} in the last quarter, more than ${megabytes(bounds[which])}`,
      )
  }
  return complaints
}

/** What is usual in the third quarter of a run, and in the last one. */
function quarters(memory: readonly Memory[], which: keyof Memory): { before: number; after: number } {
  const [half, threeQuarters] = [Math.floor(memory.length / 2), Math.floor((memory.length * 3) / 4)]
  return {
    before: median(memory.slice(half, threeQuarters).map((each) => each[which])),
    after: median(memory.slice(threeQuarters).map((each) => each[which])),
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0
}

export function tellBug({ kind, what }: Bug, again: string): string {
  return `BUG ${kind}\n${what.replace(/^/gm, '    ')}\n    again: ${again}`
}

export function tellOutcome(outcome: FuzzOutcome): string {
  const { name, requests, answers, seconds, statuses, memory, reach } = outcome
  const counts = Object.entries(statuses).toSorted(([one], [other]) => one.localeCompare(other))
  const complaints = complaintsOf(outcome)
  const stable = memory.length < leastMeasured ? '' : ', memory stable'
  return [
    `${name}: ${requests} requests, ${answers} answers in ${seconds.toFixed(0)} s, ${(answers / seconds).toFixed(0)}/s`,
    `  by status  ${counts.map(([status, count]) => `${status}: ${count}`).join(', ')}`,
    ...tellReach(reach),
    ...tellMemory(memory),
    ...(complaints.length > 0
      ? complaints.map((each) => `  FAILED  ${each}`)
      : [`  no 5xx but those that endpoints announce, no promise broken${stable}`]),
  ].join('\n')
}

/** How far requests come: whoever only meets refusals has tried the doors alone. */
function tellReach(reach: readonly Reach[]): string[] {
  const share = (count: number, answers: number) => `${answers === 0 ? '-' : ((100 * count) / answers).toFixed(1)} %`.padStart(9)
  const longest = Math.max(0, ...reach.map(({ name }) => name.length))
  return [
    `  ${'by endpoint'.padEnd(longest)}  answers     done  refused`,
    ...reach.map(
      ({ name, answers, done, refused }) =>
        `  ${name.padEnd(longest)} ${String(answers).padStart(8)}${share(done, answers)}${share(refused, answers)}`,
    ),
  ]
}

export function tellHeld({ held }: Memory): string {
  return `${megabytes(held)} held`
}

function tellMemory(memory: readonly Memory[]): string[] {
  const [first] = memory
  if (!first) return []
  const line = (which: keyof Memory) => {
    const { before, after } = quarters(memory, which)
    const most = memory.length < leastMeasured ? 'too few requests to judge' : `at most ${megabytes(bounds[which])} more`
    return `${megabytes(first[which])} at first, ${megabytes(before)} in the third quarter, ${megabytes(after)} in the last (${most})`
  }
  return [`  held after collection  ${line('held')}`, `  resident  ${line('resident')}`]
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`
}
