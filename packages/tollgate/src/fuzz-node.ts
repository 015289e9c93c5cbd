import type { TestedService } from '@tollgate/kit/testing'
import type { Findings } from './fuzz-findings.ts'

/** A service that requests are sent to, and an app on the same database that sets the stage for them. */
export type FuzzNode<App> = Pick<TestedService<App>, 'app' | 'call' | 'origin' | 'now' | 'lines'> & {
  /** Lets time pass, for everybody. */
  advance(seconds: number): Promise<void>
  /** When it has come back, `lines` has all that was logged about answers that have come. */
  heard(): Promise<void>
}

/** The service of a test, which runs in the same process. */
export function nodeOf<App>(service: TestedService<App>): FuzzNode<App> {
  return { ...service, advance: async (seconds) => service.now.advance(seconds), heard: async () => {} }
}

/** Requests of one kind to one service, in batches; what comes of them is in the findings. */
export type Fuzzing = {
  findings: Findings
  /** The batch of this number, of so many requests: the same ones for the same seed. */
  send(batch: number, count: number): Promise<void>
  /** Looks at what all of them together have left. */
  finish(): Promise<void>
  close(): void
}

/** How many requests are under way at once. */
export const atOnce = 24

/** Works a list off from its end, several at a time. */
export async function inParallel<T>(list: T[], work: (each: T) => Promise<void>): Promise<void> {
  const workOn = async () => {
    for (let each = list.pop(); each !== undefined; each = list.pop()) await work(each)
  }
  await Promise.all(Array.from({ length: atOnce }, workOn))
}
