import { expect, test } from 'vitest'
import { type Found, weigh } from './goals.ts'
import type { Summary } from './summary.ts'

const nothing: Found = {
  summaries: [],
  comparisons: [],
  bareRatios: [],
  growths: [],
  coldStarts: [],
  memories: [],
  rate: undefined,
}

/** A thousand requests a second at so many microseconds of server and of database. */
function summary(name: string, cost: [number, number | undefined], more: Partial<Summary> = {}): Summary {
  const [serverMicroseconds, databaseMicroseconds] = cost
  return { name, requestsPerSecond: [900, 1_000, 1_100], serverMicroseconds, databaseMicroseconds, ...more } as Summary
}

const verdictsOf = (found: Partial<Found>) =>
  weigh({ ...nothing, ...found }).map(({ what, is, must, met }) => [what, is, must, met])

test('of what was not measured nothing is said', () => {
  expect(weigh(nothing)).toEqual([])
})

test('requests a processor second are those of server and database together', () => {
  const refresh = 'refresh, requests a processor second of server and database'
  expect(verdictsOf({ summaries: [summary('refresh', [300, 200])] })).toEqual([
    [refresh, '2000', '≥ 1700', true],
    ['refresh, requests/s', '1000', '≥ 2500', false],
  ])
  // Where the rate was given it says nothing, and neither does a cost that is half known.
  expect(verdictsOf({ summaries: [summary('refresh', [500, 200])], rate: 50 })).toEqual([[refresh, '1429', '≥ 1700', false]])
  expect(verdictsOf({ summaries: [summary('password', [500, undefined])] })).toEqual([])
})

test('pairs have a goal, one beyond it, and one on a single merchant', () => {
  const comparisons = [{ name: 'pairs-one', baseline: 'pairs', ratios: [0.8, 0.91, 0.92], ratio: undefined }]
  expect(verdictsOf({ summaries: [summary('pairs', [1, 1])], comparisons })).toEqual([
    ['pairs, requests/s', '1000', '≥ 700', true],
    ['pairs, requests/s (stretch)', '1000', '≥ 1345', false],
    ['pairs on one merchant, of those on many', '91.0 %', '≥ 90 %', true],
  ])
})

test.each([
  [{ rate: 300, p50: 1, p99: 24.9 }, '24.9 ms', true],
  [{ rate: 300, p50: 1, p99: 25.1 }, '25.1 ms', false],
  [{ rate: 299, p50: 1, p99: 1 }, 'more than could be asked for', false],
  [{ rate: 300, p50: undefined, p99: undefined }, 'more than could be asked for', false],
])('the latency of pairs at 300 a second: %j', (paced, is, met) => {
  const verdicts = verdictsOf({ summaries: [summary('pairs', [1, 1], { paced })] })
  expect(verdicts).toContainEqual(['pairs, p99 at 300/s', is, '≤ 25 ms', met])
})

test('growth from a thousand to a million rows, and to ten, is held to 1.3, and that to fewer to nothing', () => {
  const grown = (family: string, to: number, factor: number, from = 1_000) => ({ family, from, to, factor })
  const growths = [
    grown('list-first', 100_000, 9),
    grown('list-first', 1_000_000, 1.3),
    grown('list-first', 10_000_000, 1.31),
    grown('user', 1_000_000, 1, 100_000),
    grown('admin-search', 1_000_000, 50),
  ]
  expect(verdictsOf({ growths })).toEqual([
    ['list-first, cost of a request with 1,000,000 rows for that with 1,000', '1.30 ×', '≤ 1.3 ×', true],
    ['list-first, cost of a request with 10,000,000 rows for that with 1,000', '1.31 ×', '≤ 1.3 ×', false],
  ])
})

test('hot paths are held against their bare statements, and those that hash against the hash', () => {
  const bareRatios = ['refresh', 'user', 'pairs', 'capture', 'list-first-100k', 'password', 'signup'].map((name, index) => ({
    name,
    bare: 'bare',
    ratio: index === 0 ? 1.6 : 1.4,
    serverRatio: 9,
  }))
  const verdicts = verdictsOf({ bareRatios })
  expect(verdicts).toHaveLength(7)
  expect(verdicts[0]).toEqual(['refresh, cost of a request for that of its bare statements', '1.60 ×', '≤ 1.5 ×', false])
  expect(verdicts.at(-1)?.[0]).toBe('signup, cost of a request for that of the hash alone')
  expect(verdicts.slice(1).every(([, , , met]) => met === true)).toBe(true)
})

test('both services are to start quickly and be small', () => {
  const coldStarts = (['identity', 'payments'] as const).map((service) => ({
    service,
    seconds: [0.4],
    medianSeconds: service === 'identity' ? 0.4 : 0.6,
    idleMegabytes: 89,
  }))
  const memories = [{ service: 'payments' as const, connections: 128, megabytes: 221, errors: {} }]
  expect(verdictsOf({ coldStarts, memories })).toEqual([
    ['identity, cold start', '0.400 s', '≤ 0.5 s', true],
    ['identity, memory when idle', '89.0 MB', '≤ 90 MB', true],
    ['payments, cold start', '0.600 s', '≤ 0.5 s', false],
    ['payments, memory when idle', '89.0 MB', '≤ 90 MB', true],
    ['payments, memory under 128 connections', '221.0 MB', '≤ 220 MB', false],
  ])
})
