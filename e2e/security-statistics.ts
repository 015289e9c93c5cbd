/** Whether two samples come from one source, for tests that must fail once in a lifetime by chance and not once in fifty runs. */

/**
 * No more than how likely it is that samples this far apart come from one source: the rank test of Mann and Whitney, both ways, by Chernoff's
 * bound of both tails of the normal distribution, which is more than there is under them. Values that are alike share their rank.
 */
export function likelihood(one: readonly number[], other: readonly number[]): number {
  const all = [...one.map((value) => ({ value, own: true })), ...other.map((value) => ({ value, own: false }))]
  all.sort((a, b) => a.value - b.value)
  let ranks = 0
  for (let from = 0; from < all.length; ) {
    let to = from
    while (to < all.length && all[to]?.value === all[from]?.value) to++
    ranks += all.slice(from, to).filter(({ own }) => own).length * ((from + 1 + to) / 2)
    from = to
  }
  const wins = ranks - (one.length * (one.length + 1)) / 2
  const pairs = one.length * other.length
  const deviations = Math.abs(wins - pairs / 2) / Math.sqrt((pairs * (one.length + other.length + 1)) / 12)
  return Math.min(1, 2 * Math.exp(-(deviations ** 2) / 2))
}

export function median(sample: readonly number[]): number {
  return sample.toSorted((a, b) => a - b)[Math.floor(sample.length / 2)] ?? 0
}

export function shuffled<T>(items: readonly T[]): T[] {
  const placed = items.map((item) => ({ item, place: Math.random() }))
  return placed.toSorted((a, b) => a.place - b.place).map(({ item }) => item)
}
