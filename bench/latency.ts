/** How many requests took how long, in buckets that grow with the time they stand for: 1.1 % wide, from 1 µs to over an hour. */
export type Latencies = Uint32Array

const bucketsPerDoubling = 64
const doublings = 32

export function createLatencies(): Latencies {
  return new Uint32Array(bucketsPerDoubling * doublings)
}

export function record(latencies: Latencies, milliseconds: number) {
  const bucket = milliseconds <= 0.001 ? 0 : Math.floor(Math.log2(milliseconds * 1000) * bucketsPerDoubling)
  const index = Math.min(bucket, latencies.length - 1)
  latencies[index] = (latencies[index] ?? 0) + 1
}

export function mergeLatencies(many: readonly Latencies[]): Latencies {
  const sum = createLatencies()
  for (const latencies of many) for (const [index, count] of latencies.entries()) sum[index] = (sum[index] ?? 0) + count
  return sum
}

/** In milliseconds: the time within which this share of the requests was answered, or undefined when there were none. */
export function percentile(latencies: Latencies, share: number): number | undefined {
  const total = latencies.reduce((sum, count) => sum + count, 0)
  if (total === 0) return undefined
  let seen = 0
  const index = latencies.findIndex((count) => {
    seen += count
    return seen >= total * share
  })
  return 2 ** ((index + 1) / bucketsPerDoubling) / 1000
}
