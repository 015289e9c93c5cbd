import type { Tx } from '@tollgate/kit/db'
import { addJob, type Worker } from '@tollgate/kit/jobs'
import type { App } from '../app.ts'
import { deleteLineSums, findBalance, findOldestWrite, holdLineSums, insertLineSums, isSumAwaited } from '../store/line-sums.ts'

type Parts = Pick<App, 'db' | 'now'>

/** The kind of job that sums are written by. */
export const sumLinesKind = 'sum-lines'

/** How many lines a balance may have to add up before they get a sum. */
const step = 5_000

/** How many lines are added up in one transaction, so that none is open for long. */
const most = 100_000

/** A line is dated before its transaction begins, and seen when that has ended: a sum must not be written in between. */
const settleTime = 2 * 60 * 1000

/** What the lines of a merchant add up to at a moment. Sees to it that the next reader has less to add up. */
export async function readBalance(app: Parts, merchantId: string, at: Date): Promise<number> {
  const { balance, unsummed } = await findBalance(app.db, merchantId, at)
  await askForSums(app, merchantId, unsummed)
  return balance
}

/** Has sums written, where that is worth it and nobody has asked before. */
async function askForSums({ db, now }: Parts, merchantId: string, unsummed: number): Promise<void> {
  if (unsummed <= step || (await isSumAwaited(db, sumLinesKind, merchantId))) return
  await addJob(db, { kind: sumLinesKind, payload: { merchantId }, now: now() })
}

/** Writes the sums that a merchant's lines lack. Any number of processes may do so at once, and end at any point. */
export async function sumLines({ db, now }: Parts, merchantId: string, signal?: AbortSignal): Promise<void> {
  // Whoever waits for a lock for minutes still commits what was dated before.
  const settled = new Date(now().getTime() - (await findOldestWrite(db)) - settleTime)
  for (let more = true; more; ) {
    signal?.throwIfAborted()
    more = await db.begin(async (tx) => {
      if (!(await holdLineSums(tx, merchantId))) return false
      return (await insertLineSums(tx, merchantId, { settled, step, most })) > 0
    })
  }
}

export function sumLinesWorker(app: Parts): Worker {
  return ({ payload }, signal) => sumLines(app, String(payload.merchantId), signal)
}

/** For whoever writes lines that are dated back, in the same transaction: `from` is the date of the oldest of them. */
export async function dropLineSums(tx: Tx, merchantId: string, from: Date): Promise<void> {
  await holdLineSums(tx, merchantId)
  await deleteLineSums(tx, merchantId, from)
}
