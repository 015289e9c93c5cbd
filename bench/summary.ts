import { mergeLatencies, percentile } from './latency.ts'
import { addErrors, type Measured } from './measure.ts'
import { median, percent, sum } from './statistics.ts'

/** What all rounds of a workload amount to. Costs are processor time a request, latencies milliseconds. */
export type Summary = ReturnType<typeof summarise>

export function summarise({ workload, rounds, remarks, doubt, paced, roundTrips }: Measured) {
  const requests = sum(rounds.map((round) => round.answered))
  const latencies = mergeLatencies(rounds.map((round) => round.latencies))
  const perRequest = (spent: readonly (number | undefined)[]) =>
    requests === 0 || spent.includes(undefined) ? undefined : sum(spent as number[]) / requests
  const seconds = sum(rounds.map((round) => round.seconds))
  const generatorMicroseconds = sum(rounds.map((round) => round.processorMicroseconds))
  return {
    name: workload.name,
    title: workload.title,
    requests,
    requestsPerSecond: rounds.map((round) => round.answered / round.seconds),
    serverMicroseconds: perRequest(rounds.map((round) => round.serverMicroseconds)),
    databaseMicroseconds: perRequest(rounds.map((round) => round.databaseMicroseconds)),
    generatorMicroseconds: perRequest([generatorMicroseconds]),
    generatorBusy: generatorMicroseconds / 1e6 / seconds,
    strangersBusy: sum(rounds.map((round) => round.strangerMicroseconds ?? 0)) / 1e6 / seconds,
    p50: percentile(latencies, 0.5),
    p95: percentile(latencies, 0.95),
    p99: percentile(latencies, 0.99),
    /** At a fixed rate, from the moment in which a request should have been sent. */
    paced: paced && { rate: paced.rate, p50: percentile(paced.latencies, 0.5), p99: percentile(paced.latencies, 0.99) },
    statements: perRequest(rounds.map((round) => round.statements)),
    roundTrips,
    errors: [...rounds, ...(paced ? [paced] : [])].map((each) => each.errors).reduce(addErrors, doubted(doubt?.())),
    remarks,
  }
}

function doubted(why: string | undefined): Record<string, number> {
  return why === undefined ? {} : { [why]: 1 }
}

/** Requests/s against those of another workload in the same round. `ratio` is the bar, where there is one. */
export type Comparison = { name: string; baseline: string; ratios: number[]; ratio: number | undefined }

export function compare(measured: readonly Measured[], summaries: readonly Summary[]): Comparison[] {
  return measured.flatMap(({ workload: { name, compared = [] } }) =>
    compared.flatMap(({ with: other, ratio }) => {
      const own = summaries.find((summary) => summary.name === name)
      const baseline = summaries.find((summary) => summary.name === other)
      if (!own || !baseline) return []
      const ratios = own.requestsPerSecond.map((rate, round) => rate / (baseline.requestsPerSecond[round] ?? Number.NaN))
      return [{ name, baseline: other, ratios, ratio }]
    }),
  )
}

/** What a request costs server and database together, in microseconds. */
export function costOf(summary: Summary | undefined): number | undefined {
  const { serverMicroseconds: server, databaseMicroseconds: database } = summary ?? {}
  return server === undefined || database === undefined ? undefined : server + database
}

/** What a request costs against the same with the statements alone: in all, and of the server's part. */
export type BareRatio = { name: string; bare: string; ratio: number | undefined; serverRatio: number | undefined }

export function compareWithBare(measured: readonly Measured[], summaries: readonly Summary[]): BareRatio[] {
  return measured.flatMap(({ workload: { name, bare } }) => {
    const own = summaries.find((summary) => summary.name === name)
    const other = summaries.find((summary) => summary.name === bare)
    if (bare === undefined || !own || !other) return []
    const ratio = quotient(costOf(own), costOf(other))
    return [{ name, bare, ratio, serverRatio: quotient(own.serverMicroseconds, other.serverMicroseconds) }]
  })
}

/** How many times as much a request costs where there is more to look through. */
export type Growth = { family: string; from: number; to: number; factor: number | undefined }

export function compareSizes(measured: readonly Measured[], summaries: readonly Summary[]): Growth[] {
  const sized = measured.flatMap(({ workload: { name, growth } }) => {
    const cost = costOf(summaries.find((summary) => summary.name === name))
    return growth ? [{ ...growth, cost }] : []
  })
  return Object.values(Object.groupBy(sized, ({ family }) => family)).flatMap((all = []) => {
    const [smallest, ...larger] = all.toSorted((one, other) => one.rows - other.rows)
    if (!smallest) return []
    return larger.map(({ family, rows, cost }) => ({
      family,
      from: smallest.rows,
      to: rows,
      factor: quotient(cost, smallest.cost),
    }))
  })
}

function quotient(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined || other === 0 ? undefined : one / other
}

export type Bar = { what: string; is: string; must: string; held: boolean }

export function judge(
  measured: readonly Measured[],
  { summaries, comparisons }: { summaries: readonly Summary[]; comparisons: readonly Comparison[] },
): Bar[] {
  const bars: Bar[] = []
  for (const { workload } of measured) {
    const { statements, p95, p99 } = workload.bars ?? {}
    const own = summaries.find(({ name }) => name === workload.name)
    for (const { name, baseline, ratios, ratio } of comparisons) {
      if (name !== workload.name || ratio === undefined) continue
      const is = median(ratios)
      bars.push({ what: `${name} : ${baseline}`, is: percent(is), must: `≥ ${percent(ratio)}`, held: is >= ratio })
    }
    if (statements !== undefined && own?.statements !== undefined)
      bars.push(judgeStatements(workload.name, own.statements, statements))
    if (p95 !== undefined) bars.push(judgeLatency(`${workload.name}, p95`, own?.p95, p95))
    if (p99 !== undefined) bars.push(judgeLatency(`${workload.name}, p99`, own?.p99, p99))
  }
  return bars
}

function judgeStatements(name: string, counted: number, allowed: number | { most: number }): Bar {
  const bar = { what: `${name}, statements a request`, is: counted.toFixed(3) }
  if (typeof allowed === 'number') return { ...bar, must: `= ${allowed}`, held: Math.abs(counted - allowed) < 0.0005 }
  return { ...bar, must: `≤ ${allowed.most}`, held: counted < allowed.most + 0.0005 }
}

/** No answer at all is not a fast one. */
function judgeLatency(what: string, is: number | undefined, most: number): Bar {
  return {
    what,
    is: is === undefined ? 'unknown' : `${is.toFixed(1)} ms`,
    must: `≤ ${most} ms`,
    held: is !== undefined && is <= most,
  }
}
