import { setTimeout as sleep } from 'node:timers/promises'
import { Unavailable } from './failure.ts'

/** Longer than a database takes to start again; shorter than callers wait. */
const patience = 10_000

const longestPause = 1_000

/**
 * Does something again while there is an outage, for some seconds: for what nobody else knows, and would be forgotten with this request.
 * Whatever it is has to be harmless when it is done twice, because an answer may be lost as well.
 */
export async function insist<T>(attempt: () => Promise<T>, { within = patience }: { within?: number } = {}): Promise<T> {
  const deadline = performance.now() + within
  for (let pause = 20; ; pause = Math.min(2 * pause, longestPause)) {
    try {
      return await attempt()
    } catch (problem) {
      if (!(problem instanceof Unavailable) || performance.now() + pause > deadline) throw problem
      await sleep(pause)
    }
  }
}
