/** The known word that a misspelt one most likely stands for, or undefined when none is near. */
export function closest(word: string, known: Iterable<string>): string | undefined {
  let best: string | undefined
  let distance = Math.min(5, Math.ceil(word.length / 4)) + 1
  for (const candidate of known) {
    const away = edits(word, candidate)
    if (away < distance) {
      best = candidate
      distance = away
    }
  }
  return best
}

/** Letters to add, drop, replace or swap with their neighbour to get from one word to the other. */
function edits(from: string, to: string): number {
  let older: number[] = []
  let row = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let line = 1; line <= from.length; line++) {
    const next = [line]
    for (let column = 1; column <= to.length; column++) {
      const same = from[line - 1] === to[column - 1] ? 0 : 1
      const ways = [at(row, column) + 1, at(next, column - 1) + 1, at(row, column - 1) + same]
      const swapped = line > 1 && column > 1 && from[line - 1] === to[column - 2] && from[line - 2] === to[column - 1]
      if (swapped) ways.push(at(older, column - 2) + 1)
      next.push(Math.min(...ways))
    }
    older = row
    row = next
  }
  return at(row, to.length)
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? 0
}
