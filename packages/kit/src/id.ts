import { randomFillSync } from 'node:crypto'
import type { Clock } from './clock.ts'

const pool = Buffer.alloc(4096)
let used = pool.length

/** Random bytes as hex, drawn from a pool because one system call for each would cost more than the rest of the id. */
function randomHex(bytes: number): string {
  if (used + bytes > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += bytes
  return pool.toString('hex', used - bytes, used)
}

const largestCount = 0x3fff
const largestStart = 0x1fff

/**
 * Mints ids of 24 hex digits: 4 bytes of seconds, 2 bytes of tag, 6 bytes that only grow.
 *
 * The last six are the millisecond inside the second (10 bits), a count inside the millisecond (14 bits) and 3 bytes drawn
 * anew for every millisecond: ids of one process and tag are in strict order, ids of several processes are in order by the
 * millisecond. Two processes that mint for one tag in the same millisecond meet only if they draw the same 3 bytes and
 * their counts, which begin anywhere, overlap. A clock that is set back does not make ids shrink, and more of them than a
 * millisecond holds run ahead of the clock.
 */
export function createIds(now: Clock): (tag: string) => string {
  let latest = 0
  let count = 0
  let tail = ''
  const begin = (moment: number) => {
    latest = moment
    count = Number.parseInt(randomHex(2), 16) & largestStart
    tail = randomHex(3)
  }
  return (tag) => {
    const moment = now().getTime()
    if (moment > latest) begin(moment)
    else if (++count > largestCount) begin(latest + 1)
    const seconds = Math.floor(latest / 1000)
    const grown = (latest % 1000) * (largestCount + 1) + count
    return seconds.toString(16).padStart(8, '0') + tag + grown.toString(16).padStart(6, '0') + tail
  }
}

/** The two-byte tag of an id: what belongs together (a merchant and all that is theirs) shares it. */
export function tagOf(id: string): string {
  return id.slice(8, 12)
}

export function randomTag(): string {
  return randomHex(2)
}

export function isId(text: string): boolean {
  return /^[0-9a-f]{24}$/.test(text)
}
