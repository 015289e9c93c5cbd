import { Busy } from '@tollgate/kit/failure'

export type QueueStats = { running: number; waiting: number; refused: number }

export type Queue = {
  run<Result>(work: () => Promise<Result>): Promise<Result>
  stats(): QueueStats
}

/** First come, first served, so many at once; whoever finds it full is sent away rather than kept for longer than they would wait. */
export function createQueue({ concurrency, bound }: { concurrency: number; bound: number }): Queue {
  const waiting: (() => void)[] = []
  let running = 0
  let refused = 0

  async function enter(): Promise<void> {
    if (running < concurrency) {
      running++
      return
    }
    if (waiting.length >= bound) {
      refused++
      throw new Busy('too many passwords wait to be hashed')
    }
    await new Promise<void>((resolve) => waiting.push(resolve))
  }

  /** Hands the place over, so that nobody who comes between can overtake. */
  function leave() {
    const next = waiting.shift()
    if (next) next()
    else running--
  }

  return {
    async run(work) {
      await enter()
      try {
        return await work()
      } finally {
        leave()
      }
    },
    stats: () => ({ running, waiting: waiting.length, refused }),
  }
}
