import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { createLane, type Lane, type Query, runOn } from './db/lane.ts'
import { asksAgain, codeOf, isForgotten, translate } from './db/problem.ts'
import { refuseStandby } from './db/standby.ts'
import { renew, type Schema, type Statement, type StatementOf, statements } from './db/statements.ts'
import { parameterOf, types, type Value } from './db/values.ts'
import { Unavailable } from './failure.ts'

export { codeOf } from './db/problem.ts'
export { inSchema, type Schema } from './db/statements.ts'
export { Json, type Value } from './db/values.ts'

export type Rows<Row> = Row[] & { count: number }

/** Runs one statement. Every template is prepared once a connection, under a name of its own. */
export type Sql = <Row = Record<string, unknown>>(template: TemplateStringsArray, ...values: Value[]) => Promise<Rows<Row>>

declare const insideTransaction: unique symbol

/** Statements inside a transaction. It cannot begin another one: the compiler says so. */
export type Tx = Sql & { readonly [insideTransaction]: true }

export type Db = Sql & {
  /** Nothing outside the database may be called in the story: it may be told again after a serialisation failure. */
  begin<T>(story: (tx: Tx) => Promise<T>): Promise<T>
  close(): Promise<void>
}

export type DbOptions = {
  url: string
  schema: Schema
  /** Shows in pg_stat_activity. */
  name: string
  /** Connections that short statements share; few are faster than many, because what leaves together is answered together. */
  lanes?: number
  /** Connections for those of them that change something: each waits for the disk, and many can wait at once. None: they share the others. */
  writeLanes?: number
  /** Connections for transactions. */
  poolSize?: number
  /** Whether a standby is as good as nobody: for whoever writes, and must not read what is old. */
  primaryOnly?: boolean
  /** Milliseconds after which a connection that does not come, or an answer that does not, counts as an outage. */
  patience?: { connection?: number; statement?: number; close?: number }
}

/** How often a story is told at most when the database keeps asking for it. */
const mostTries = 5

export function openDb(options: DbOptions): Db {
  const {
    connection: connectionPatience = 5_000,
    statement: statementPatience = 30_000,
    close: closePatience = 2_000,
  } = options.patience ?? {}
  const settings = {
    connectionString: options.url,
    application_name: options.name,
    types,
    connectionTimeoutMillis: connectionPatience,
    // A server behind a firewall that drops packets never says that it is gone.
    query_timeout: statementPatience,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    onConnect: options.primaryOnly ? refuseStandby : undefined,
  }
  const statementOf = statements(options.schema)
  const openLanes = (length: number) => Array.from({ length }, () => createLane(settings))
  const lanes = openLanes(options.lanes ?? 2)
  const writeLanes = options.writeLanes ? openLanes(options.writeLanes) : lanes
  const pool = new pg.Pool({ ...settings, pipeline: true, max: options.poolSize ?? 6, idleTimeoutMillis: 30_000 })
  // An idle connection that breaks is replaced when the next one is needed.
  pool.on('error', () => {})
  let turn = 0

  const sql: Sql = (template, ...values) => {
    const statement = statementOf(template)
    return again((isFirst) => {
      const among = statement.looks ? lanes : writeLanes
      turn++
      return ask((among[turn % among.length] as Lane).run, statement, values, isFirst)
    })
  }

  let closed: Promise<unknown> | undefined
  return Object.assign(sql, {
    begin: <T>(story: (tx: Tx) => Promise<T>) => again((isFirst) => transaction(pool, statementOf, story, isFirst)),
    async close() {
      closed ??= Promise.all([pool.end(), ...[...new Set([...lanes, ...writeLanes])].map((lane) => lane.close())])
      // A server that hangs must not keep the process from leaving.
      await Promise.race([closed, sleep(closePatience, undefined, { ref: false })])
    },
  })
}

async function transaction<T>(
  pool: pg.Pool,
  statementOf: StatementOf,
  story: (tx: Tx) => Promise<T>,
  prepared: boolean,
): Promise<T> {
  const client = await pool.connect().catch((problem: Error) => {
    const busy = problem.message.startsWith('timeout exceeded')
    throw new Unavailable(busy ? 'no database connection came free' : 'the database cannot be reached', { cause: problem })
  })
  let over = false
  let broken = false
  let firstProblem: unknown
  // The pool listens to idle connections only: unheard, the end of this one would end the process.
  const onError = () => {
    broken = true
  }
  client.on('error', onError)
  const tx = (async (template, ...values) => {
    // The connection may be in the middle of somebody else's transaction by now.
    if (over) throw new Error('A statement came after its transaction was over: something in the story was not awaited')
    return ask((query) => runOn(client, query), statementOf(template), values, prepared).catch((problem: unknown) => {
      firstProblem ??= problem
      throw problem
    })
  }) as Tx
  const say = (word: 'begin' | 'commit') =>
    client.query(word).catch((problem: unknown) => {
      throw translate(problem)
    })
  try {
    await say('begin')
    const result = await story(tx)
    over = true
    const { command } = await say('commit')
    // PostgreSQL answers the commit of a failed transaction with a friendly ROLLBACK.
    if (command !== 'COMMIT') throw new Error('A statement failed and the story went on: nothing was committed')
    return result
  } catch (thrown) {
    over = true
    // Statements that left together all fail when the first does, and whoever waits for them may hear of another one first.
    const problem = codeOf(thrown) === '25P02' ? (firstProblem ?? thrown) : thrown
    broken ||= problem instanceof Unavailable
    if (!broken)
      await client.query('rollback').catch(() => {
        broken = true
      })
    throw problem
  } finally {
    client.off('error', onError)
    client.release(broken)
  }
}

/**
 * Runs a statement on a connection, and sees to it that one which the connection no longer knows is prepared anew. Without a name it
 * depends on nothing that was said before it on that connection, so that a second try gets the server's own answer.
 */
async function ask<Row>(
  run: (query: Query) => Promise<pg.QueryResult>,
  statement: Statement,
  values: Value[],
  prepared: boolean,
): Promise<Rows<Row>> {
  const { name, text } = statement
  try {
    const result = await run({ name: prepared ? name : undefined, text, values: values.map(parameterOf) })
    // Not enumerable, so that rows compare like the plain list that they are.
    return Object.defineProperty(result.rows as Row[], 'count', { value: result.rowCount ?? 0 }) as Rows<Row>
  } catch (problem) {
    if (isForgotten(problem)) renew(statement, name)
    throw translate(problem)
  }
}

/** Does it again when the database asks for that. */
async function again<T>(attempt: (isFirst: boolean) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt(tries === 1)
    } catch (problem) {
      if (!asksAgain(problem) || tries >= mostTries) throw problem
      await sleep(Math.random() * 10 * 2 ** tries)
    }
  }
}
