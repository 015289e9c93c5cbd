import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Chart, drawChart } from './charts.ts'
import { shares } from './day.ts'
import type { Verdict } from './goals.ts'
import {
  bareTable,
  commandTable,
  comparisonTable,
  type Figures,
  growthTable,
  invalid,
  remarksOfAll,
  serviceTable,
  type Table,
  workloadTable,
} from './report.ts'
import { median } from './statistics.ts'
import type { Bar, Summary } from './summary.ts'

/** A page, and the files that it shows, by their paths beside it. */
export type Page = { markdown: string; charts: Readonly<Record<string, string>> }

/** Everything that a run found out, whether it is as it should be or not. */
export function writePage(figures: Figures): Page {
  const { machine, run, summaries, bars, goals } = figures
  const charts = chartsOf(figures)
  const failed = invalid(figures)
  const remarks = remarksOfAll(figures)
  const lines = [
    '# Performance',
    '',
    '<!-- Written by npm run bench -- --page; do not edit. -->',
    '',
    'These are the figures of one run of `npm run bench -- --page`, all of them. [Measuring](../bench/README.md) tells what is measured, and how.',
    '',
    ...markdown(['machine', ''], Object.entries(machine)),
    '',
    ...markdown(['run', ''], Object.entries(run)),
    '',
    ...(failed.length > 0 ? [`**Not valid**, for there were errors: ${failed.map(code).join(', ')}.`, ''] : []),
    '## Goals',
    '',
    goals.length === 0 ? 'None could be looked at in this run.' : summaryOfGoals(goals),
    '',
    ...markdown(['goal', 'measured', 'must be', ''], goals.map(goalRow)),
    '',
    '## Workloads',
    '',
    'Requests/s are the median of all rounds and, in parentheses, the middle half of them. Costs are processor time a request. The first three',
    'latencies are those of requests that follow each other as fast as they are answered; the two behind the rate are those of requests that come',
    'at that rate, whatever the answers do, and count from when a request should have been sent.',
    '',
    ...markdownOf(workloadTable(summaries)),
    '',
    `Of a thousand requests of the ordinary day: ${Object.entries(shares)
      .map(([name, share]) => `${share} ${name}`)
      .join(', ')}.`,
    '',
    ...Object.entries(charts).flatMap(([path, { title }]) => [`![${escapeCell(title)}](${path})`, '']),
    '## Against the bare statements',
    '',
    'What a request costs, server and database, for what the same statements cost on a bare server with the bare driver; where a password is hashed, for what the hash alone costs.',
    '',
    ...markdownOf(bareTable(figures)),
    '',
    '## As tables grow',
    '',
    'What a request costs, server and database together, for what it costs with the fewest rows.',
    '',
    ...markdownOf(growthTable(figures)),
    '',
    '## Compared',
    '',
    ...markdownOf(comparisonTable(figures)),
    '',
    '## Commands',
    '',
    'Everything from the start of the program to its end.',
    '',
    ...markdownOf(commandTable(figures)),
    '',
    '## Start and memory',
    '',
    ...markdownOf(serviceTable(figures)),
    '',
    '## Bars',
    '',
    summaryOfBars(bars),
    '',
    ...markdown(['bar', 'measured', 'must be', ''], bars.map(barRow)),
    '',
    '## Remarks',
    '',
    ...(remarks.length > 0 ? remarks.map((remark) => `- ${escapeCell(remark)}`) : ['None.']),
    '',
  ]
  return {
    markdown: lines.join('\n'),
    charts: Object.fromEntries(Object.entries(charts).map(([path, chart]) => [path, drawChart(chart)])),
  }
}

/** Writes the page and its charts into a folder, over those of an earlier run. */
export async function savePage(figures: Figures, folder: string): Promise<void> {
  const { markdown, charts } = writePage(figures)
  for (const [path, text] of Object.entries({ 'performance.md': markdown, ...charts })) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
}

function summaryOfBars(bars: readonly Bar[]): string {
  const missed = bars.filter(({ held }) => !held)
  const all = `${bars.length - missed.length} of ${bars.length} hold.`
  return missed.length === 0 ? all : `${all} Missed: ${missed.map(({ what }) => escapeCell(what)).join('; ')}.`
}

function barRow({ what, is, must, held }: Bar): string[] {
  return [what, is, must, held ? 'held' : 'MISSED']
}

function summaryOfGoals(goals: readonly Verdict[]): string {
  const missed = goals.filter(({ met }) => !met)
  const all = `${goals.length - missed.length} of ${goals.length} are met.`
  return missed.length === 0 ? all : `${all} Not met: ${missed.map(({ what }) => escapeCell(what)).join('; ')}.`
}

function goalRow({ what, is, must, met }: Verdict): string[] {
  return [what, is, must, met ? 'met' : 'NOT MET']
}

function chartsOf({ summaries, growths, bareRatios }: Figures): Record<string, Chart> {
  const paced = summaries.filter((summary) => summary.paced !== undefined)
  return {
    'performance/throughput.svg': {
      title: 'Requests a second by workload',
      description: `Median of all rounds, on a logarithmic axis. ${described(summaries, ({ requestsPerSecond }) => `${median(requestsPerSecond).toFixed(0)}/s`)}`,
      unit: '/s',
      series: ['requests/s'],
      layout: 'logarithmic',
      digits: 0,
      rows: summaries.map(({ title, requestsPerSecond }) => ({ label: title, values: [knownOrNot(median(requestsPerSecond))] })),
    },
    'performance/processor.svg': {
      title: 'Processor time a request, split between server and database',
      description: `In microseconds, server first. ${described(summaries, ({ serverMicroseconds, databaseMicroseconds }) => `${shown(serverMicroseconds, 0)} and ${shown(databaseMicroseconds, 0)}`)}`,
      unit: 'µs',
      series: ['server', 'database'],
      layout: 'shares',
      digits: 0,
      rows: summaries.map(({ title, serverMicroseconds, databaseMicroseconds }) => ({
        label: title,
        values: [serverMicroseconds, databaseMicroseconds],
      })),
    },
    'performance/latency.svg': {
      title: 'Latency at fixed rates by workload',
      description: `In milliseconds, on a logarithmic axis: p50 and p99. ${described(paced, ({ paced: at }) => `${shown(at?.p50, 2)} and ${shown(at?.p99, 2)} at ${at?.rate}/s`)}`,
      unit: 'ms',
      series: ['p50', 'p99'],
      layout: 'logarithmic',
      digits: 2,
      rows: paced.map(({ title, paced: at }) => ({ label: `${title}, ${at?.rate}/s`, values: [at?.p50, at?.p99] })),
    },
    'performance/bare.svg': {
      title: 'Cost of a request for that of its bare statements',
      description: `Server and database, and the server alone. ${bareRatios.map(({ name, ratio, serverRatio }) => `${name}: ${shown(ratio, 2)} and ${shown(serverRatio, 2)}.`).join(' ')}`,
      unit: '×',
      series: ['all', 'server'],
      layout: 'logarithmic',
      digits: 2,
      rows: bareRatios.map(({ name, ratio, serverRatio }) => ({ label: name, values: [ratio, serverRatio] })),
    },
    'performance/growth.svg': {
      title: 'Cost of a request for that with the fewest rows',
      description: `On a logarithmic axis. ${growths.map(({ family, to, factor }) => `${family} with ${to} rows: ${shown(factor, 2)}.`).join(' ')}`,
      unit: '×',
      series: ['times'],
      layout: 'logarithmic',
      digits: 2,
      rows: growths.map(({ family, to, factor }) => ({ label: `${family}, ${to.toLocaleString('en')} rows`, values: [factor] })),
    },
  }
}

function described(summaries: readonly Summary[], tell: (summary: Summary) => string): string {
  return summaries.map((summary) => `${summary.title}: ${tell(summary)}.`).join(' ')
}

function shown(value: number | undefined, digits: number): string {
  return value === undefined ? 'unknown' : value.toFixed(digits)
}

function knownOrNot(value: number): number | undefined {
  return Number.isFinite(value) ? value : undefined
}

function markdownOf({ headings, rows }: Table): string[] {
  return rows.length === 0 ? ['Nothing was measured.'] : markdown(headings, rows)
}

function markdown(headings: readonly string[], rows: readonly (readonly (string | number)[])[]): string[] {
  if (rows.length === 0) return []
  const line = (cells: readonly (string | number)[]) => `| ${cells.map((cell) => escapeCell(String(cell))).join(' | ')} |`
  return [line(headings), `|${headings.map((_, column) => (column === 0 ? '---' : '---:')).join('|')}|`, ...rows.map(line)]
}

function code(text: string): string {
  return `\`${text.replaceAll('`', '')}\``
}

/** A text that neither ends its cell nor becomes a mark-up of its own. */
function escapeCell(text: string): string {
  return text.replace(/[\r\n]+/g, ' ').replace(/[\\`*_[\]<>|]/g, (character) => `\\${character}`)
}
