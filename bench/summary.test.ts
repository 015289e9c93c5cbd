import { expect, test } from 'vitest'
import { createLatencies, record } from './latency.ts'
import type { Measured, Round } from './measure.ts'
import { inTurns } from './requests.ts'
import type { Server } from './servers.ts'
import { compare, compareSizes, compareWithBare, judge, type Summary, summarise } from './summary.ts'
import type { Bars, Compared, Workload } from './workload.ts'

/** A hundred requests in a second, all answered after so many milliseconds, at a cost of 300 µs each. */
function measure({ bars = {} }: { bars?: Bars }, round: Partial<Round> & { milliseconds?: number } = {}) {
  const { milliseconds = 1, ...given } = round
  const latencies = createLatencies()
  for (let count = 0; count < (given.answered ?? 100); count++) record(latencies, milliseconds)
  const measured: Measured = {
    workload: { name: 'some', title: 'something', bars, prepare: () => Promise.reject(new Error('not here')) },
    server: {} as Server,
    requests: inTurns(Buffer.from('x')),
    remarks: [],
    rounds: [
      {
        answered: 100,
        refused: 0,
        seconds: 1,
        latencies,
        errors: {},
        processorMicroseconds: 0,
        serverMicroseconds: 20_000,
        databaseMicroseconds: 10_000,
        strangerMicroseconds: 0,
        statements: 200,
        ...given,
      },
    ],
  }
  return { measured: [measured], summaries: [summarise(measured)] }
}

function verdict(bars: Bars, round?: Parameters<typeof measure>[1]): boolean | undefined {
  const { measured, summaries } = measure({ bars }, round)
  return judge(measured, { summaries, comparisons: [] }).find(({ what }) => what.startsWith('some'))?.held
}

test.each([
  ['as many as there must be', 2, 200, true],
  ['one too few', 3, 200, false],
  ['one in a hundred too many', 2, 201, false],
  ['as many as there may be', { most: 2 }, 200, true],
  ['fewer than there may be', { most: 3 }, 200, true],
  ['one in a hundred more than there may be', { most: 2 }, 201, false],
])('statements: %s', (_, statements, counted, held) => {
  expect(verdict({ statements }, { statements: counted })).toBe(held)
})

test('statements that could not be told apart from those of others are not judged', () => {
  expect(verdict({ statements: 2 }, { statements: undefined })).toBeUndefined()
})

test('a latency holds up to the bar, and no answer at all does not', () => {
  expect(verdict({ p99: 100 }, { milliseconds: 90 })).toBe(true)
  expect(verdict({ p99: 100 }, { milliseconds: 110 })).toBe(false)
  expect(verdict({ p95: 100 }, { milliseconds: 110 })).toBe(false)
  expect(verdict({ p99: 100 }, { answered: 0 })).toBe(false)
})

test('latency at a fixed rate is told beside the other, and its errors count', () => {
  const { measured } = measure({}, { milliseconds: 1 })
  const latencies = createLatencies()
  for (let count = 1; count <= 100; count++) record(latencies, count)
  const paced = { rate: 50, latencies, errors: { 'answered 500': 2 } }
  const summary = summarise({ ...(measured[0] as Measured), paced })
  expect(summary.p99).toBeCloseTo(1, 1)
  expect(summary.paced?.rate).toBe(50)
  expect(summary.paced?.p50).toBeCloseTo(50, -0.5)
  expect(summary.paced?.p99).toBeCloseTo(99, -0.5)
  expect(summary.errors).toEqual({ 'answered 500': 2 })
})

/** Workloads whose requests cost so many microseconds, the server half of it. */
function costing(...given: (Partial<Workload> & { name: string; cost: number | undefined })[]) {
  const [each] = measure({}).measured as [Measured]
  const measured = given.map(({ cost: _, ...workload }) => ({ ...each, workload: { ...each.workload, ...workload } }))
  const summaries = given.map(({ name, cost }) => {
    const half = cost && cost / 2
    return { ...summarise(each), name, serverMicroseconds: half, databaseMicroseconds: half } as Summary
  })
  return [measured, summaries] as const
}

test('growth is what a request costs for what it costs with the fewest rows', () => {
  const family = 'list'
  const found = compareSizes(
    ...costing(
      { name: 'list-100', cost: 300, growth: { family, rows: 100 } },
      { name: 'list-1', cost: 200, growth: { family, rows: 1 } },
      { name: 'list-10', cost: 220, growth: { family, rows: 10 } },
      { name: 'unknown-1', cost: undefined, growth: { family: 'unknown', rows: 1 } },
      { name: 'unknown-2', cost: 100, growth: { family: 'unknown', rows: 2 } },
      { name: 'alone', cost: 100, growth: { family: 'alone', rows: 1 } },
      { name: 'none', cost: 100 },
    ),
  )
  expect(found).toEqual([
    { family, from: 1, to: 10, factor: 1.1 },
    { family, from: 1, to: 100, factor: 1.5 },
    { family: 'unknown', from: 1, to: 2, factor: undefined },
  ])
})

test('a request is compared with its bare statements by what both cost', () => {
  const [measured, summaries] = costing(
    { name: 'some', cost: 300, bare: 'bare-some' },
    { name: 'bare-some', cost: 200 },
    { name: 'absent', cost: 100, bare: 'bare-absent' },
  )
  const server = { ...(summaries[0] as Summary), serverMicroseconds: 200, databaseMicroseconds: 100 }
  expect(compareWithBare(measured, [server, ...summaries.slice(1)])).toEqual([
    { name: 'some', bare: 'bare-some', ratio: 1.5, serverRatio: 2 },
  ])
})

test('what was measured of something else than was meant is not valid', () => {
  const { measured } = measure({})
  const [each] = measured
  expect(summarise({ ...(each as Measured), doubt: () => 'nothing was sent' }).errors).toEqual({ 'nothing was sent': 1 })
})

/** Two rounds of a workload with so many answers in a second each. */
function named(name: string, answered: readonly [number, number], compared: readonly Compared[] = []): Measured {
  const [each] = measure({}).measured as [Measured]
  const [round] = each.rounds as [Round]
  return {
    ...each,
    workload: { ...each.workload, name, compared },
    rounds: answered.map((count) => ({ ...round, answered: count })),
  }
}

test('a workload is compared with several others round by round, and judged where there is a bar', () => {
  const measured = [
    named('many', [100, 50]),
    named('book', [30, 10]),
    named(
      'one',
      [95, 40],
      [
        { with: 'many', ratio: 0.9 },
        { with: 'book', ratio: 3 },
        { with: 'absent', ratio: 1 },
      ],
    ),
    named('free', [1, 1], [{ with: 'many' }]),
  ]
  const summaries = measured.map(summarise)
  const comparisons = compare(measured, summaries)
  expect(comparisons.map(({ name, baseline, ratios }) => [name, baseline, ratios.map((each) => each.toFixed(2))])).toEqual([
    ['one', 'many', ['0.95', '0.80']],
    ['one', 'book', ['3.17', '4.00']],
    ['free', 'many', ['0.01', '0.02']],
  ])
  const bars = judge(measured, { summaries, comparisons })
  expect(bars).toEqual([
    { what: 'one : many', is: '87.5 %', must: '≥ 90.0 %', held: false },
    { what: 'one : book', is: '358.3 %', must: '≥ 300.0 %', held: true },
  ])
})
