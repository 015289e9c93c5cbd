import { setTimeout as sleep } from 'node:timers/promises'
import { firstToken, keptToken } from './accounts.ts'
import { createCleanup } from './cleanup.ts'
import { askFor } from './http.ts'
import { type Listener, startListener } from './listener.ts'
import { bareWaitingPrefix, merchantId, price, sourceId } from './merchants.ts'
import type { Given } from './requests.ts'
import { type Recording, type Script, writeScript } from './script.ts'
import { type Server, type Site, startBareReplay } from './servers.ts'

type Ask = <Body>(method: string, path: string, given?: Given) => Promise<Body>

/** One request of the kind that is recorded, the `number`th of them; tells what it gave and what came of it. */
type Sample = (ask: Ask, number: number) => Promise<{ given?: string; made?: string }>

/** The first requests of a service fill its memory and prepare statements. */
const unheard = 3
const heard = 9

/** How many requests of a kind are used up by recording it. */
export const recordedCount = unheard + heard

/** Records what a service says to its database, and starts a server that says the same and does nothing else. */
export async function startRecorded(samples: Readonly<Record<string, Sample>>, server: Server, site: Site): Promise<Server> {
  const { again, database } = server
  if (!again) throw new Error('only a server that can be started twice can be recorded')
  const cleanup = createCleanup()
  site.cleanup.later(() => cleanup.now())
  const url = await site.database.url(database)
  const listener = await startListener(url, cleanup)
  const { port } = await again(listener.through(url), cleanup)
  const ask: Ask = (method, path, given) => askFor(port, method, path, given)
  const scripts: Record<string, Script> = {}
  for (const [name, sample] of Object.entries(samples)) scripts[name] = await record(listener, ask, sample)
  await cleanup.now()
  return startBareReplay(scripts, database, site)
}

async function record(listener: Listener, ask: Ask, sample: Sample): Promise<Script> {
  const recordings: Recording[] = []
  for (let number = 1; number <= recordedCount; number++) {
    listener.forget()
    const told = await sample(ask, number)
    // What goes on after the answer belongs to the request as well.
    await sleep(5)
    if (number > unheard) recordings.push({ ...told, statements: listener.heard().statements })
  }
  // What runs by the clock may have come in between: what most requests have in common is theirs.
  const alike = Object.values(Object.groupBy(recordings, ({ statements }) => JSON.stringify(statements.map(({ text }) => text))))
  const [one, other] = alike.toSorted((a, b) => (b?.length ?? 0) - (a?.length ?? 0))[0] ?? []
  if (!one || !other) throw new Error('no two requests of one kind led to the same statements')
  return writeScript(one, other)
}

/** A session that nobody else uses, refreshed from token to token; and its owner, who looks themselves up. */
export function identitySamples(account: number): Record<'refresh' | 'user', Sample> {
  let token = firstToken(account)
  let access = ''
  return {
    async refresh(ask) {
      const given = keptToken(token)
      const json = { refresh_token: token }
      const session = await ask<Session>('POST', '/token?grant_type=refresh_token', { json })
      token = session.refresh_token
      access = session.access_token
      return { given, made: keptToken(token) }
    },
    async user(ask) {
      await ask('GET', '/user', { headers: { Authorization: `Bearer ${access}` } })
      return {}
    },
  }
}

type Session = { access_token: string; refresh_token: string }

type Headers = Readonly<Record<string, string>>

/** Of merchant number 1: a charge, and the capture of something that waits. */
export function shopSamples(headers: Headers): Record<'authorize' | 'capture', Sample> {
  return {
    async authorize(ask) {
      const json = { transactionId: sourceId(1), ...price }
      const path = `/merchants/${merchantId(1)}/transactions`
      const { transaction } = await ask<{ transaction: { id: string } }>('POST', path, { headers, json })
      return { made: transaction.id }
    },
    async capture(ask, number) {
      const given = `${bareWaitingPrefix}${String(number).padStart(9, '0')}`
      await ask('POST', `/transactions/${given}/captures`, { headers, json: { amount: price.amount } })
      return { given }
    },
  }
}

export function listSamples(headers: Headers, path: string): Record<'list', Sample> {
  return {
    async list(ask) {
      await ask('GET', path, { headers })
      return {}
    },
  }
}
