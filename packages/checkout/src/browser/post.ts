/** The service has spoken: it will say the same however often it is asked. */
export class Refused extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/** Nobody knows whether the request arrived. */
export class Unanswered extends Error {}

/** Milliseconds before each try. */
const pauses = [0, 100, 2000, ...Array<number>(7).fill(10_000)]

const longestTry = 10_000

export type Post = <Answer>(path: string, body: unknown) => Promise<Answer>

export type Surroundings = {
  fetch: typeof fetch
  /** Ends early when there is reason to think that another try fares better. */
  pause(milliseconds: number): Promise<void>
  /** Told when an answer stays away, and when answers come again. */
  troubled(is: boolean): void
}

/** Sends to this very origin, again and again while there is no answer: everything that is sent here may be sent twice. */
export function poster({ fetch, pause, troubled }: Surroundings): Post {
  return async <Answer>(path: string, body: unknown) => {
    let wait = 0
    for (const [index, usual] of pauses.entries()) {
      if (index > 0) {
        troubled(true)
        await pause(Math.max(usual, wait))
      }
      const answer = await trySend(fetch, path, body)
      if ('later' in answer) {
        wait = answer.later
        continue
      }
      troubled(false)
      if ('refused' in answer) throw answer.refused
      return answer.value as Answer
    }
    throw new Unanswered(`${path} was not answered`)
  }
}

type Heard = { value: unknown } | { refused: Refused } | { later: number }

async function trySend(send: typeof fetch, path: string, body: unknown): Promise<Heard> {
  const giveUp = new AbortController()
  const timer = setTimeout(() => giveUp.abort(), longestTry)
  try {
    const response = await send(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'accept-version': '1', 'x-client': 'tollgate-page-1' },
      body: JSON.stringify(body),
      credentials: 'omit',
      cache: 'no-store',
      redirect: 'error',
      signal: giveUp.signal,
    })
    return hear(response, await response.text())
  } catch {
    return { later: 0 }
  } finally {
    clearTimeout(timer)
  }
}

/** An error is the last word when it is JSON; anything else comes from somebody on the way, or will pass. */
function hear(response: Response, text: string): Heard {
  const said = parse(text)
  if (response.ok && (said || response.status === 204)) return { value: said ?? {} }
  if (!response.ok && response.status !== 429 && typeof said?.code === 'string')
    return { refused: new Refused(said.code, String(said.message)) }
  const seconds = Number(response.headers.get('retry-after'))
  return { later: seconds > 0 && seconds <= 60 ? seconds * 1000 : 0 }
}

function parse(text: string): { code?: unknown; message?: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}
