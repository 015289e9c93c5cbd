import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** From when to when, in milliseconds since the run began. */
export type Span = { from: number; to: number }

export type TorturedClock = {
  /** What Node is told so that a service lives by this clock. */
  words: string[]
  env: Record<string, string>
  /** Sets the clocks of workers so many milliseconds off; they take turns with the numbers. */
  set(offsets: readonly number[]): void
  right(): void
  /** Sets all of them so far ahead that nothing has happened in their future, and so much further. */
  ahead(more: number): void
  /** When any of them was wrong. */
  wrong(): Span[]
}

/** A worker looks at the file this often, and may be busy when it should. */
const margin = 500

/** The clock of a service, which is another one than that of the machine. */
export function createClock(folder: string, now: () => number): TorturedClock {
  const file = join(folder, 'clock.json')
  const spans: Span[] = []
  let furthest = 0
  const write = (offsets: readonly number[]) => {
    furthest = Math.max(furthest, ...offsets)
    writeFileSync(file, JSON.stringify(offsets))
  }
  const close = () => {
    const last = spans.at(-1)
    if (last?.to === Number.POSITIVE_INFINITY) last.to = now() + margin
  }
  write([0])
  return {
    words: ['--import', pathToFileURL(join(import.meta.dirname, 'clock-hook.ts')).href],
    env: { TORTURE_CLOCK: file },
    set(offsets) {
      close()
      spans.push({ from: now() - margin, to: Number.POSITIVE_INFINITY })
      write(offsets)
    },
    right() {
      close()
      write([0])
    },
    ahead(more) {
      close()
      spans.push({ from: now() - margin, to: Number.POSITIVE_INFINITY })
      write([furthest + more])
    },
    wrong: () => spans,
  }
}
