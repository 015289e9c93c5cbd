import { createHash } from 'node:crypto'
import { Unavailable } from '@tollgate/kit/failure'
import type { Fetch } from '@tollgate/kit/fetch'
import type { Log } from '@tollgate/kit/log'

/** Whether a password is on the list of those that were stolen somewhere. */
export type BreachCheck = (password: string) => Promise<boolean>

export type BreachOptions = {
  fetch: Fetch
  /** `https://api.pwnedpasswords.com`, or a mirror of it. */
  base: string
  userAgent: string
  timeoutSeconds?: number
  /** Refuse to go on when the list cannot be asked. Otherwise a password that cannot be looked up passes. */
  failClosed?: boolean
  log: Log
}

/** Ranges are some 40 kB; whoever sends this much is not the list. */
const longestAnswer = 1_000_000

/**
 * https://haveibeenpwned.com/API/v3#PwnedPasswords: five digits of the hash go out, every hash that begins with them comes back,
 * and neither the list nor anybody on the way learns which one was meant.
 */
export function createBreachCheck(options: BreachOptions): BreachCheck {
  const { fetch, base, userAgent, timeoutSeconds = 5, failClosed = false, log } = options
  let outage = false

  async function readRange(prefix: string): Promise<string> {
    const answer = await fetch(`${base.replace(/\/+$/, '')}/range/${prefix}`, {
      // With padding, the length of an answer does not give the prefix away either.
      headers: { 'add-padding': 'true', 'user-agent': userAgent, accept: 'text/plain' },
      timeout: timeoutSeconds,
      limit: longestAnswer,
      // The path holds the digits, and an error ends up in the log.
      asked: 'the list of breached passwords',
    })
    if (answer.status !== 200) throw answer.trouble()
    return answer.text
  }

  return async (password) => {
    const hash = createHash('sha1').update(password).digest('hex').toUpperCase()
    try {
      const counts = readCounts(await readRange(hash.slice(0, 5)))
      if (outage) log.info('the list of breached passwords answers again')
      outage = false
      // What is there zero times is padding.
      return (counts.get(hash.slice(5)) ?? 0) > 0
    } catch (problem) {
      if (failClosed) throw new Unavailable('the list of breached passwords does not answer', { cause: problem })
      // Told once, not for every password that passes meanwhile.
      if (!outage) log.warn({ error: problem }, 'the list of breached passwords does not answer: passwords pass without it')
      outage = true
      return false
    }
  }
}

function readCounts(text: string): Map<string, number> {
  const lines = text.split(/\r?\n/).filter((line) => line !== '')
  return new Map(
    lines.map((line) => {
      const [, suffix, count] = /^([0-9A-Fa-f]{35}):(\d+)$/.exec(line) ?? []
      // Say, the sign-in page of a network, answered 200.
      if (suffix === undefined) throw new Error('the list of breached passwords answered something else than a list')
      return [suffix.toUpperCase(), Number(count)]
    }),
  )
}
