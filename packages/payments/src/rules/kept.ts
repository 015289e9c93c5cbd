/** What was looked up before, by a text. */
export type Kept<T> = { find(key: string): T | undefined; keep(key: string, value: T): void }

/**
 * Keeps at most so many, those that were last asked for among them. Two generations instead of a list in order of use: when the young one is
 * full it becomes the old one, and what nobody has asked for since then is forgotten.
 */
export function createKept<T>(most: number): Kept<T> {
  let young = new Map<string, T>()
  let old = new Map<string, T>()

  function keep(key: string, value: T): void {
    if (young.size >= most / 2 && !young.has(key)) {
      old = young
      young = new Map()
    }
    young.set(key, value)
  }

  return {
    find(key) {
      const recent = young.get(key)
      if (recent !== undefined) return recent
      const earlier = old.get(key)
      if (earlier !== undefined) keep(key, earlier)
      return earlier
    },
    keep,
  }
}
