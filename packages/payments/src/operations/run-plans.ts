import { Unavailable } from '@tollgate/kit/failure'
import { type Loop, repeat } from '@tollgate/kit/loop'
import { occurrenceAfter, skipMissed } from '../rules/occurrences.ts'
import { retryOf } from '../rules/plan-retries.ts'
import { findClaimed } from '../store/idempotency.ts'
import { awaitOutcome, beginTry, type HeldPlan, holdDuePlans, type Progress, setProgress, type Trying } from '../store/plans.ts'
import { findTransaction, type Transaction } from '../store/transactions.ts'
import { capturePlanned, chargePlanned, claimOf, type Paid } from './charge-planned.ts'

type Parts = Parameters<typeof chargePlanned>[0]

/** What a run did: payments that were approved, declined or have no answer yet, and what became of plans. */
export type PlanRun = {
  paid: number
  declined: number
  pending: number
  missed: number
  finished: number
  stopped: number
  /** Plans that something else went wrong with: they are looked at again in some minutes. */
  failed: number
}

const pageSize = 20

/** Few, because requests need connections, too. */
const atOnce = 3

/** For how many seconds a plan is held by whoever is at it: longer than any acquirer takes to answer or to be given up on. */
const hold = 300

/** After how many seconds somebody looks again whether a payment without an answer has got one. */
const patience = 60

/**
 * Makes the payments of plans that are due, of merchants who want that. May end at any point and run in any number of places at once: a
 * payment has a key of its own, so that whoever comes after finds what was made instead of making it again.
 */
export async function runPlans(app: Parts, { signal }: { signal?: AbortSignal } = {}): Promise<PlanRun> {
  const run: PlanRun = { paid: 0, declined: 0, pending: 0, missed: 0, finished: 0, stopped: 0, failed: 0 }
  while (!signal?.aborted) {
    const now = app.now()
    const held = await holdDuePlans(app.db, { now, until: later(now, hold), limit: pageSize })
    if (held.length === 0) break
    for (const { tryAt } of held) app.meters.planOverdue(tryAt, now)
    const waiting = held.values()
    let outage: Unavailable | undefined
    const work = async () => {
      for (const plan of waiting) {
        if (outage || signal?.aborted) return
        try {
          await advance(app, plan, run)
        } catch (problem) {
          if (problem instanceof Unavailable) outage = problem
          run.failed++
          app.meters.planOverdue(plan.tryAt, later(app.now(), hold))
          const { merchantId: merchant, transactionId: transaction } = plan
          app.log.error(
            { merchant, transaction, error: problem },
            'a payment of a plan failed, and is tried again in some minutes',
          )
        }
      }
    }
    await Promise.all(Array.from({ length: atOnce }, work))
    if (outage) throw outage
  }
  return run
}

/** Makes due payments as long as the service runs. */
export function startPlanLoop(app: Parts): Loop {
  const leaving = new AbortController()
  const run = async () => void (await runPlans(app, { signal: leaving.signal }))
  const loop = repeat('making the payments of plans', run, { every: 30, log: app.log })
  return {
    stop() {
      leaving.abort()
      return loop.stop()
    },
  }
}

function later(moment: Date, seconds: number): Date {
  return new Date(moment.getTime() + seconds * 1000)
}

async function advance(app: Parts, held: HeldPlan, run: PlanRun): Promise<void> {
  const now = app.now()
  const source = await findTransaction(app.db, held.merchantId, held.transactionId)
  if (source?.transaction.state === 'pending') {
    app.meters.planOverdue(held.tryAt, later(now, patience))
    return awaitOutcome(app.db, held, { until: later(now, patience), pendingId: null })
  }
  if (source?.transaction.state !== 'approved') return stop(app, held, 'payment_failed', run)

  const isBegun = await hasBegun(app, held)
  const { next, missed } = isBegun ? { next: held, missed: 0 } : skipMissed(held.plan, held, { ...held, now })
  run.missed += missed
  if (!next || next.due > now) return putOff(app, held, { next, missed, now }, run)
  const tried = await beginTry(app.db, held, {
    ...{ next, missed, until: later(now, hold) },
    ...(isBegun ? { tries: held.tries, firstTried: held.firstTried ?? now } : { tries: 0, firstTried: now }),
  })
  // Somebody stopped it, or has taken it over.
  if (!tried) return
  app.meters.planPayments('missed', missed)
  await pay(app, tried, source.transaction, run)
}

/**
 * Whether this very payment has been tried. What was tried before the merchant had its plans executed again was up to the merchant
 * meanwhile, unless a payment came of it that nobody has written down here.
 */
async function hasBegun({ db }: Parts, held: HeldPlan): Promise<boolean> {
  if (held.firstTried === null) return false
  return held.firstTried >= held.since || (await findClaimed(db, claimOf(held))) !== undefined
}

async function pay(app: Parts, tried: Trying, source: Transaction, run: PlanRun): Promise<void> {
  const paid = await chargePlanned(app, tried, source)
  if (paid.kind === 'approved' && tried.setting === 'capture') await capturePlanned(app, tried, paid.id)
  const now = app.now()
  if (paid.kind === 'pending') {
    run.pending++
    // It is looked at every minute, and pending only once.
    if (tried.lastTransactionId !== paid.id) app.meters.planPayments('pending')
    app.meters.planOverdue(tried.tryAt, later(now, patience))
    return awaitOutcome(app.db, tried, { until: later(now, patience), pendingId: paid.id })
  }
  const progress = paid.kind === 'approved' ? afterPayment(tried, paid.id, now) : afterDecline(tried, paid, now)
  if (!(await setProgress(app.db, tried, progress))) return
  const outcome = paid.kind === 'approved' ? 'paid' : 'declined'
  run[outcome]++
  app.meters.planPayments(outcome)
  noteEnd(app, tried, progress, run)
}

/** Nothing has been tried. */
function untried(held: HeldPlan, now: Date): Progress {
  const { tries, firstTried, tryAt, errorCode } = held
  return { next: held, tries, firstTried, tryAt, made: 0, missed: 0, transactionId: null, errorCode, end: undefined, now }
}

function afterPayment(tried: Trying, transactionId: string, now: Date): Progress {
  const next = occurrenceAfter(tried.plan, tried)
  const made = { ...untried(tried, now), made: 1, transactionId, errorCode: null } as const
  if (!next) return { ...made, end: { state: 'finished' } }
  return { ...made, next, tries: 0, firstTried: null, tryAt: next.due }
}

function afterDecline(tried: Trying, { code, id }: Extract<Paid, { kind: 'declined' }>, now: Date): Progress {
  const tries = tried.tries + 1
  const again = retryOf(code, { tries, firstTried: tried.firstTried })
  const failed = { ...untried(tried, now), tries, transactionId: id, errorCode: code }
  return again instanceof Date ? { ...failed, tryAt: again } : { ...failed, end: { state: 'stopped', reason: again } }
}

type Skipped = { next: ReturnType<typeof skipMissed>['next']; missed: number; now: Date }

/** What was missed is left out, and what comes next has its time yet to come. */
async function putOff(app: Parts, held: HeldPlan, { next, missed, now }: Skipped, run: PlanRun): Promise<void> {
  const skipped = { ...untried(held, now), missed, tries: 0, firstTried: null }
  const progress: Progress = next ? { ...skipped, next, tryAt: next.due } : { ...skipped, end: { state: 'finished' } }
  if (!(await setProgress(app.db, held, progress))) return
  app.meters.planPayments('missed', missed)
  noteEnd(app, held, progress, run)
}

async function stop(app: Parts, held: HeldPlan, reason: 'payment_failed', run: PlanRun): Promise<void> {
  const progress: Progress = { ...untried(held, app.now()), end: { state: 'stopped', reason } }
  if (await setProgress(app.db, held, progress)) noteEnd(app, held, progress, run)
}

function noteEnd(
  { log, meters }: Parts,
  { merchantId, transactionId }: HeldPlan,
  { end, errorCode }: Progress,
  run: PlanRun,
): void {
  if (!end) return
  run[end.state]++
  meters.planEnded(end.state === 'finished' ? 'finished' : end.reason)
  const facts = { merchant: merchantId, transaction: transactionId }
  if (end.state === 'finished') log.info(facts, 'a plan is finished')
  else log.warn({ ...facts, reason: end.reason, code: errorCode }, 'a plan was stopped')
}
