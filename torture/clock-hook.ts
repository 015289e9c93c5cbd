import { readFileSync } from 'node:fs'

/**
 * Loaded into the service before anything else, by `node --import`: its clock goes wrong as a file says, and nothing else of it does. Timers
 * are not concerned, as with a machine whose clock is set.
 */
const file = process.env.TORTURE_CLOCK ?? ''
const RealDate = Date
let offset = 0

/** Workers take their number from the list by their process id, so that those of one service can disagree. */
function look() {
  try {
    const offsets: number[] = JSON.parse(readFileSync(file, 'utf8'))
    offset = offsets[process.pid % offsets.length] ?? 0
  } catch {
    // It is just being written.
  }
}

look()
setInterval(look, 20).unref()

globalThis.Date = new Proxy(RealDate, {
  construct: (target, words, made) =>
    words.length === 0 ? new RealDate(RealDate.now() + offset) : Reflect.construct(target, words, made),
  get: (target, name, receiver) => (name === 'now' ? () => RealDate.now() + offset : Reflect.get(target, name, receiver)),
})
