import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Chart, drawChart } from './charts.ts'
import { type Figures, headings, remarksOf, rowOf, spread } from './report.ts'
import { median, percent } from './statistics.ts'
import type { Bar, Goal, Summary } from './summary.ts'

/** A page, and the files that it shows, by their paths beside it. */
export type Page = { markdown: string; charts: Readonly<Record<string, string>> }

/** Everything that a run found out, whether it is as it should be or not. */
export function writePage(figures: Figures): Page {
  const { machine, run, summaries, comparisons, coldStart, bars, goals } = figures
  const charts = chartsOf(summaries)
  const failed = summaries.filter(({ errors }) => Object.keys(errors).length > 0)
  const remarks = summaries.flatMap(remarksOf)
  const lines = [
    '# Performance',
    '',
    '<!-- Written by npm run bench -- --page; do not edit. -->',
    '',
    'These are the figures of one run of `npm run bench -- --page`, all of them. [Measuring](../bench/README.md) tells what is measured, and how.',
    '',
    ...table(['machine', ''], Object.entries(machine)),
    '',
    ...table(['run', ''], Object.entries(run)),
    '',
    ...(failed.length > 0
      ? [`**Not valid**, for there were errors: ${failed.map(({ name }) => code(name)).join(', ')}.`, '']
      : []),
    '## Bars',
    '',
    summaryOfBars(bars),
    '',
    ...table(['bar', 'measured', 'must be', ''], bars.map(barRow)),
    '',
    '## Goals',
    '',
    goals.length === 0
      ? 'None could be looked at in this run.'
      : `${goals.filter(isReached).length} of ${goals.length} are reached.`,
    '',
    ...table(['goal', 'measured', 'at least', ''], goals.map(goalRow)),
    '',
    '## Workloads',
    '',
    'Requests/s are the median of all rounds and, in parentheses, the middle half of them. Costs are processor time a request.',
    '',
    ...table(headings, summaries.map(rowOf)),
    '',
    `Cold start: ${spread(coldStart.seconds, (seconds) => `${seconds.toFixed(3)} s`)}. ` +
      `Idle memory: ${coldStart.idleMegabytes === undefined ? 'unknown' : `${coldStart.idleMegabytes.toFixed(1)} MB`}.`,
    '',
    ...Object.entries(charts).flatMap(([path, { title }]) => [`![${escapeCell(title)}](${path})`, '']),
    '## Compared',
    '',
    'Requests/s of one workload for each of the other, round by round.',
    '',
    ...table(
      ['workload', 'compared with', 'ratio'],
      comparisons.map(({ name, baseline, ratios }) => [name, baseline, spread(ratios, percent)]),
    ),
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

function isReached({ is, aim }: Goal): boolean {
  return is >= aim
}

function goalRow(goal: Goal): string[] {
  return [goal.what, goal.is.toFixed(0), String(goal.aim), isReached(goal) ? 'reached' : 'MISSED']
}

function chartsOf(summaries: readonly Summary[]): Record<string, Chart> {
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
      title: 'Latency by workload',
      description: `In milliseconds, on a logarithmic axis: p50, p95 and p99. ${described(summaries, ({ p50, p95, p99 }) => [p50, p95, p99].map((each) => shown(each, 2)).join(', '))}`,
      unit: 'ms',
      series: ['p50', 'p95', 'p99'],
      layout: 'logarithmic',
      digits: 2,
      rows: summaries.map(({ title, p50, p95, p99 }) => ({ label: title, values: [p50, p95, p99] })),
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

function table(headings: readonly string[], rows: readonly (readonly (string | number)[])[]): string[] {
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
