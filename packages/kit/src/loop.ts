import type { Log } from './log.ts'

export type Loop = { stop(): Promise<void> }

/**
 * Does something again and again, with a pause of some seconds after each time. What it throws is told once, not every time, and the
 * next time comes all the same.
 */
export function repeat(
  what: string,
  work: () => Promise<void>,
  { every, log, atOnce = false }: { every: number; log: Log; atOnce?: boolean },
): Loop {
  let stopping = false
  let failing = false
  let wake = () => {}

  async function once() {
    try {
      await work()
      if (failing) log.info(`${what}: works again`)
      failing = false
    } catch (error) {
      if (!failing) log.error({ error }, `${what}: failed, and is tried again`)
      failing = true
    }
  }

  function pause(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, every * 1000)
      timer.unref()
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  async function loop() {
    if (!atOnce) await pause()
    while (!stopping) {
      await once()
      if (!stopping) await pause()
    }
  }

  const ended = loop()
  return {
    async stop() {
      stopping = true
      wake()
      await ended
    },
  }
}
