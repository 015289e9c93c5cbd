import type { Tx } from '@tollgate/kit/db'
import type { App } from '../app.ts'
import { type FailureCode, fail } from '../errors.ts'
import { sameRequest } from '../rules/idempotency.ts'
import { sealAnswer, unsealAnswer } from '../rules/sealed-answer.ts'
import { type Claim, findClaimed, holdKey, insertAnswered } from '../store/idempotency.ts'

/** What `once` may refuse with. */
export const onceFails = ['idempotency_running', 'idempotency_mismatch'] as const satisfies FailureCode[]

/**
 * Does what a key stands for, and keeps the answer together with what was made; the next time it is told from there. For what is made in
 * one transaction of the database: money has strokes of its own, see replay.ts.
 */
export function once<T>(
  app: Pick<App, 'db' | 'now' | 'meters'>,
  claim: Claim | undefined,
  story: (tx: Tx) => Promise<T>,
): Promise<T> {
  return app.db.begin(async (tx) => {
    if (!claim) return story(tx)
    if (!(await holdKey(tx, claim))) throw fail('idempotency_running', { headers: { 'retry-after': '1' } })
    const claimed = await findClaimed(tx, claim)
    if (claimed) {
      // A movement has no answer in the table, but then the request was another one as well.
      const isSame = claimed.answer !== null && sameRequest(claim, claimed)
      app.meters.replay(isSame ? 'replayed' : 'mismatch')
      if (!claimed.answer || !isSame) throw fail('idempotency_mismatch')
      return unsealAnswer(claim, claimed.answer) as T
    }
    const answer = await story(tx)
    const kept = { created: app.now(), status: 201, answer: sealAnswer(claim, answer ?? null) }
    if (!(await insertAnswered(tx, claim, kept))) throw fail('idempotency_mismatch')
    return answer
  })
}
