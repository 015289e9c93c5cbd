import type { ColdStart } from './cold-start.ts'
import type { CommandFigures } from './commands.ts'
import type { Verdict } from './goals.ts'
import type { Memory } from './memory.ts'
import { median, middleHalf, percent } from './statistics.ts'
import type { Bar, BareRatio, Comparison, Growth, Summary } from './summary.ts'

export type Figures = {
  machine: Record<string, string | number>
  run: Record<string, string | number>
  summaries: readonly Summary[]
  comparisons: readonly Comparison[]
  bareRatios: readonly BareRatio[]
  growths: readonly Growth[]
  commands: readonly CommandFigures[]
  coldStarts: readonly ColdStart[]
  memories: readonly Memory[]
  bars: readonly Bar[]
  goals: readonly Verdict[]
}

/** A table: its headings, and the cells below them. */
export type Table = { headings: readonly string[]; rows: readonly (readonly string[])[] }

export function writeReport(figures: Figures): string {
  const { machine, run, summaries, bars, goals } = figures
  return [
    facts(machine),
    facts(run),
    '',
    ...aligned(workloadTable(summaries)),
    'In parentheses: the middle half of the rounds.',
    '',
    ...[bareTable(figures), growthTable(figures), comparisonTable(figures), commandTable(figures), serviceTable(figures)]
      .filter(({ rows }) => rows.length > 0)
      .flatMap((table) => [...aligned(table), '']),
    ...remarksOfAll(figures),
    ...bars.map(({ what, is, must, held }) => `${held ? 'holds  ' : 'MISSED '}  ${what}: ${is}, must be ${must}`),
    ...goals.map(({ what, is, must, met }) => `${met ? 'met    ' : 'NOT MET'}  ${what}: ${is}, the goal is ${must}`),
  ].join('\n')
}

export function workloadTable(summaries: readonly Summary[]): Table {
  return {
    headings: [
      'workload',
      'requests/s',
      'server µs',
      'database µs',
      'generator µs',
      'p50 ms',
      'p95 ms',
      'p99 ms',
      'at',
      'p50 ms',
      'p99 ms',
      'statements',
      'round trips',
      'errors',
    ],
    rows: summaries.map(rowOf),
  }
}

function rowOf(summary: Summary): string[] {
  const { paced } = summary
  const failed = countOf(summary.errors)
  return [
    summary.title,
    spread(summary.requestsPerSecond, (rate) => rate.toFixed(0)),
    shown(summary.serverMicroseconds, 1),
    shown(summary.databaseMicroseconds, 1),
    shown(summary.generatorMicroseconds, 1),
    shown(summary.p50, 2),
    shown(summary.p95, 2),
    shown(summary.p99, 2),
    paced ? `${paced.rate}/s` : '–',
    shown(paced?.p50, 2),
    shown(paced?.p99, 2),
    shown(summary.statements, 3),
    shown(summary.roundTrips, 0),
    failed === 0 ? '0' : `${failed} !`,
  ]
}

export function bareTable({ bareRatios, summaries }: Figures): Table {
  const cost = (name: string) => {
    const found = summaries.find((summary) => summary.name === name)
    return `${shown(found?.serverMicroseconds, 1)} + ${shown(found?.databaseMicroseconds, 1)}`
  }
  return {
    headings: ['request', 'server + database µs', 'bare statements µs', 'ratio', 'of the server alone'],
    rows: bareRatios.map(({ name, bare, ratio, serverRatio }) => [
      name,
      cost(name),
      cost(bare),
      shown(ratio, 2),
      shown(serverRatio, 2),
    ]),
  }
}

export function growthTable({ growths }: Figures): Table {
  return {
    headings: ['workload', 'rows', 'times the cost with 1,000'],
    rows: growths.map(({ family, to, from, factor }) => [
      family,
      to.toLocaleString('en'),
      from === 1_000 ? shown(factor, 2) : `${shown(factor, 2)} (with ${from.toLocaleString('en')})`,
    ]),
  }
}

export function comparisonTable({ comparisons }: Figures): Table {
  return {
    headings: ['workload', 'compared with', 'requests/s of one for each of the other'],
    rows: comparisons.map(({ name, baseline, ratios }) => [name, baseline, spread(ratios, percent)]),
  }
}

export function commandTable({ commands }: Figures): Table {
  return {
    headings: ['command', 'rows', 'seconds', 'rows/s', 'program µs a row', 'database µs a row'],
    rows: commands.map(({ title, rows, seconds, programMicroseconds, databaseMicroseconds }) => {
      const each = (spent: number | undefined) => shown(spent === undefined ? undefined : spent / rows, 1)
      const [own, others] = [each(programMicroseconds), each(databaseMicroseconds)]
      return [title, String(rows), seconds.toFixed(2), (rows / seconds).toFixed(0), own, others]
    }),
  }
}

export function serviceTable({ coldStarts, memories }: Figures): Table {
  return {
    headings: ['service', 'cold start', 'memory when idle', 'memory under 128 connections'],
    rows: coldStarts.map(({ service, seconds, idleMegabytes }) => [
      service,
      spread(seconds, (each) => `${each.toFixed(3)} s`),
      `${shown(idleMegabytes, 1)} MB`,
      `${shown(memories.find((each) => each.service === service)?.megabytes, 1)} MB`,
    ]),
  }
}

/** What has to be known to make sense of the figures. */
export function remarksOfAll({ summaries, commands, memories }: Figures): string[] {
  return [
    ...summaries.flatMap(remarksOf),
    ...commands.flatMap(({ name, problem }) => (problem === undefined ? [] : [`${name} is not valid: it ${problem}`])),
    ...memories.flatMap(({ service, errors }) => failuresOf(`memory of ${service}`, errors)),
  ]
}

/** What went wrong, as the names of what is not valid for it. */
export function invalid({ summaries, commands, memories }: Figures): string[] {
  return [
    ...summaries.filter(({ errors }) => countOf(errors) > 0).map(({ name }) => name),
    ...commands.filter(({ problem }) => problem !== undefined).map(({ name }) => name),
    ...memories.filter(({ errors }) => countOf(errors) > 0).map(({ service }) => `memory of ${service}`),
  ]
}

function remarksOf({ name, requests, errors, remarks: special, generatorBusy, strangersBusy }: Summary): string[] {
  const failures = failuresOf(name, errors)
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

function failuresOf(name: string, errors: Record<string, number>): string[] {
  return Object.entries(errors).map(([why, count]) => `${name} is not valid: ${count} × ${why}`)
}

function countOf(errors: Record<string, number>): number {
  return Object.values(errors).reduce((total, count) => total + count, 0)
}

function spread(values: readonly number[], write: (value: number) => string): string {
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

function aligned({ headings, rows }: Table): string[] {
  const all = [headings, ...rows]
  const widths = headings.map((_, column) => Math.max(...all.map((cells) => cells[column]?.length ?? 0)))
  return all.map((cells) =>
    cells
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  '),
  )
}
