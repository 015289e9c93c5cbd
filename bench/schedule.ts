import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Pace } from './pacer.ts'

/** When requests are to be sent. */
export type Schedule = {
  /** The moment from which the next request counts, or undefined when none is due now. */
  next(now: number): number | undefined
  /** Nothing will be due any more. */
  over(now: number): boolean
  stop(): Promise<void>
}

/** As soon as the answer before it has come. */
export function closedLoop(seconds: number): Schedule {
  const end = performance.now() + seconds * 1000
  return {
    next: (now) => (now < end ? now : undefined),
    over: (now) => now >= end,
    async stop() {},
  }
}

/**
 * At a fixed rate, however long answers take. A request counts from when it should have been sent, so that a server that stalls
 * does not hide the requests that had to wait meanwhile.
 */
export async function openLoop(pace: Pace, onDue: () => void): Promise<Schedule> {
  const pacer = new Worker(new URL('./pacer.ts', import.meta.url), { workerData: pace })
  await once(pacer, 'message')
  let due = 0
  let taken = 0
  let over = false
  pacer.on('message', (word: number | 'over') => {
    if (word === 'over') over = true
    else due += word
    onDue()
  })
  const start = performance.now()
  pacer.postMessage(process.hrtime.bigint())
  return {
    next() {
      if (taken === due) return undefined
      const intended = start + (taken / pace.rate) * 1000
      taken += 1
      return intended
    },
    over: () => over && taken === due,
    async stop() {
      await pacer.terminate()
    },
  }
}
