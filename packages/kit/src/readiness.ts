import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import Type from 'typebox'
import type { Clock } from './clock.ts'
import type { Db } from './db.ts'
import { Answer } from './endpoint.ts'
import type { Log } from './log.ts'

/** What `GET /ready` is answered with, by either service. */
export const readyReply = {
  200: Type.Object({ status: Type.String() }),
  503: Type.Object({
    code: Type.String({ description: '`draining` or `unavailable`' }),
    message: Type.String({ description: 'For people' }),
  }),
}

const draining = { code: 'draining', message: 'This process is about to end; send requests to another one' }
const unavailable = { code: 'unavailable', message: 'The database does not answer' }
const soon = { 'retry-after': '1' }

/** Milliseconds: how long the database may take, and for how long its answer stands, whoever asks. */
const patience = 1_000

/** A process serves one service over one database, so that the database tells which service is meant. */
type State = { leaving: boolean; asked: { at: number; answers: Promise<boolean> } | undefined; answered: boolean }

const states = new WeakMap<Db, State>()

function stateOf(db: Db): State {
  const known = states.get(db) ?? { leaving: false, asked: undefined, answered: true }
  states.set(db, known)
  return known
}

/** From now on the service is not ready: it finishes what it has begun. */
export function beginLeaving(db: Db): void {
  stateOf(db).leaving = true
}

export function isLeaving(db: Db): boolean {
  return stateOf(db).leaving
}

/** Whether requests are welcome. The log hears of it when the answer has changed, and not each time that somebody asks. */
export async function askReadiness({ db, log, now }: { db: Db; log: Log; now: Clock }) {
  const state = stateOf(db)
  if (state.leaving) return new Answer(503, draining, soon)
  const answers = await askOnce(state, db, now().getTime())
  if (answers !== state.answered) {
    state.answered = answers
    if (answers) log.info('ready again: the database answers')
    else log.warn('not ready: the database does not answer')
  }
  return answers ? new Answer(200, { status: 'ready' }) : new Answer(503, unavailable, soon)
}

function askOnce(state: State, db: Db, at: number): Promise<boolean> {
  // A clock that was set back must not keep an old answer.
  if (!state.asked || Math.abs(at - state.asked.at) >= patience) state.asked = { at, answers: answersInTime(db) }
  return state.asked.answers
}

async function answersInTime(db: Db): Promise<boolean> {
  const enough = new AbortController()
  const late = sleep(patience, undefined, { ref: false, signal: enough.signal })
    // Where it was we who were late, the answer is here and only has to be read.
    .then(() => nextTurn(false))
    .catch(() => false)
  const answer = db`select 1`.then(
    () => true,
    () => false,
  )
  return Promise.race([answer, late]).finally(() => enough.abort())
}
