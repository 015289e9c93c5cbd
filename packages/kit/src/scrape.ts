import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { copySeries, type Family, type HistogramSeries, type Over, type Series, type Snapshot, separator } from './metrics.ts'

const gather: Record<Over, (one: number, other: number) => number> = {
  sum: (one, other) => one + other,
  max: Math.max,
  min: Math.min,
}

/**
 * One snapshot of several worker processes. Counters of a worker that ended are worth keeping (`withoutGauges` of its last
 * snapshot), for a sum that falls looks like a restart to whoever draws rates from it.
 */
export function mergeSnapshots(snapshots: Snapshot[]): Snapshot {
  const families = new Map<string, Family>()
  const known = new Map<string, Series | HistogramSeries>()
  for (const family of snapshots.flat()) {
    const merged: Family = families.get(family.name) ?? { ...family, series: [] }
    families.set(family.name, merged)
    for (const series of family.series) {
      const key = [family.name, ...series.values].join(separator)
      const into = known.get(key)
      if (into) {
        mergeSeries(into, series, family.kind === 'gauge' ? family.over : 'sum')
      } else {
        const own = copySeries<Series | HistogramSeries>(series)
        known.set(key, own)
        merged.series.push(own as Series & HistogramSeries)
      }
    }
  }
  return [...families.values()]
}

function mergeSeries(into: Series | HistogramSeries, from: Series | HistogramSeries, over: Over): void {
  if ('value' in into && 'value' in from) into.value = gather[over](into.value, from.value)
  if ('counts' in into && 'counts' in from) {
    into.counts = into.counts.map((count, bucket) => count + (from.counts[bucket] ?? 0))
    into.sum += from.sum
  }
}

/** What a worker that ended leaves behind. */
export function withoutGauges(snapshot: Snapshot): Snapshot {
  return snapshot.filter(({ kind }) => kind !== 'gauge')
}

const suffixes: Record<string, string> = { s: '_seconds', By: '_bytes' }

/** https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format, version 0.0.4. */
export function prometheusText(snapshot: Snapshot): string {
  let text = ''
  for (const family of snapshot) {
    const name = prometheusName(family)
    text += `# HELP ${name} ${family.help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}\n# TYPE ${name} ${family.kind}\n`
    const labels = family.labels.map((label) => label.replaceAll(/[^a-zA-Z0-9_]/g, '_'))
    if (family.kind !== 'histogram') {
      for (const { values, value } of family.series) text += `${name}${braces(pairs(labels, values))} ${decimal(value)}\n`
      continue
    }
    const bounds = [...family.bounds.map((bound) => `le="${bound}"`), 'le="+Inf"']
    for (const { values, counts, sum } of family.series) {
      const own = pairs(labels, values)
      const before = own && `${own},`
      let seen = 0
      for (const [bucket, count] of counts.entries()) {
        seen += count
        text += `${name}_bucket{${before}${bounds[bucket]}} ${seen}\n`
      }
      text += `${name}_sum${braces(own)} ${decimal(sum)}\n${name}_count${braces(own)} ${seen}\n`
    }
  }
  return text
}

/** As OpenTelemetry's own exporter translates: `http.server.request.duration` in `s` is `http_server_request_duration_seconds`. */
function prometheusName({ name, unit, kind }: Family): string {
  const plain = name.replaceAll('.', '_')
  const suffix = suffixes[unit] ?? ''
  const measured = plain.endsWith(suffix) ? plain : plain + suffix
  return kind === 'counter' && !measured.endsWith('_total') ? `${measured}_total` : measured
}

function pairs(labels: readonly string[], values: readonly (string | number)[]): string {
  return labels.map((label, position) => `${label}="${escaped(values[position])}"`).join(',')
}

function braces(inner: string): string {
  return inner && `{${inner}}`
}

function escaped(value: string | number | undefined): string {
  return String(value).replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}

/** A reading that is not finite is `null` once it came through JSON from another process. */
function decimal(value: number): string {
  return Number.isFinite(value) ? String(value) : 'NaN'
}

export type Scrape = { port: number; close(): Promise<void> }

/** Answers every path, as scrapers are pointed at `/` and at `/metrics`. Whoever reaches the port may read: bind it accordingly. */
export async function serveScrape(settings: {
  host: string
  port: number
  collect: () => Promise<Snapshot> | Snapshot
  warn?: (message: string) => void
}): Promise<Scrape> {
  const server = createServer(async (request, response) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.writeHead(405, { Allow: 'GET, HEAD' }).end()
      return
    }
    try {
      const text = prometheusText(await settings.collect())
      response.writeHead(200, { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' }).end(text)
    } catch (error) {
      // Why it failed is for the operator, not for everybody who reaches this port.
      settings.warn?.(`metrics: could not be collected for a scrape: ${error}`)
      response.writeHead(500).end()
    }
  })
  server.listen(settings.port, settings.host)
  // Rejects with the listener's own error: a taken port keeps its code EADDRINUSE.
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
