import { setTimeout as pause } from 'node:timers/promises'
import type { Clock } from '@tollgate/kit/clock'
import type { Db, Tx } from '@tollgate/kit/db'
import { Unavailable } from '@tollgate/kit/failure'
import type { Log } from '@tollgate/kit/log'
import type { ProcessingCode } from '../rules/processing-errors.ts'
import { declineAuthorization, declineMove, isCounted, isMove, latencyOf, lateness, mishapOf } from '../rules/simulation.ts'
import {
  type Heard,
  insertHeard,
  lockOperation,
  lockSeries,
  type Operation,
  setDecided,
  setSeries,
  sumDrawn,
  sumMoved,
} from '../store/simulator-operations.ts'
import type { Acquirer, AuthorizeAsk, Decided, MoveAsk, Outcome } from './acquirer.ts'

type Ask = AuthorizeAsk | MoveAsk

export type SimulatorParts = {
  db: Db
  now: Clock
  log: Log
  /** Lets so many milliseconds pass. */
  wait?: (milliseconds: number) => Promise<unknown>
}

/**
 * The acquirer of test merchants. It has a record of its own, by the references that it is asked with, and adds up from it what is left
 * of an authorization; whoever asks twice with one reference gets the first answer.
 *
 * A mishap that the simulation names for an operation befalls every such operation of the transaction:
 *
 *   lost        nothing is done and nothing recorded, and the outcome is unknown; asked `again`, it is done and answered
 *   unanswered  it is done and recorded, but the outcome is unknown; asked another time, it is answered
 *   late        it is recorded that it was asked for, but nothing is done, and the outcome stays unknown, however often it is asked about,
 *               until five seconds after the first time; whoever asks then has it done and answered
 *   declined    it is declined with code 8
 *
 * Whatever else decides, cards and amounts, is looked at when it is done. Latency is the time from then to the answer.
 */
export function createSimulator({ db, now, log, wait = pause }: SimulatorParts): Acquirer {
  const answer = async (ask: Ask): Promise<Outcome> => {
    try {
      const outcome = await db.begin((tx) => play(tx, ask, { now: now(), log }))
      if (latencyOf(ask) > 0) await wait(latencyOf(ask))
      return outcome
    } catch (problem) {
      // What became of it is in its record, if there is one: that is found out when it is asked again.
      const level = problem instanceof Unavailable ? 'warn' : 'error'
      log[level]({ error: problem, reference: ask.reference, merchant: ask.merchantId }, 'the simulator could not answer')
      return unknown('the simulator could not answer')
    }
  }
  return {
    name: 'simulator',
    authorize: answer,
    move: answer,

    /** A movement is not held against the record here: the statement that writes it takes the amount out of its pot, or does nothing. */
    atOnce(ask) {
      if (mishapOf(ask) !== undefined || latencyOf(ask) > 0) return undefined
      if (isMove(ask)) return decided(ask, undefined)
      return isCounted(ask) ? undefined : decided(ask, declineAuthorization(ask, { now: now() }))
    },
  }
}

async function play(tx: Tx, ask: Ask, { now, log }: { now: Date; log: Log }): Promise<Outcome> {
  const mishap = mishapOf(ask)
  const asked = heardOf(ask, now)
  if (mishap === 'lost' && !ask.again) return unknown('simulated: lost')
  const isFirst = await insertHeard(tx, asked)
  if (isFirst && mishap === 'late') return unknown('simulated: late')
  if (!isFirst) {
    const before = await lockOperation(tx, asked)
    if (!before || !isSame(before, asked)) {
      log.error({ reference: ask.reference, merchant: ask.merchantId }, 'the simulator was asked two things with one reference')
      return decided(ask, 12)
    }
    if (before.approved || before.code !== null) return decided(ask, before.code ?? undefined)
    if (mishap === 'late' && now.getTime() < before.created.getTime() + lateness * 1000) return unknown('simulated: late')
  }
  const code = isMove(ask) ? await decideMove(tx, ask) : await decideAuthorization(tx, ask, now)
  await setDecided(tx, asked, { code, decided: now })
  return isFirst && mishap === 'unanswered' ? unknown('simulated: unanswered') : decided(ask, code)
}

/** Movements of one authorization wait for each other here, so that none is decided on what another is about to change. */
async function decideMove(tx: Tx, ask: MoveAsk): Promise<ProcessingCode | undefined> {
  const { reference } = ask.authorization
  const named = { merchantId: ask.merchantId, reference }
  const authorization = await lockOperation(tx, { ...named, authorizationReference: reference })
  if (authorization?.kind !== 'authorize' || !authorization.approved) return declineMove(ask, undefined)
  return declineMove(ask, { ...authorization, ...(await sumMoved(tx, named)) })
}

async function decideAuthorization(tx: Tx, ask: AuthorizeAsk, now: Date): Promise<ProcessingCode | undefined> {
  if (!ask.previous || !isCounted(ask)) return declineAuthorization(ask, { now })
  const first = await lockSeries(tx, { merchantId: ask.merchantId, reference: ask.previous.reference })
  // Whoever never saw the card cannot tell what it still holds.
  if (!first) return 12
  await setSeries(tx, ask, first)
  return declineAuthorization(ask, { now, drawn: await sumDrawn(tx, first) })
}

function heardOf(ask: Ask, created: Date): Heard {
  const { merchantId, reference, amount, currency } = ask
  const heard = { merchantId, reference, amount, currency, created }
  if (!isMove(ask)) return { ...heard, kind: 'authorize', authorizationReference: reference }
  return { ...heard, kind: ask.kind, authorizationReference: ask.authorization.reference }
}

function isSame(before: Operation, asked: Heard): boolean {
  return (
    before.kind === asked.kind &&
    before.amount === asked.amount &&
    before.currency === asked.currency &&
    before.authorizationReference === asked.authorizationReference
  )
}

function decided({ reference }: Ask, code: ProcessingCode | undefined): Decided {
  return code === undefined ? { kind: 'approved', acquirerReference: reference } : { kind: 'declined', code }
}

function unknown(reason: string): Outcome {
  return { kind: 'unknown', reason }
}
