import { codeOf } from '@tollgate/kit/db'
import { Failure } from '@tollgate/kit/failure'
import type { App } from '../app.ts'
import { fail } from '../errors.ts'
import { sameRequest } from '../rules/idempotency.ts'
import { asOfEntry } from '../rules/tell-transaction.ts'
import { type Claim, type Claimed, findClaimed } from '../store/idempotency.ts'
import { findTransaction, type Transaction } from '../store/transactions.ts'
import { declined, unanswered } from './refuse-payment.ts'

type Parts = Pick<App, 'db' | 'now' | 'meters'>

/**
 * Does something that a key stands for; when it has been done before, tells what came of it. Whether it has is asked only when the story
 * fails: the first time, which nearly all are, costs nothing more.
 */
export async function orReplay<T>(
  app: Parts,
  claim: Claim | undefined,
  story: () => Promise<T>,
  replay: (claimed: Claimed) => Promise<T>,
): Promise<T> {
  try {
    return await story()
  } catch (problem) {
    if (!claim || !mayHaveBeenDone(problem)) throw problem
    const claimed = await findClaimed(app.db, claim)
    if (!claimed) throw problem
    const isSame = sameRequest(claim, claimed)
    app.meters.replay(isSame ? 'replayed' : 'mismatch')
    if (!isSame) throw fail('idempotency_mismatch')
    return replay(claimed)
  }
}

/**
 * A refusal, or the key being taken. What nobody knows the outcome of has just been begun by this very request; and who may not see a
 * thing any more is not told what they did to it.
 */
function mayHaveBeenDone(problem: unknown): boolean {
  if (!(problem instanceof Failure)) return codeOf(problem) === '23505'
  return problem.code !== 'outcome_unknown' && problem.code !== 'not_found'
}

/** What a movement was answered with. */
export async function replayMovement(app: Parts, claimed: Claimed): Promise<Transaction> {
  const transaction = await findClaimedTransaction(app, claimed)
  const entry = transaction.trail.find(({ id }) => id === claimed.entryId)
  if (!entry || entry.state === 'pending') throw unanswered(transaction.id, 'idempotency_running')
  if (entry.state === 'failed') throw declined(entry.errorCode ?? 12)
  return asOfEntry(transaction, entry.id)
}

/** What an authorization was answered with. */
export async function replayAuthorization(app: Parts, claimed: Claimed): Promise<{ id: string }> {
  const { id, state, errorCode } = await findClaimedTransaction(app, claimed)
  if (state === 'pending') throw unanswered(id, 'idempotency_running')
  if (state === 'declined') throw declined(errorCode ?? 12, id)
  return { id }
}

async function findClaimedTransaction({ db }: Parts, { merchantId, transactionId }: Claimed): Promise<Transaction> {
  const found = await findTransaction(db, merchantId ?? '', transactionId ?? '')
  if (!found) throw fail('idempotency_mismatch')
  return found.transaction
}
