import { expect, test } from 'vitest'
import { createMetrics, type Family, httpMetrics, type Metrics } from './metrics.ts'

function familyOf(metrics: Metrics, name: string): Family | undefined {
  return metrics.snapshot().find((family) => family.name === name)
}

test('a counter adds up each set of labels by itself', () => {
  const metrics = createMetrics()
  const sent = metrics.counter({ name: 'sent', help: 'Messages sent', labels: ['type', 'way'] })
  sent.add(1, 'recovery', 'mail')
  sent.add(2, 'recovery', 'mail')
  sent.add(1, 'recovery', 'sms')
  expect(familyOf(metrics, 'sent')?.series).toEqual([
    { values: ['recovery', 'mail'], value: 3 },
    { values: ['recovery', 'sms'], value: 1 },
  ])
})

test('a counter without labels is there, at zero, before its first step', () => {
  const metrics = createMetrics()
  metrics.counter({ name: 'sent', help: 'Messages sent', labels: [] })
  expect(familyOf(metrics, 'sent')?.series).toEqual([{ values: [], value: 0 }])
})

test('an observation on a bound belongs to its bucket, one above all bounds to the last', () => {
  const metrics = createMetrics()
  const sizes = metrics.histogram({ name: 'sizes', help: 'Sizes', labels: [], bounds: [1, 5] })
  for (const size of [0, 1, 1.1, 5, 6, 700]) sizes.observe(size)
  expect(familyOf(metrics, 'sizes')?.series).toEqual([{ values: [], counts: [2, 2, 2], sum: 713.1 }])
})

test('what is negative or not a number is not counted', () => {
  const metrics = createMetrics()
  const sent = metrics.counter({ name: 'sent', help: 'Messages sent', labels: [] })
  const sizes = metrics.histogram({ name: 'sizes', help: 'Sizes', labels: [], bounds: [1] })
  for (const wrong of [Number.NaN, -1]) {
    sent.add(wrong)
    sizes.observe(wrong)
  }
  expect(familyOf(metrics, 'sent')?.series).toEqual([{ values: [], value: 0 }])
  expect(familyOf(metrics, 'sizes')?.series).toEqual([])
})

test('gauges and totals are read at collection, and may share a name under different labels', () => {
  const metrics = createMetrics()
  let idle = 1
  const connections = { name: 'connections', help: 'Connections', over: 'sum' } as const
  metrics.gauge({ ...connections, values: { state: 'idle' } }, () => idle)
  metrics.gauge({ ...connections, values: { state: 'busy' } }, () => 7)
  metrics.total({ name: 'spent', help: 'Time spent', unit: 's' }, () => idle * 10)
  idle = 2
  expect(familyOf(metrics, 'connections')?.series).toEqual([
    { values: ['idle'], value: 2 },
    { values: ['busy'], value: 7 },
  ])
  expect(familyOf(metrics, 'spent')).toMatchObject({ kind: 'counter', unit: 's', series: [{ value: 20 }] })
})

test('series beyond the limit are dropped and the drops counted', () => {
  const metrics = createMetrics({ seriesLimit: 3 })
  const hits = metrics.counter({ name: 'hits', help: 'Hits', labels: ['route'] })
  for (let route = 0; route < 10; route++) hits.add(1, `/${route}`)
  hits.add(1, '/0')
  expect(familyOf(metrics, 'hits')?.series.map(({ values }) => values[0])).toEqual(['/0', '/1', '/2'])
  expect(familyOf(metrics, 'tollgate_metrics_dropped')?.series).toEqual([{ values: ['hits'], value: 7 }])
})

test('a name declared twice, or one that no exporter would take, is refused', () => {
  const metrics = createMetrics()
  metrics.counter({ name: 'hits', help: 'Hits', labels: ['route'] })
  expect(() => metrics.counter({ name: 'hits', help: 'Hits', labels: ['route'] })).toThrow('declared twice')
  expect(() => metrics.gauge({ name: 'hits', help: 'Hits', over: 'sum' }, () => 1)).toThrow('declared twice')
  expect(() => metrics.counter({ name: 'hits per route', help: 'Hits', labels: [] })).toThrow('no name')
})

test('a snapshot does not change afterwards', () => {
  const metrics = createMetrics()
  const hits = metrics.counter({ name: 'hits', help: 'Hits', labels: [] })
  const before = metrics.snapshot()
  hits.add(5)
  expect(before.find(({ name }) => name === 'hits')?.series).toEqual([{ values: [], value: 0 }])
})

test('an answered request counts under its method, route and status; what matched no route under one name', () => {
  const metrics = createMetrics()
  const http = httpMetrics(metrics)
  http.started()
  http.started()
  http.started()
  http.finished({ method: 'GET', route: '/admin/users/{user_id}', status: 200, seconds: 0.004 })
  http.finished({ method: 'BREW', route: undefined, status: 404, seconds: 0.001 })
  expect(familyOf(metrics, 'http_status_codes')?.series).toEqual([
    { values: [200, '/admin/users/{user_id}'], value: 1 },
    { values: [404, 'unmatched'], value: 1 },
  ])
  expect(familyOf(metrics, 'http.server.request.duration')?.series).toMatchObject([
    { values: ['GET', '/admin/users/{user_id}', 200], sum: 0.004 },
    { values: ['_OTHER', 'unmatched', 404], sum: 0.001 },
  ])
  expect(familyOf(metrics, 'http.server.active_requests')?.series).toEqual([{ values: [], value: 1 }])
})
