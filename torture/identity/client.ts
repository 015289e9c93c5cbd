import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { NobodyAnswers, type Watch } from '../scene.ts'

export type Act = 'sign up' | 'send' | 'verify' | 'sign in' | 'refresh' | 'log out' | 'password' | 'note' | 'look'

/** Something that a person asks for. */
export type Wish = {
  act: Act
  /** Whose account it is about: an address, a number, or what stands for somebody who has neither. */
  contact: string
  method?: string
  path: string
  body?: Record<string, unknown>
  /** The session that the person shows to be in, and its access token. */
  as?: { session: string; access: string }
}

export type Answer = { status: number; json: Record<string, unknown> }

/** A wish and what came back. */
export type Said = Omit<Wish, 'as' | 'method'> & {
  body: Record<string, unknown>
  session: string | undefined
  /** Milliseconds since the run began. */
  sent: number
  heard: number
  /** Undefined where nobody answered. */
  answer: Answer | undefined
}

export type Ask = (wish: Wish) => Promise<Answer | undefined>

/** Asks over connections that are kept, and writes down all that is said and heard. */
export function createAsker(origin: string, history: Said[], { now, pause, end }: Watch): { ask: Ask; close(): void } {
  const agent = new Agent({ keepAlive: true, maxSockets: 50 })
  async function send({ method = 'POST', path, body, as }: Wish): Promise<Answer | undefined> {
    const headers = { 'content-type': 'application/json', ...(as && { authorization: `Bearer ${as.access}` }) }
    const sent = request(`${origin}${path}`, { method, agent, headers, signal: AbortSignal.timeout(10_000) })
    try {
      sent.end(body && JSON.stringify(body))
      const [response] = (await once(sent, 'response')) as [IncomingMessage]
      const text = String(Buffer.concat(await response.toArray()))
      return { status: response.statusCode ?? 0, json: text === '' ? {} : JSON.parse(text) }
    } catch {
      return undefined
    }
  }
  return {
    async ask(wish) {
      await sleep(pause)
      if (now() > end) throw new NobodyAnswers(`${wish.path} was still without an answer when the run had to end`)
      const sent = now()
      const answer = await send(wish)
      const { act, contact, path, body = {}, as } = wish
      history.push({ act, contact, path, body, session: as?.session, sent, heard: now(), answer })
      return answer
    },
    close: () => agent.destroy(),
  }
}

/** Whether an answer says that it is done. */
export const isDone = ({ answer }: Pick<Said, 'answer'>) => answer !== undefined && answer.status < 300

/** Whether nobody can tell from an answer what was done. */
export const isUnknown = ({ answer }: Pick<Said, 'answer'>) => answer === undefined || answer.status >= 500

/** What an answer gives to whoever is let in. */
export type Entry = { session: string; user: string; access: string; refresh: string }

export function entryIn(answer: Answer | undefined): Entry | undefined {
  const { access_token: access, refresh_token: refresh } = answer?.status === 200 ? answer.json : {}
  if (typeof access !== 'string' || typeof refresh !== 'string') return undefined
  const { session_id: session, sub: user } = JSON.parse(String(Buffer.from(access.split('.')[1] ?? '', 'base64url')))
  return { session, user, access, refresh }
}
