import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { setImmediate } from 'node:timers/promises'

/** `waiting`: not a byte was sent. `begun`: content was, without its end. `over`: the end, too, or it is about to be. */
type Stage = 'waiting' | 'begun' | 'over'

/** Holds back the end of a mail, which is what makes a server take it, until it is known that it may go out. */
export type HandOver = {
  /** The content of the mail, as the connection reads it. */
  stream(content: Readable): Readable
  stage(): Stage
  /** From here on the end does not go out any more, if it has not yet. */
  stop(): Stage
  /** Resolves when what had been begun before the end has come to its own. */
  settled(): Promise<void>
  /** Why the end was not let out. */
  refusal(): { cause: unknown } | undefined
}

export function createHandOver(before: () => Promise<void> = async () => {}): HandOver {
  let stage: Stage = 'waiting'
  let stopped = false
  let refusal: { cause: unknown } | undefined
  let ending = Promise.resolve()

  async function end(stream: Readable): Promise<void> {
    // By then, what was read has been written to the connection.
    await setImmediate()
    if (stopped || stream.destroyed) return
    try {
      await before()
    } catch (cause) {
      refusal = { cause }
      // Not with the cause itself, on which the library writes its own remarks.
      stream.destroy(new Error('The mail was held back'))
      return
    }
    if (stopped || stream.destroyed) return
    stage = 'over'
    stream.push(null)
  }

  return {
    stream(content) {
      // In one piece: of several, some might still wait for the connection when the last one has been read.
      const whole = buffer(content)
      // Told to whoever reads, if anybody does.
      whole.catch(() => {})
      let given = false
      return new Readable({
        // First asked for when the server has agreed to everything else.
        read() {
          if (given) {
            ending = end(this)
            return
          }
          if (stopped || stage !== 'waiting') {
            this.destroy(new Error('The mail was sent already'))
            return
          }
          given = true
          stage = 'begun'
          whole.then(
            (bytes) => this.push(bytes),
            (problem) => this.destroy(problem),
          )
        },
      })
    },
    stage: () => stage,
    stop() {
      stopped = true
      return stage
    },
    settled: () => ending,
    refusal: () => refusal,
  }
}
