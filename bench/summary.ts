import type { ColdStart } from './cold-start.ts'
import { mergeLatencies, percentile } from './latency.ts'
import { addErrors, type Measured } from './measure.ts'
import { median, percent, sum } from './statistics.ts'

/** What all rounds of a workload amount to. Costs are processor time a request, latencies milliseconds. */
export type Summary = ReturnType<typeof summarise>

export function summarise({ workload, rounds, remarks, doubt }: Measured) {
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
    statements: perRequest(rounds.map((round) => round.statements)),
    errors: rounds.map((round) => round.errors).reduce(addErrors, doubted(doubt?.())),
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

export type Bar = { what: string; is: string; must: string; held: boolean }

export function judge(
  measured: readonly Measured[],
  {
    summaries,
    comparisons,
    coldStart,
  }: { summaries: readonly Summary[]; comparisons: readonly Comparison[]; coldStart: ColdStart },
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
  const { medianSeconds, idleMegabytes } = coldStart
  bars.push({ what: 'cold start', is: `${medianSeconds.toFixed(3)} s`, must: '≤ 0.6 s', held: medianSeconds <= 0.6 })
  if (idleMegabytes !== undefined)
    bars.push({ what: 'idle memory', is: `${idleMegabytes.toFixed(1)} MB`, must: '≤ 90 MB', held: idleMegabytes <= 90 })
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

export type Goal = { what: string; is: number; aim: number }

/** How far it is to what is aimed at. Where the rate was given, or processor time is not known, nothing can be said. */
export function lookAhead(measured: readonly Measured[], summaries: readonly Summary[], givenRate: number | undefined): Goal[] {
  return measured.flatMap(({ workload: { name, goals = {} } }) => {
    const own = summaries.find((summary) => summary.name === name)
    if (!own) return []
    const { perSecond, perProcessorSecond } = goals
    const cost =
      own.serverMicroseconds === undefined || own.databaseMicroseconds === undefined
        ? undefined
        : own.serverMicroseconds + own.databaseMicroseconds
    return [
      ...(perProcessorSecond === undefined || cost === undefined
        ? []
        : [{ what: `${name}, requests a processor second of server and database`, is: 1e6 / cost, aim: perProcessorSecond }]),
      ...(perSecond === undefined || givenRate !== undefined
        ? []
        : [{ what: `${name}, requests/s`, is: median(own.requestsPerSecond), aim: perSecond }]),
    ]
  })
}
