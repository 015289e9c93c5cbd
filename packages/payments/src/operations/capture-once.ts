import type { Incoming } from '@tollgate/kit/endpoint'
import { tagOf } from '@tollgate/kit/id'
import type { App } from '../app.ts'
import type { Who } from '../callers.ts'
import { unfit } from '../errors.ts'
import { asOfEntry, type Tellable, tellTransaction } from '../rules/tell-transaction.ts'
import { insertPlainCapture } from '../store/captures.ts'
import type { Claim } from '../store/idempotency.ts'
import type { Transaction } from '../store/transactions.ts'
import { gigantic, moveMoney } from './move-money.ts'
import { readClaim } from './read-claim.ts'
import { orReplay, replayMovement } from './replay.ts'
import { seeTransaction } from './see-transaction.ts'

type Given = {
  who: Who
  params: { transaction_id: string }
  body: { amount: number; currency?: string; descriptor?: string }
  request: Incoming
}

type Asked = Omit<Given, 'request'> & { claim: Claim | undefined }

/**
 * Captures, and once only where the caller sent a key; answers with the whole transaction. Most captures are plain and done by one
 * statement; whatever is not, and whatever has to be refused, goes the long way.
 */
export async function captureOnce(app: App, { request, ...given }: Given) {
  const claim = readClaim({ who: given.who, request, body: given.body })
  const asked = { ...given, claim }
  const captured = await orReplay<Tellable>(
    app,
    claim,
    async () => (await capturePlainly(app, asked)) ?? captureInStrokes(app, asked),
    (claimed) => replayMovement(app, claimed),
  )
  return { transaction: tellTransaction(captured) }
}

async function capturePlainly(app: App, asked: Asked): Promise<Tellable | undefined> {
  const { who, params, body, claim } = asked
  if (body.amount >= gigantic) return undefined
  const tag = tagOf(params.transaction_id)
  const [entryId, lineId] = [app.mintId(tag), app.mintId(tag)]
  const captured = await insertPlainCapture(app.db, {
    ...{ transactionId: params.transaction_id, identityId: who.id, claim, created: app.now(), entryId, lineId },
    ...{ amount: body.amount, currency: body.currency, descriptor: body.descriptor },
  })
  if (!captured) return undefined
  app.meters.movement('capture', { kind: 'approved', acquirerReference: entryId }, captured.transaction.test)
  if (captured.complete) return captured.transaction
  return asOfEntry((await seeTransaction(app, asked)).transaction, entryId)
}

async function captureInStrokes(app: App, asked: Asked): Promise<Transaction> {
  const { amount, currency, descriptor } = asked.body
  const found = await seeTransaction(app, asked)
  if (currency !== undefined && currency !== found.transaction.currency)
    throw unfit('currency', `Must be ${found.transaction.currency}, the currency of the transaction`)
  return moveMoney(app, { kind: 'capture', found, amount, descriptor, claim: asked.claim })
}
