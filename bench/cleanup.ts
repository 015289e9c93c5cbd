/** What has been started and must be ended, whatever happens; the last first. */
export type Cleanup = { later(end: () => unknown): void; now(): Promise<void> }

export function createCleanup(): Cleanup {
  const ends: (() => unknown)[] = []
  let over = false
  return {
    later(end) {
      if (!over) return void ends.push(end)
      // Somebody was in the middle of starting something when all was called off, and would go on to the next thing.
      void endAll([end])
      throw new Error('called off')
    },
    async now() {
      over = true
      await endAll(ends)
    },
  }
}

async function endAll(ends: (() => unknown)[]) {
  for (let end = ends.pop(); end; end = ends.pop()) {
    try {
      await end()
    } catch (problem) {
      console.error(`bench: cleaning up: ${(problem as Error).message}`)
    }
  }
}
