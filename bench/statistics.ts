export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

/** The bounds of the middle half, which a single disturbed round does not move. Of three values or fewer: all of them. */
export function middleHalf(values: readonly number[]): [number, number] {
  const sorted = values.toSorted((one, other) => one - other)
  const aside = Math.floor(sorted.length / 4)
  return [sorted[aside] ?? Number.NaN, sorted.at(-1 - aside) ?? Number.NaN]
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

export function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`
}
