import { expect, test } from 'vitest'
import { createLatencies, record } from './latency.ts'
import type { Measured, Round } from './measure.ts'
import { inTurns } from './requests.ts'
import type { Server } from './servers.ts'
import { compare, judge, lookAhead, summarise } from './summary.ts'
import type { Bars, Compared, Goals } from './workload.ts'

const coldStart = { seconds: [0.1], medianSeconds: 0.1, idleMegabytes: undefined }

/** A hundred requests in a second, all answered after so many milliseconds, at a cost of 300 µs each. */
function measure(
  { bars = {}, goals = {} }: { bars?: Bars; goals?: Goals },
  round: Partial<Round> & { milliseconds?: number } = {},
) {
  const { milliseconds = 1, ...given } = round
  const latencies = createLatencies()
  for (let count = 0; count < (given.answered ?? 100); count++) record(latencies, milliseconds)
  const measured: Measured = {
    workload: { name: 'some', title: 'something', bars, goals, prepare: () => Promise.reject(new Error('not here')) },
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
  return judge(measured, { summaries, comparisons: [], coldStart }).find(({ what }) => what.startsWith('some'))?.held
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

test('requests a processor second are told of server and database together', () => {
  const { measured, summaries } = measure({ goals: { perSecond: 200, perProcessorSecond: 1_700 } })
  expect(lookAhead(measured, summaries, undefined).map(({ is, aim }) => [Math.round(is), aim])).toEqual([
    [3333, 1_700],
    [100, 200],
  ])
})

test('where the rate was given, or processor time is not known, nothing is said of it', () => {
  const { measured, summaries } = measure(
    { goals: { perSecond: 200, perProcessorSecond: 1_700 } },
    { databaseMicroseconds: undefined },
  )
  expect(lookAhead(measured, summaries, 50)).toEqual([])
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
  const bars = judge(measured, { summaries, comparisons, coldStart }).filter(({ what }) => what !== 'cold start')
  expect(bars).toEqual([
    { what: 'one : many', is: '87.5 %', must: '≥ 90.0 %', held: false },
    { what: 'one : book', is: '358.3 %', must: '≥ 300.0 %', held: true },
  ])
})
