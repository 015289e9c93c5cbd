/** Numbers that look like chance and are the same for the same seed. */
export type Random = {
  /** From 0 up to, but not including, 1. */
  next(): number
  /** A whole number, both ends included. */
  between(least: number, most: number): number
  chance(probability: number): boolean
  pick<T>(from: readonly T[]): T
  shuffled<T>(list: readonly T[]): T[]
  /** Another one, whose numbers do not depend on how many are taken from this one later. */
  fork(): Random
}

/** Mulberry32: small, quick and good enough to choose what to break next. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const between = (least: number, most: number) => least + Math.floor(next() * (most - least + 1))
  return {
    next,
    between,
    chance: (probability) => next() < probability,
    pick: (from) => from[between(0, from.length - 1)] as (typeof from)[number],
    shuffled(list) {
      const mixed = [...list]
      for (let last = mixed.length - 1; last > 0; last--) {
        const other = between(0, last)
        ;[mixed[last], mixed[other]] = [mixed[other] as (typeof list)[number], mixed[last] as (typeof list)[number]]
      }
      return mixed
    },
    fork: () => createRandom(between(0, 2 ** 32 - 1)),
  }
}
