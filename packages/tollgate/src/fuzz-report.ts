import { parseArgs } from 'node:util'
import type { Bug } from './fuzz-findings.ts'
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
  memory: { start: Memory; middle: Memory; end: Memory } | undefined
  /** Endpoints that never answered with a 2xx. */
  unliked: readonly string[]
}

/** How much more there may be in the end than in the middle, by when everything is loaded and caches are as full as they get. */
const bounds = { held: 25e6, resident: 100e6 }

/** Why a run is no good, in a sentence each. */
export function complaintsOf({ bugs, memory, requests, answers }: FuzzOutcome): string[] {
  const complaints = bugs.map(({ kind, times }) => `${kind}, ${times === 1 ? 'once' : `${times} times`}`)
  if (answers < requests * 0.9) complaints.push(`only ${answers} answers to ${requests} requests`)
  if (!memory) return complaints
  for (const which of ['held', 'resident'] as const) {
    const growth = memory.end[which] - memory.middle[which]
    if (growth > bounds[which])
      complaints.push(`${which} memory grew by ${megabytes(growth)} in the second half, more than ${megabytes(bounds[which])}`)
  }
  return complaints
}

export function tellBug({ kind, what }: Bug, again: string): string {
  return `BUG ${kind}\n${what.replace(/^/gm, '    ')}\n    again: ${again}`
}

export function tellOutcome(outcome: FuzzOutcome): string {
  const { name, requests, answers, seconds, statuses, memory, unliked } = outcome
  const counts = Object.entries(statuses).toSorted(([one], [other]) => one.localeCompare(other))
  const complaints = complaintsOf(outcome)
  return [
    `${name}: ${requests} requests, ${answers} answers in ${seconds.toFixed(0)} s, ${(answers / seconds).toFixed(0)}/s`,
    `  by status  ${counts.map(([status, count]) => `${status}: ${count}`).join(', ')}`,
    ...(memory ? tellMemory(memory) : []),
    ...(unliked.length > 0 ? [`  never liked  ${unliked.join(', ')}`] : []),
    ...(complaints.length > 0
      ? complaints.map((each) => `  FAILED  ${each}`)
      : ['  no 5xx but those that endpoints announce, no promise broken, memory stable']),
  ].join('\n')
}

export function tellHeld({ held }: Memory): string {
  return `${megabytes(held)} held`
}

function tellMemory({ start, middle, end }: NonNullable<FuzzOutcome['memory']>): string[] {
  const line = (which: keyof Memory) => [start, middle, end].map((each) => megabytes(each[which])).join(', ')
  const most = (which: keyof Memory) => `at most ${megabytes(bounds[which])} more in the end than in the middle`
  return [`  held after collection  ${line('held')} (${most('held')})`, `  resident  ${line('resident')} (${most('resident')})`]
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`
}
