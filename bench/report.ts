import type { ColdStart } from './cold-start.ts'
import { median, middleHalf, percent } from './statistics.ts'
import type { Bar, Comparison, Goal, Summary } from './summary.ts'

export type Figures = {
  machine: Record<string, string | number>
  run: Record<string, string | number>
  summaries: readonly Summary[]
  comparisons: readonly Comparison[]
  coldStart: ColdStart
  bars: readonly Bar[]
  goals: readonly Goal[]
}

export const headings = [
  'workload',
  'requests/s',
  'server µs',
  'database µs',
  'generator µs',
  'p50 ms',
  'p95 ms',
  'p99 ms',
  'statements',
  'errors',
]

export function writeReport({ machine, run, summaries, comparisons, coldStart, bars, goals }: Figures): string {
  return [
    facts(machine),
    facts(run),
    '',
    ...table([headings, ...summaries.map(rowOf)]),
    'In parentheses: the middle half of the rounds.',
    '',
    ...summaries.flatMap(remarksOf),
    ...comparisons.map(({ name, baseline, ratios }) => `${name} : ${baseline}  ${spread(ratios, percent)}`),
    `cold start  ${spread(coldStart.seconds, (seconds) => `${seconds.toFixed(3)} s`)}, idle memory ${shown(coldStart.idleMegabytes, 1)} MB`,
    '',
    ...bars.map(({ what, is, must, held }) => `${held ? 'holds ' : 'MISSED'}  ${what}: ${is}, must be ${must}`),
    ...goals.map(({ what, is, aim }) => `${is >= aim ? 'reached' : 'ahead '}  ${what}: ${is.toFixed(0)}, the goal is ${aim}`),
  ].join('\n')
}

/** The cells of a workload, under `headings`. */
export function rowOf(summary: Summary): string[] {
  const failed = Object.values(summary.errors).reduce((total, count) => total + count, 0)
  return [
    summary.title,
    spread(summary.requestsPerSecond, (rate) => rate.toFixed(0)),
    shown(summary.serverMicroseconds, 1),
    shown(summary.databaseMicroseconds, 1),
    shown(summary.generatorMicroseconds, 1),
    shown(summary.p50, 2),
    shown(summary.p95, 2),
    shown(summary.p99, 2),
    shown(summary.statements, 3),
    failed === 0 ? '0' : `${failed} !`,
  ]
}

/** What has to be known to make sense of the figures. */
export function remarksOf({ name, requests, errors, remarks: special, generatorBusy, strangersBusy }: Summary): string[] {
  const failures = Object.entries(errors).map(([why, count]) => `${name} is not valid: ${count} × ${why}`)
  if (requests === 0) return failures
  // Whoever waits for the generator looks faster than they are, next to a server that does not.
  const slow =
    generatorBusy > 0.9
      ? [`${name}: the load generator was busy ${percent(generatorBusy)} of the time and may have set the pace`]
      : []
  const disturbed =
    strangersBusy > 0.2
      ? [`${name}: others, on this machine or beside it, took ${percent(strangersBusy)} of a core meanwhile`]
      : []
  return [...failures, ...special.map((remark) => `${name}: ${remark}`), ...slow, ...disturbed]
}

export function spread(values: readonly number[], write: (value: number) => string): string {
  const [low, high] = middleHalf(values)
  return `${write(median(values))} (${write(low)} … ${write(high)})`
}

function shown(value: number | undefined, digits: number): string {
  return value === undefined ? '–' : value.toFixed(digits)
}

function facts(all: Record<string, string | number>): string {
  return Object.entries(all)
    .map(([name, value]) => `${name} ${value}`)
    .join(' · ')
}

function table(rows: readonly string[][]): string[] {
  const widths = headings.map((_, column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0)))
  return rows.map((cells) =>
    cells
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  '),
  )
}
