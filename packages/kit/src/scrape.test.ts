import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { assert, property, record, string } from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { createMetrics, httpMetrics, type Snapshot } from './metrics.ts'
import { mergeSnapshots, prometheusText, serveScrape, withoutGauges } from './scrape.ts'
import { runtimeMetrics } from './telemetry.ts'

type Sample = { name: string; labels: Record<string, string>; value: number }
type Parsed = { types: Map<string, string>; helps: Map<string, string>; samples: Sample[] }

/** As strict as https://prometheus.io/docs/instrumenting/exposition_formats/ lets one be. */
function parse(text: string): Parsed {
  const parsed: Parsed = { types: new Map(), helps: new Map(), samples: [] }
  expect(text.endsWith('\n')).toBe(true)
  for (const line of text.slice(0, -1).split('\n')) {
    const comment = /^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.*)$/s.exec(line)
    if (comment) {
      const [, word, name = '', rest = ''] = comment
      const known = word === 'HELP' ? parsed.helps : parsed.types
      if (known.has(name)) throw new Error(`${word} of ${name} twice`)
      if (word === 'TYPE' && !['counter', 'gauge', 'histogram'].includes(rest)) throw new Error(`type ${rest}`)
      known.set(name, rest)
      continue
    }
    const sample = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (NaN|[+-]Inf|-?[0-9.]+(?:e[+-]?[0-9]+)?)$/s.exec(line)
    if (!sample) throw new Error(`no sample: ${line}`)
    const [, name = '', labels, value] = sample
    const family = name.replace(/_(bucket|sum|count)$/, '')
    if (!parsed.types.has(name) && parsed.types.get(family) !== 'histogram') throw new Error(`${name} has no type`)
    parsed.samples.push({ name, labels: labels === undefined ? {} : parseLabels(labels), value: Number(value) })
  }
  const keys = parsed.samples.map(({ name, labels }) => JSON.stringify([name, labels]))
  expect(new Set(keys).size).toBe(keys.length)
  return parsed
}

function parseLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {}
  let rest = text
  while (rest !== '') {
    const pair = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\["\\n])*)"(?:,(?=.)|$)/su.exec(rest)
    if (!pair) throw new Error(`no labels: ${rest}`)
    const [whole, name = '', value = ''] = pair
    if (name in labels) throw new Error(`${name} twice`)
    labels[name] = value.replaceAll(/\\(.)/gs, (_, letter) => (letter === 'n' ? '\n' : letter))
    rest = rest.slice(whole.length)
  }
  return labels
}

function workerSnapshot(): Snapshot {
  const metrics = createMetrics()
  const http = httpMetrics(metrics)
  http.started()
  http.started()
  http.started()
  http.finished({ method: 'GET', route: '/user', status: 200, seconds: 0.004 })
  http.finished({ method: 'GET', route: '/user', status: 200, seconds: 80 })
  metrics.gauge({ name: 'lag', help: 'Lag', unit: 's', over: 'max' }, () => 0.5)
  metrics.gauge({ name: 'start', help: 'Start', unit: 's', over: 'min' }, () => 1000)
  // As it comes over the channel between two processes.
  return JSON.parse(JSON.stringify(metrics.snapshot()))
}

test('names, units and types are shown as Prometheus spells them', () => {
  const { types, samples } = parse(prometheusText(workerSnapshot()))
  expect(Object.fromEntries(types)).toMatchObject({
    http_status_codes_total: 'counter',
    http_server_request_duration_seconds: 'histogram',
    http_server_active_requests: 'gauge',
    lag_seconds: 'gauge',
  })
  expect(samples).toContainEqual({ name: 'http_status_codes_total', labels: { code: '200', http_route: '/user' }, value: 2 })
})

test('the buckets of a histogram never fall, and the last equals its count', () => {
  const { samples } = parse(prometheusText(workerSnapshot()))
  const labels = { http_request_method: 'GET', http_route: '/user', http_response_status_code: '200' }
  const named = (part: string) => samples.filter(({ name }) => name === `http_server_request_duration_seconds_${part}`)
  const buckets = named('bucket')
  expect(buckets.map(({ value }) => value)).toEqual([0, 0, ...new Array(14).fill(1), 2])
  const bounds = buckets.map(({ labels: { le } }) => Number(le?.replace('+Inf', 'Infinity')))
  expect(bounds).toEqual(bounds.toSorted((one, other) => one - other))
  expect(buckets.at(-1)?.labels).toEqual({ ...labels, le: '+Inf' })
  expect(named('count')).toEqual([{ name: 'http_server_request_duration_seconds_count', labels, value: 2 }])
  expect(named('sum')).toEqual([{ name: 'http_server_request_duration_seconds_sum', labels, value: 80.004 }])
})

test('quotes, newlines and backslashes survive in labels and in help', () => {
  const metrics = createMetrics()
  const odd = '"a"\n\\n\\'
  metrics.counter({ name: 'odd', help: 'one\ntwo \\n three', labels: ['value', 'other'] }).add(1, odd, 'plain')
  const { samples, helps } = parse(prometheusText(metrics.snapshot()))
  expect(samples).toContainEqual({ name: 'odd_total', labels: { value: odd, other: 'plain' }, value: 1 })
  expect(helps.get('odd_total')).toBe('one\\ntwo \\\\n three')
})

test('any label values survive', () => {
  const values = record({ one: string({ unit: 'grapheme' }), other: string({ unit: 'grapheme' }) })
  assert(
    property(values, ({ one, other }) => {
      const metrics = createMetrics()
      metrics.counter({ name: 'any', help: 'Any', labels: ['one', 'other'] }).add(1, one, other)
      expect(parse(prometheusText(metrics.snapshot())).samples).toEqual([{ name: 'any_total', labels: { one, other }, value: 1 }])
    }),
  )
})

test('a reading that is no number is shown as such instead of breaking the scrape', () => {
  const metrics = createMetrics()
  metrics.gauge({ name: 'odd', help: 'Odd', over: 'sum' }, () => Number.NaN)
  const sent: Snapshot = JSON.parse(JSON.stringify(metrics.snapshot()))
  expect(parse(prometheusText(sent)).samples).toEqual([{ name: 'odd', labels: {}, value: Number.NaN }])
})

test('the runtime of this process is shown under its known names', () => {
  const metrics = createMetrics()
  onTestFinished(runtimeMetrics(metrics, { service: 'tollgate-identity', version: '1.2.3' }))
  const { samples } = parse(prometheusText(metrics.snapshot()))
  const value = (name: string) => samples.find((sample) => sample.name === name)?.value
  expect(samples).toContainEqual({ name: 'tollgate_running', labels: {}, value: 1 })
  expect(samples).toContainEqual({
    name: 'tollgate_build_info',
    labels: { version: '1.2.3', service: 'tollgate-identity' },
    value: 1,
  })
  expect(value('process_cpu_seconds_total')).toBeGreaterThan(0)
  expect(value('process_resident_memory_bytes')).toBeGreaterThan(1e7)
  expect(value('nodejs_heap_size_used_bytes')).toBeGreaterThan(1e6)
  expect(Math.abs(Date.now() / 1000 - (value('process_start_time_seconds') ?? 0) - process.uptime())).toBeLessThan(5)
  expect(value('nodejs_eventloop_utilization')).toBeLessThanOrEqual(1)
  expect(value('nodejs_eventloop_lag_p99_seconds')).toBeGreaterThanOrEqual(0)
})

test('two workers are one: counters and histograms add up, each gauge in its own way', () => {
  const [first, second] = [workerSnapshot(), workerSnapshot()]
  for (const family of second)
    if (family.name === 'lag' || family.name === 'start') for (const each of family.series as { value: number }[]) each.value += 1
  const { samples } = parse(prometheusText(mergeSnapshots([first, second])))
  const value = (name: string) => samples.findLast((sample) => sample.name === name)?.value
  expect(value('http_status_codes_total')).toBe(4)
  expect(value('http_server_request_duration_seconds_bucket')).toBe(4)
  expect(value('http_server_request_duration_seconds_count')).toBe(4)
  expect(value('http_server_request_duration_seconds_sum')).toBeCloseTo(160.008)
  expect(value('http_server_active_requests')).toBe(2)
  expect(value('lag_seconds')).toBe(1.5)
  expect(value('start_seconds')).toBe(1000)
})

test('merging changes none of the snapshots, and keeps what only one worker has', () => {
  const [first, second] = [workerSnapshot(), [] as Snapshot]
  expect(mergeSnapshots([second, first])).toEqual(workerSnapshot())
  expect(mergeSnapshots([first, first, first]).find(({ name }) => name === 'http_status_codes')?.series).toMatchObject([
    { value: 6 },
  ])
  expect(first).toEqual(workerSnapshot())
})

test('a worker that ended leaves its counts and takes its gauges along', () => {
  const { samples } = parse(prometheusText(mergeSnapshots([workerSnapshot(), withoutGauges(workerSnapshot())])))
  expect(samples.find(({ name }) => name === 'http_status_codes_total')?.value).toBe(4)
  expect(samples.find(({ name }) => name === 'http_server_active_requests')?.value).toBe(1)
})

test('a scrape is answered at every path, but only to those who read', async () => {
  const scrape = await serveScrape({ host: '127.0.0.1', port: 0, collect: async () => workerSnapshot() })
  onTestFinished(() => scrape.close())
  for (const path of ['/', '/metrics']) {
    const answer = await fetch(`http://127.0.0.1:${scrape.port}${path}`)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(parse(await answer.text()).samples.length).toBeGreaterThan(10)
  }
  const refused = await fetch(`http://127.0.0.1:${scrape.port}/`, { method: 'POST' })
  expect(refused.status).toBe(405)
  expect(refused.headers.get('allow')).toBe('GET, HEAD')
})

test('a collection that fails is answered 500, with the reason for the operator alone', async () => {
  const warnings: string[] = []
  const collect = () => Promise.reject(new Error('worker 3 is silent'))
  const scrape = await serveScrape({ host: '127.0.0.1', port: 0, collect, warn: (message) => warnings.push(message) })
  onTestFinished(() => scrape.close())
  const answer = await fetch(`http://127.0.0.1:${scrape.port}/`)
  expect([answer.status, await answer.text()]).toEqual([500, ''])
  expect(warnings).toEqual(['metrics: could not be collected for a scrape: Error: worker 3 is silent'])
})

test('a taken port is refused with its code', async () => {
  const holder = createServer().listen(0, '127.0.0.1')
  await once(holder, 'listening')
  onTestFinished(() => void holder.close())
  const { port } = holder.address() as AddressInfo
  await expect(serveScrape({ host: '127.0.0.1', port, collect: () => [] })).rejects.toMatchObject({ code: 'EADDRINUSE' })
})

test('closing does not wait for a collection that hangs', async () => {
  const asked = Promise.withResolvers<void>()
  const collect = () => {
    asked.resolve()
    return new Promise<Snapshot>(() => {})
  }
  const scrape = await serveScrape({ host: '127.0.0.1', port: 0, collect })
  const answer = fetch(`http://127.0.0.1:${scrape.port}/`)
  await asked.promise
  await Promise.all([scrape.close(), expect(answer).rejects.toThrow()])
})
