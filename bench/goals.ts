import type { ColdStart } from './cold-start.ts'
import type { Memory } from './memory.ts'
import { median } from './statistics.ts'
import { type BareRatio, type Comparison, costOf, type Growth, type Summary } from './summary.ts'

/** Everything that a run has found out that a goal may be about. */
export type Found = {
  summaries: readonly Summary[]
  comparisons: readonly Comparison[]
  bareRatios: readonly BareRatio[]
  growths: readonly Growth[]
  coldStarts: readonly ColdStart[]
  memories: readonly Memory[]
  /** Requests a second, where those were given. */
  rate: number | undefined
}

type Goal = {
  what: string
  /** The figure, or undefined where this run has nothing to say about it. */
  read(found: Found): number | undefined
  bound: 'least' | 'most'
  aim: number
  unit: string
  digits: number
}

/** What came of a goal. */
export type Verdict = { what: string; is: string; must: string; met: boolean }

/** Everything that the project has set out to reach, in one place. */
const goals: readonly Goal[] = [
  perProcessorSecond('refresh', 1_700),
  perSecond('refresh', 2_500),
  perProcessorSecond('user', 4_000),
  perSecond('user', 5_000),
  perProcessorSecond('password', 55),
  perProcessorSecond('signup', 55),
  perSecond('pairs', 700),
  perSecond('pairs', 1_345, ' (stretch)'),
  {
    what: 'pairs on one merchant, of those on many',
    read: ({ comparisons }) => {
      const found = comparisons.find(({ name, baseline }) => name === 'pairs-one' && baseline === 'pairs')
      return found && 100 * median(found.ratios)
    },
    ...{ bound: 'least', aim: 90, unit: ' %', digits: 1 },
  },
  latencyAt('pairs', 300, 25),
  // Whoever searches for many is told how many there are, and that grows with the accounts: no goal is about it.
  ...['refresh', 'user', 'admin-first', 'admin-cursor', 'admin-find', 'pairs', 'list-first', 'list-deep', 'balance'].flatMap(
    (family) => [growth(family, 1_000_000), growth(family, 10_000_000)],
  ),
  ...['refresh', 'user', 'pairs', 'capture', 'list-first-100k'].map((name) => nearBare(name, 'its bare statements')),
  ...['password', 'signup'].map((name) => nearBare(name, 'the hash alone')),
  ...(['identity', 'payments'] as const).flatMap((service): Goal[] => [
    {
      what: `${service}, cold start`,
      read: ({ coldStarts }) => coldStarts.find((each) => each.service === service)?.medianSeconds,
      ...{ bound: 'most', aim: 0.5, unit: ' s', digits: 3 },
    },
    {
      what: `${service}, memory when idle`,
      read: ({ coldStarts }) => coldStarts.find((each) => each.service === service)?.idleMegabytes,
      ...{ bound: 'most', aim: 90, unit: ' MB', digits: 1 },
    },
    {
      what: `${service}, memory under 128 connections`,
      read: ({ memories }) => memories.find((each) => each.service === service)?.megabytes,
      ...{ bound: 'most', aim: 220, unit: ' MB', digits: 1 },
    },
  ]),
]

/** Every goal that this run can say something about, reached or not. */
export function weigh(found: Found): Verdict[] {
  return goals.flatMap(({ what, read, bound, aim, unit, digits }) => {
    const is = read(found)
    if (is === undefined || Number.isNaN(is)) return []
    return [
      {
        what,
        is: Number.isFinite(is) ? `${is.toFixed(digits)}${unit}` : 'more than could be asked for',
        must: `${bound === 'least' ? '≥' : '≤'} ${aim}${unit}`,
        met: bound === 'least' ? is >= aim : is <= aim,
      },
    ]
  })
}

function summaryOf({ summaries }: Found, name: string): Summary | undefined {
  return summaries.find((summary) => summary.name === name)
}

function perSecond(name: string, aim: number, remark = ''): Goal {
  return {
    what: `${name}, requests/s${remark}`,
    read(found) {
      const own = summaryOf(found, name)
      return own && found.rate === undefined ? median(own.requestsPerSecond) : undefined
    },
    ...{ bound: 'least', aim, unit: '', digits: 0 },
  }
}

function perProcessorSecond(name: string, aim: number): Goal {
  return {
    what: `${name}, requests a processor second of server and database`,
    read(found) {
      const cost = costOf(summaryOf(found, name))
      return cost && 1e6 / cost
    },
    ...{ bound: 'least', aim, unit: '', digits: 0 },
  }
}

function latencyAt(name: string, rate: number, aim: number): Goal {
  return {
    what: `${name}, p99 at ${rate}/s`,
    read(found) {
      const paced = summaryOf(found, name)?.paced
      if (!paced) return undefined
      // At a lower rate it would be another goal.
      return paced.rate < rate ? Number.POSITIVE_INFINITY : (paced.p99 ?? Number.POSITIVE_INFINITY)
    },
    ...{ bound: 'most', aim, unit: ' ms', digits: 1 },
  }
}

function growth(family: string, to: number): Goal {
  return {
    what: `${family}, cost of a request with ${to.toLocaleString('en')} rows for that with 1,000`,
    read: ({ growths }) => growths.find((each) => each.family === family && each.from === 1_000 && each.to === to)?.factor,
    ...{ bound: 'most', aim: 1.3, unit: ' ×', digits: 2 },
  }
}

function nearBare(name: string, bare: string): Goal {
  return {
    what: `${name}, cost of a request for that of ${bare}`,
    read: ({ bareRatios }) => bareRatios.find((each) => each.name === name)?.ratio,
    ...{ bound: 'most', aim: 1.5, unit: ' ×', digits: 2 },
  }
}
