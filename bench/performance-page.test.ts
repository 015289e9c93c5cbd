import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Mistake, readOptions } from './options.ts'
import { savePage, writePage } from './performance-page.ts'
import type { Figures } from './report.ts'
import type { Summary } from './summary.ts'

const refresh: Summary = {
  name: 'refresh',
  title: 'identity refresh | grant',
  requests: 3_000,
  requestsPerSecond: [900, 1000, 1100],
  serverMicroseconds: 300.04,
  databaseMicroseconds: 200,
  generatorMicroseconds: 50,
  generatorBusy: 0.1,
  strangersBusy: 0.05,
  p50: 1.25,
  p95: 2.5,
  p99: 12.345,
  paced: { rate: 500, p50: 0.5, p99: 7.25 },
  statements: 2,
  roundTrips: 1,
  errors: {},
  remarks: [],
}
const figures: Figures = {
  machine: { date: '2030-01-02T03:04:05.678Z', processor: 'Some_Processor *', cores: 2 },
  run: { workers: 1, rounds: 3 },
  summaries: [
    refresh,
    {
      ...refresh,
      name: 'slow',
      title: 'slow <thing>',
      p99: undefined,
      paced: undefined,
      statements: undefined,
      roundTrips: undefined,
      remarks: ['at 10/s only'],
    },
  ],
  comparisons: [{ name: 'slow', baseline: 'refresh', ratios: [0.5, 0.6, 0.7], ratio: 0.9 }],
  bareRatios: [{ name: 'refresh', bare: 'slow', ratio: 1.234, serverRatio: 1.5 }],
  growths: [{ family: 'list', from: 1_000, to: 1_000_000, factor: 1.07 }],
  commands: [
    {
      name: 'verify-1k',
      title: 'verify',
      rows: 1_000,
      seconds: 2,
      programMicroseconds: 5_000,
      databaseMicroseconds: undefined,
      problem: undefined,
    },
  ],
  coldStarts: [{ service: 'identity', seconds: [0.4, 0.5, 0.6], medianSeconds: 0.5, idleMegabytes: 80.25 }],
  memories: [{ service: 'identity', connections: 128, megabytes: 150.5, errors: {} }],
  bars: [
    { what: 'refresh, statements a request', is: '2.000', must: '≤ 2', held: true },
    { what: 'slow : refresh', is: '60.0 %', must: '≥ 90.0 %', held: false },
  ],
  goals: [
    { what: 'refresh, requests/s', is: '1000', must: '≥ 2500', met: false },
    { what: 'slow, requests/s', is: '1000', must: '≥ 1000', met: true },
  ],
}

const linesOf = (given: Figures) => writePage(given).markdown.split('\n')

test('machine, date and run are told, and every workload with its figures', () => {
  const lines = linesOf(figures)
  expect(lines).toContain('| date | 2030-01-02T03:04:05.678Z |')
  expect(lines).toContain('| processor | Some\\_Processor \\* |')
  expect(lines).toContain('| rounds | 3 |')
  expect(lines).toContain(
    '| identity refresh \\| grant | 1000 (900 … 1100) | 300.0 | 200.0 | 50.0 | 1.25 | 2.50 | 12.35 | 500/s | 0.50 | 7.25 | 2.000 | 1 | 0 |',
  )
  expect(lines).toContain(
    '| slow \\<thing\\> | 1000 (900 … 1100) | 300.0 | 200.0 | 50.0 | 1.25 | 2.50 | – | – | – | – | – | – | 0 |',
  )
  expect(lines).toContain('| identity | 0.500 s (0.400 s … 0.600 s) | 80.3 MB | 150.5 MB |')
  expect(lines).toContain('| refresh | 300.0 + 200.0 | 300.0 + 200.0 | 1.23 | 1.50 |')
  expect(lines).toContain('| list | 1,000,000 | 1.07 |')
  expect(lines).toContain('| verify | 1000 | 2.00 | 500 | 5.0 | – |')
  expect(lines.find((line) => line.startsWith('Of a thousand requests of the ordinary day: 400 user, '))).toBeDefined()
  expect(lines).toContain('| slow | refresh | 60.0 % (50.0 % … 70.0 %) |')
  expect(lines).toContain('- slow: at 10/s only')
})

test('what was missed is on the page as much as what was held', () => {
  const lines = linesOf(figures)
  expect(lines).toContain('1 of 2 hold. Missed: slow : refresh.')
  expect(lines).toContain('| refresh, statements a request | 2.000 | ≤ 2 | held |')
  expect(lines).toContain('| slow : refresh | 60.0 % | ≥ 90.0 % | MISSED |')
  expect(lines).toContain('1 of 2 are met. Not met: refresh, requests/s.')
  expect(lines).toContain('| refresh, requests/s | 1000 | ≥ 2500 | NOT MET |')
  expect(lines).toContain('| slow, requests/s | 1000 | ≥ 1000 | met |')
})

test('every bar and every goal has its row', () => {
  const bars = Array.from({ length: 30 }, (_, index) => ({ what: `bar ${index}`, is: '1', must: '2', held: index % 3 === 0 }))
  const goals = Array.from({ length: 30 }, (_, index) => ({ what: `goal ${index}`, is: '1', must: '2', met: index % 2 === 0 }))
  const lines = linesOf({ ...figures, bars, goals })
  expect(lines.filter((line) => /^\| bar \d+ \|/.test(line))).toHaveLength(30)
  expect(lines.filter((line) => /^\| (bar|goal) \d+ \|.*(MISSED|NOT MET)/.test(line))).toHaveLength(20 + 15)
})

test('figures with errors are called not valid', () => {
  const broken = { ...refresh, errors: { 'answered 500': 3 } }
  const lines = linesOf({ ...figures, summaries: [broken] })
  expect(lines).toContain('**Not valid**, for there were errors: `refresh`.')
  expect(lines).toContain('- refresh is not valid: 3 × answered 500')
  expect(lines.find((line) => line.startsWith('| identity refresh'))).toMatch(/\| 3 ! \|$/)
  expect(linesOf(figures).join()).not.toContain('Not valid')
  const [command] = figures.commands
  const [memory] = figures.memories
  const worse = linesOf({
    ...figures,
    commands: command ? [{ ...command, problem: 'ended with 1: no' }] : [],
    memories: memory ? [{ ...memory, errors: { 'answered 503': 1 } }] : [],
  })
  expect(worse).toContain('**Not valid**, for there were errors: `verify-1k`, `memory of identity`.')
  expect(worse).toContain('- verify-1k is not valid: it ended with 1: no')
})

test('charts of throughput, processor time, latency, bare statements and growth are shown, with the figures in them', () => {
  const { markdown, charts } = writePage(figures)
  const names = ['throughput', 'processor', 'latency', 'bare', 'growth']
  expect(Object.keys(charts)).toEqual(names.map((name) => `performance/${name}.svg`))
  for (const path of Object.keys(charts)) expect(markdown).toContain(`](${path})`)
  expect(charts['performance/throughput.svg']).toContain('identity refresh | grant, requests/s: 1000 /s</title>')
  expect(charts['performance/processor.svg']).toContain('slow &#60;thing&#62;, database: 200 µs</title>')
  expect(charts['performance/latency.svg']).toContain('identity refresh | grant, 500/s, p99: 7.25 ms</title>')
  expect(charts['performance/latency.svg']).not.toContain('slow')
  expect(charts['performance/bare.svg']).toContain('refresh, all: 1.23 ×</title>')
  expect(charts['performance/growth.svg']).toContain('list, 1,000,000 rows, times: 1.07 ×</title>')
})

test('a page is saved beside its charts, over what was there', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-page-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  await savePage({ ...figures, run: { rounds: 999 } }, folder)
  await savePage(figures, folder)
  const page = readFileSync(join(folder, 'performance.md'), 'utf8')
  expect(page).toContain('| rounds | 3 |')
  expect(page).not.toContain('999')
  for (const [, path = ''] of page.matchAll(/!\[.*\]\((.*)\)/g))
    expect(readFileSync(join(folder, path), 'utf8')).toMatch(/^<svg /)
  expect(readdirSync(join(folder, 'performance'))).toEqual([
    'bare.svg',
    'growth.svg',
    'latency.svg',
    'processor.svg',
    'throughput.svg',
  ])
})

test('a page is about everything or it is not written', () => {
  const known = [{ name: 'refresh' }, { name: 'user' }]
  expect(readOptions(['--page'], known)).toMatchObject({ page: true, names: ['refresh', 'user'] })
  expect(readOptions([], known).page).toBe(false)
  expect(() => readOptions(['--page', 'refresh'], known)).toThrow(Mistake)
  expect(() => readOptions(['--page', '--rate', '10'], known)).toThrow(Mistake)
})
