import pg from 'pg'
import { Unavailable } from '../failure.ts'
import { isOutage } from './problem.ts'

export type Query = { name: string | undefined; text: string; values: unknown[] }

export type Lane = { run(query: Query): Promise<pg.QueryResult>; close(): Promise<void> }

/** `onConnect` sees every connection before anybody else does, and may refuse it, as the pool's own does. */
export type LaneSettings = pg.ClientConfig & { onConnect?: ((client: pg.ClientBase) => Promise<void>) | undefined }

/** How long a failed attempt to connect stands for those who come after it, so that a crowd does not storm a server in trouble. */
const holdOff = 100

/**
 * A connection that many requests share: their statements leave together in one packet and are answered in order, so it is
 * for short statements only.
 */
export function createLane({ onConnect, ...settings }: LaneSettings): Lane {
  let current: Promise<pg.Client> | undefined
  let closed = false

  function connect(): Promise<pg.Client> {
    const client = new pg.Client({ ...settings, pipeline: true })
    const reaching = client.connect().then(() => onConnect?.(client))
    const opening = reaching.then(
      () => corkPerTick(client),
      (problem: unknown) => {
        client.end().catch(() => {})
        throw new Unavailable('the database cannot be reached', { cause: problem })
      },
    )
    const forget = () => {
      if (current === opening) current = undefined
    }
    // An idle connection that breaks is replaced when it is needed; without a listener it would take the process along.
    client.on('error', forget)
    opening.then(
      () => client.once('end', forget),
      () => setTimeout(forget, holdOff).unref(),
    )
    current = opening
    return opening
  }

  return {
    async run(query) {
      if (closed) throw new Unavailable('the database is closed')
      const opening = current ?? connect()
      const client = await opening
      try {
        return await runOn(client, query)
      } catch (problem) {
        // A server says goodbye a moment before the connection ends: whoever comes in between must not be sent down it.
        if (current === opening && isOutage(problem)) {
          current = undefined
          client.end().catch(() => {})
        }
        throw problem
      }
    },
    async close() {
      closed = true
      const client = await current?.catch(() => undefined)
      await client?.end()
    },
  }
}

/** How often a connection has failed to make a statement, by its name. */
const unmade = new WeakMap<pg.ClientBase, Map<string, number>>()

/**
 * Runs a statement on a connection, and never says twice a name under which it could not be made there: PostgreSQL has forgotten the name, but
 * PgBouncer has not, and hangs up on whoever uses it again.
 */
export async function runOn(client: pg.ClientBase, query: Query): Promise<pg.QueryResult> {
  if (query.name === undefined) return client.query(query)
  const failures = unmade.get(client)?.get(query.name) ?? 0
  const name = failures === 0 ? query.name : `${query.name}.${failures}`
  try {
    return await client.query({ ...query, name })
  } catch (problem) {
    if (!isMade(client, name)) unmade.set(client, (unmade.get(client) ?? new Map()).set(query.name, failures + 1))
    throw problem
  }
}

function isMade(client: pg.ClientBase, name: string): boolean {
  return name in (client as unknown as { connection: { parsedStatements: object } }).connection.parsedStatements
}

/** The statements of one turn of the event loop go out in one write. */
function corkPerTick(client: pg.Client): pg.Client {
  const { stream } = (client as unknown as { connection: { stream: { cork(): void; uncork(): void } } }).connection
  const query = client.query.bind(client) as (query: Query) => Promise<pg.QueryResult>
  let corked = false
  const corkedQuery = (asked: Query) => {
    if (!corked) {
      corked = true
      stream.cork()
      process.nextTick(() => {
        corked = false
        stream.uncork()
      })
    }
    return query(asked)
  }
  client.query = corkedQuery as typeof client.query
  return client
}
