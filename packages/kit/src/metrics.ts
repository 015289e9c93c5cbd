/** How a gauge of several worker processes becomes one: memory adds up, a delay is as bad as the worst, a start is the earliest. */
export type Over = 'sum' | 'max' | 'min'

type Value = string | number
type Values<L extends readonly string[]> = { [K in keyof L]: Value }

export type Series = { values: Value[]; value: number }
/** `counts[i]` holds the observations up to `bounds[i]` and above the bound before; the last one those above all bounds. */
export type HistogramSeries = { values: Value[]; counts: number[]; sum: number }

type Described = { name: string; help: string; unit: string; labels: readonly string[] }
export type Family =
  | (Described & { kind: 'counter'; series: Series[] })
  | (Described & { kind: 'gauge'; over: Over; series: Series[] })
  | (Described & { kind: 'histogram'; bounds: readonly number[]; series: HistogramSeries[] })

/** Plain data, so that a worker can send it to its supervisor. */
export type Snapshot = Family[]

/**
 * Names and labels in OpenTelemetry's spelling (`http.route`); a scrape shows them in Prometheus' (`http_route`, with the unit and
 * `_total` appended). Units are UCUM: `s`, `By`, or nothing.
 */
type Declaration = { name: string; help: string; unit?: '' | 's' | 'By' }
type Labelled<L extends readonly string[]> = Declaration & { labels: L }
/** What is read at collection carries the same label values for ever; several readings may share a name. */
type Read = Declaration & { values?: Record<string, Value> }

export type Counter<L extends readonly string[]> = { add(amount: number, ...values: Values<L>): void }
export type Histogram<L extends readonly string[]> = { observe(value: number, ...values: Values<L>): void }

export type Metrics = {
  counter<const L extends readonly string[]>(declaration: Labelled<L>): Counter<L>
  histogram<const L extends readonly string[]>(declaration: Labelled<L> & { bounds?: readonly number[] }): Histogram<L>
  /** A counter that somebody else keeps: `read` answers its total so far. */
  total(declaration: Read, read: () => number): void
  gauge(declaration: Read & { over: Over }, read: () => number): void
  snapshot(): Snapshot
}

/** OpenTelemetry's bounds for HTTP durations, and two below them, because most of our answers take less than 5 ms. */
const durations = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]

/** Joins label values to a key. */
export const separator = '\u0000'

export function createMetrics({ seriesLimit = 2000 } = {}): Metrics {
  const families = new Map<string, Family>()
  const readings: { series: Series; read: () => number }[] = []

  function declare<F extends Family>(family: F): F {
    if (!/^[a-zA-Z][a-zA-Z0-9_.]*$/.test(family.name)) throw new Error(`${family.name} is no name for a metric`)
    if (families.has(family.name)) throw new Error(`the metric ${family.name} is declared twice`)
    families.set(family.name, family)
    return family
  }

  /** Finds the series of some label values; beyond the limit there is none, so that no mistake with labels can fill the memory. */
  function finder<S extends { values: Value[] }>(family: { name: string; series: S[] }, begin: (values: Value[]) => S) {
    const known = new Map<string, S>()
    return (values: readonly Value[]): S | undefined => {
      const key = values.length === 1 ? String(values[0]) : values.join(separator)
      const found = known.get(key)
      if (found) return found
      if (known.size >= seriesLimit) {
        dropped.add(1, family.name)
        return undefined
      }
      const series = begin([...values])
      known.set(key, series)
      family.series.push(series)
      return series
    }
  }

  function counter<const L extends readonly string[]>({ labels, unit = '', ...named }: Labelled<L>): Counter<L> {
    const family = declare({ ...named, unit, labels, kind: 'counter', series: [] as Series[] })
    const find = finder(family, (values) => ({ values, value: 0 }))
    // Without labels the one series is there from the start: a rate over a counter that is yet to appear misses its first step.
    if (labels.length === 0) find([])
    return {
      add(amount, ...values) {
        // What is negative or not a number would spoil the sum for ever.
        if (!(amount >= 0)) return
        const series = find(values)
        if (series) series.value += amount
      },
    }
  }

  function histogram<const L extends readonly string[]>(declaration: Labelled<L> & { bounds?: readonly number[] }): Histogram<L> {
    const { labels, unit = '', bounds = durations, ...named } = declaration
    const family = declare({ ...named, unit, labels, kind: 'histogram', bounds, series: [] as HistogramSeries[] })
    const find = finder(family, (values) => ({ values, counts: new Array(bounds.length + 1).fill(0), sum: 0 }))
    return {
      observe(value, ...values) {
        if (!(value >= 0)) return
        const series = find(values)
        if (!series) return
        let bucket = 0
        while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket++
        series.counts[bucket] = (series.counts[bucket] as number) + 1
        series.sum += value
      },
    }
  }

  function reading(family: Family & { series: Series[] }, values: Value[], read: () => number) {
    const shared = families.get(family.name)
    const same = shared?.kind === family.kind && shared.labels.join(separator) === family.labels.join(separator)
    const { series } = same ? (shared as typeof family) : declare(family)
    const own = { values, value: 0 }
    series.push(own)
    readings.push({ series: own, read })
  }

  const dropped = counter({
    name: 'tollgate_metrics_dropped',
    help: 'Observations beyond the limit of series',
    labels: ['metric'],
  })

  return {
    counter,
    histogram,

    total({ values = {}, unit = '', ...named }, read) {
      reading({ ...named, unit, labels: Object.keys(values), kind: 'counter', series: [] }, Object.values(values), read)
    },

    gauge({ values = {}, unit = '', ...named }, read) {
      reading({ ...named, unit, labels: Object.keys(values), kind: 'gauge', series: [] }, Object.values(values), read)
    },

    snapshot() {
      for (const { series, read } of readings) series.value = read()
      return [...families.values()].map((family) => ({ ...family, series: family.series.map(copySeries) }) as Family)
    },
  }
}

/** Ten times as fast as structuredClone, while the event loop waits. */
export function copySeries<S extends Series | HistogramSeries>(series: S): S {
  return 'counts' in series ? { ...series, counts: [...series.counts] } : { ...series }
}

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'CONNECT', 'TRACE'])

export type HttpMetrics = {
  started(): void
  /** Without a route nothing matched the URL, which itself never becomes a label. */
  finished(request: { method: string; route: string | undefined; status: number; seconds: number }): void
}

export function httpMetrics(metrics: Metrics): HttpMetrics {
  let active = 0
  metrics.gauge({ name: 'http.server.active_requests', help: 'Requests being answered', over: 'sum' }, () => active)
  const codes = metrics.counter({ name: 'http_status_codes', help: 'Answers by status code', labels: ['code', 'http.route'] })
  const durations = metrics.histogram({
    name: 'http.server.request.duration',
    help: 'Time to answer',
    unit: 's',
    labels: ['http.request.method', 'http.route', 'http.response.status_code'],
  })
  return {
    started() {
      active++
    },
    finished({ method, route = 'unmatched', status, seconds }) {
      active--
      codes.add(1, status, route)
      durations.observe(seconds, methods.has(method) ? method : '_OTHER', route, status)
    },
  }
}
