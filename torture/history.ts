import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../e2e/payments-kill.ts'
import { NobodyAnswers, type Watch } from './scene.ts'

/** A request and what came back. Everything that clients say and hear in a run is kept as one of these. */
export type Exchange = {
  path: string
  key: string | undefined
  body: Record<string, unknown>
  /** Milliseconds since the run began. */
  sent: number
  heard: number
  /** Undefined where nobody answered. */
  answer: { status: number; text: string } | undefined
}

/**
 * What clients can take for an answer: `done`; `declined` by the acquirer, which is the last word, too; `refused` before anything was begun;
 * `unknown` where they have to ask again.
 */
export type Outcome = 'done' | 'declined' | 'refused' | 'unknown'

export function outcomeOf({ answer }: Pick<Exchange, 'answer'>): Outcome {
  if (!answer || answer.status >= 500 || answer.status === 409 || answer.status === 429) return 'unknown'
  if (answer.status < 300) return 'done'
  // Declines carry the number of a processing error; what is wrong with a field comes as a list.
  return answer.status === 400 && typeof JSON.parse(answer.text).code === 'number' ? 'declined' : 'refused'
}

/** What the service keeps of a key. */
export function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}

/** The same client, with everything that it says and hears written down. */
export function recorded(client: Client, history: Exchange[], { now, pause, end }: Watch): Client {
  return {
    ...client,
    async post(path, body, headers = {}) {
      await sleep(pause)
      if (now() > end) throw new NobodyAnswers(`POST ${path} was still without an answer when the run had to end`)
      const sent = now()
      const answer = await client.post(path, body, headers)
      const key = headers['idempotency-key']
      history.push({ path, key, body: body as Record<string, unknown>, sent, heard: now(), answer })
      return answer
    },
  }
}
