import { Unavailable } from '@tollgate/kit/failure'
import { tagOf } from '@tollgate/kit/id'
import type { App } from '../app.ts'
import { type Posting, payoutPostings } from '../rules/books.ts'
import { parseIban } from '../rules/iban.ts'
import { dayOf, paydays, type Schedule, startOf } from '../rules/payout-schedule.ts'
import { findBalance } from '../store/line-sums.ts'
import {
  beginPayouts,
  closePayouts,
  findClosedPayouts,
  findPaid,
  insertPayout,
  listUnpaid,
  lockPayee,
  type Payee,
} from '../store/payouts.ts'
import { readBalance } from './sum-lines.ts'

type Parts = Pick<App, 'db' | 'now' | 'mintId'>

/** Something about payouts that the person who asks for them can put right. */
export class PayoutProblem extends Error {}

type PayoutRun = {
  /** How many merchants were due, had a bank account and were not paid yet. */
  due: number
  paid: number
  failed: number
  /** The first of those that failed: they are paid with the next run. */
  failures: { merchantId: string; problem: unknown }[]
  /** Whether nobody will be paid for this day any more. */
  closed: boolean
}

const pageSize = 500

/** Few, because requests need connections, too. */
const atOnce = 3

const mostFailures = 20

/**
 * Pays every merchant that is due on a day what it had when the day began, as lines, and closes the day. Whoever was due earlier and was
 * not paid, because nobody ran payouts that day or because it failed, is paid now what it had when it was due. May end at any point and
 * run in any number of places at once: the next run does what is left.
 *
 * With `test` alone the test merchants are paid, and the day stays open.
 */
export async function runPayouts(
  app: Parts,
  { day, test, signal }: { day: string; test?: true; signal?: AbortSignal },
): Promise<PayoutRun> {
  if (day > dayOf(app.now())) throw new PayoutProblem(`${day} has not come yet: payouts are made for days that have begun.`)
  await beginPayouts(app.db)
  const run: PayoutRun = { due: 0, paid: 0, failed: 0, failures: [], closed: await isClosed(app, day) }
  for (let after = ''; !run.closed; ) {
    const page = await listUnpaid(app.db, { paydays: paydays(day), test: test ?? null, after, limit: pageSize })
    await payPage(app, { day, run, page, signal })
    if (signal?.aborted) return run
    const last = page.at(-1)
    if (last) after = last.id
    else break
  }
  if (run.closed || test) return run
  await closePayouts(app.db, startOf(day))
  return { ...run, closed: true }
}

async function isClosed({ db }: Pick<App, 'db'>, day: string): Promise<boolean> {
  const through = await findClosedPayouts(db)
  return through !== undefined && through >= startOf(day)
}

type Due = { id: string; schedule: Schedule }

async function payPage(
  app: Parts,
  { day, run, page, signal }: { day: string; run: PayoutRun; page: readonly Due[]; signal: AbortSignal | undefined },
): Promise<void> {
  const waiting = page.values()
  let outage: Unavailable | undefined
  const work = async () => {
    for (const due of waiting) {
      if (outage || run.closed || signal?.aborted) return
      run.due++
      try {
        const outcome = await payIfOwed(app, due, day)
        if (outcome === 'paid') run.paid++
        if (outcome === 'closed') run.closed = true
      } catch (problem) {
        if (problem instanceof Unavailable) outage = problem
        else noteFailure(run, due.id, problem)
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  if (outage) throw outage
}

/** One merchant whose books are beyond us must not keep all others from being paid. */
function noteFailure(run: PayoutRun, merchantId: string, problem: unknown) {
  run.failed++
  if (run.failures.length < mostFailures) run.failures.push({ merchantId, problem })
}

type Outcome = 'paid' | 'nothing' | 'closed'

async function payIfOwed(app: Parts, { id, schedule }: Due, day: string): Promise<Outcome> {
  // Most merchants have nothing: they are not worth a transaction.
  if ((await readBalance(app, id, momentBefore(paydays(day)[schedule]))) <= 0) return 'nothing'
  return app.db.begin(async (tx) => {
    const payee = await lockPayee(tx, id)
    if (!payee || payee.schedule === 'never' || payee.iban === null) return 'nothing'
    if (payee.closed >= startOf(day)) return 'closed'
    const amount = await findOwed(tx, id, paydays(day)[payee.schedule])
    if (amount <= 0) return 'nothing'
    return (await pay(app, tx, { id, day, amount, payee })) ? 'paid' : 'nothing'
  })
}

/** No line is later. */
const endOfTime = new Date('9999-12-31T23:59:59.999Z')

function momentBefore(day: string): Date {
  return new Date(startOf(day).getTime() - 1)
}

/**
 * What the merchant had when its payday began, less what it was paid since, and never more than it has now: a refund of this morning is
 * not paid out, and neither is the same money for two days. A refund that commits a moment later makes the balance negative, and what
 * comes in next makes up for it, as with any refund after a payout.
 */
async function findOwed(tx: Parameters<typeof findPaid>[0], merchantId: string, payday: string): Promise<number> {
  const [then, now, since] = await Promise.all([
    findBalance(tx, merchantId, momentBefore(payday)),
    // Not as of our clock: another node's may be ahead.
    findBalance(tx, merchantId, endOfTime),
    findPaid(tx, merchantId, { day: payday, start: startOf(payday) }),
  ])
  return since.paid ? 0 : Math.min(then.balance - since.amount, now.balance)
}

async function pay(
  { now, mintId }: Parts,
  tx: Parameters<typeof insertPayout>[0],
  { id, day, amount, payee }: { id: string; day: string; amount: number; payee: Payee },
): Promise<boolean> {
  const { currency, test, holder } = payee
  const iban = parseIban(payee.iban ?? '')
  // What no bank would take would leave the balance and arrive nowhere.
  if (iban === undefined) throw new PayoutProblem('its IBAN is not one that a bank would take')
  const [lineId, payoutId] = [mintId(tagOf(id)), mintId(tagOf(id))]
  const [posting] = payoutPostings(amount, currency)
  const payout = { merchantId: id, day, id: payoutId, lineId, created: now(), test, currency, amount, iban, holder }
  return insertPayout(tx, payout, posting as Posting)
}

type Loop = { stop(): Promise<void> }

type LoopParts = Parts & Pick<App, 'config' | 'log' | 'meters'>

/** Makes the payouts of every day in its time, where an operator has asked for that. */
export function startPayoutLoop(app: LoopParts): Loop {
  const { enabled, interval } = app.config.payouts
  if (!enabled) return { stop: async () => {} }
  const leaving = new AbortController()
  let underWay: Promise<void> | undefined
  const look = () => {
    underWay ??= payWhenTimeHasCome(app, leaving.signal).finally(() => {
      underWay = undefined
    })
  }
  const timer = setInterval(look, interval * 1000)
  timer.unref()
  look()
  return {
    async stop() {
      clearInterval(timer)
      leaving.abort()
      await underWay
    },
  }
}

/** Days that were missed are made up for by the run of today: see runPayouts. */
async function payWhenTimeHasCome(app: LoopParts, signal: AbortSignal): Promise<void> {
  const { log, now, config } = app
  const day = dayOf(now())
  if (now().getUTCHours() < config.payouts.hour) return
  try {
    if (await isClosed(app, day)) return
    const { failures, ...figures } = await runPayouts(app, { day, signal })
    app.meters.payouts(figures.paid, figures.failed)
    for (const { merchantId, problem } of failures)
      log.error({ merchant: merchantId, day, error: problem }, 'a payout failed, and is tried again with the next run')
    log.info({ day, ...figures }, figures.closed ? 'payouts made' : 'payouts broken off, and gone on with at the next look')
  } catch (problem) {
    log.error({ day, error: problem }, 'payouts failed, and are tried again at the next look')
  }
}
