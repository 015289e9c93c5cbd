import type { Sql } from '@tollgate/kit/db'
import { Moment } from '@tollgate/kit/shape'
import Type from 'typebox'
import { endpoint } from '../app.ts'
import { identified } from '../callers.ts'
import { fail } from '../errors.ts'
import { hashKey } from '../rules/keys.ts'
import { unsealAnswer } from '../rules/sealed-answer.ts'
import { Id } from '../shapes.ts'
import { type Claimed, findClaimed } from '../store/idempotency.ts'
import { findTransaction } from '../store/transactions.ts'

const Told = Type.Object({
  key: Type.String(),
  method: Type.String(),
  path: Type.String(),
  created: Moment,
  state: Type.Union([Type.Literal('done'), Type.Literal('declined'), Type.Literal('running')]),
  merchantId: Type.Optional(Id),
  transactionId: Type.Optional(Id),
  lineId: Type.Optional(Id),
  answer: Type.Optional(Type.Unknown({ description: 'What was answered, where that is not told by a transaction' })),
})

export const idempotency = endpoint({
  method: 'GET',
  path: '/idempotency/{key}',
  summary: 'Tell what an Idempotency-Key did',
  description: 'The record is kept for ever. A key that did nothing, or is somebody else’s, is not there.',
  tag: 'Idempotency',
  caller: identified,
  params: Type.Object({ key: Type.String({ minLength: 1, maxLength: 255 }) }),
  reply: { 200: Type.Object({ idempotency: Told }) },
  fails: ['not_found'],
  // Whoever knows the key can unseal what was answered.
  secretPath: true,

  async run({ db }, { who, params }) {
    const { key } = params
    const claimed = await findClaimed(db, { ownerId: who.id, keyHash: hashKey(key).toString('hex') })
    if (!claimed) throw fail('not_found')
    const { method, path, created, answer } = claimed
    const told = { key, method, path, created }
    if (answer)
      return { idempotency: { ...told, state: 'done' as const, answer: unsealAnswer({ ownerId: who.id, key }, answer) } }
    return { idempotency: { ...told, ...(await becomeOf(db, claimed)) } }
  },
})

/** What became of a payment or a movement. */
async function becomeOf(db: Sql, { merchantId, transactionId, entryId }: Claimed) {
  const found = await findTransaction(db, merchantId ?? '', transactionId ?? '')
  if (!found) throw fail('not_found')
  const { transaction } = found
  const named = { merchantId: transaction.merchantId, transactionId: transaction.id }
  const entry = transaction.trail.find(({ id }) => id === entryId)
  const state = entry?.state ?? transaction.state
  if (state === 'pending') return { ...named, state: 'running' as const }
  if (state === 'failed' || state === 'declined') return { ...named, state: 'declined' as const }
  return { ...named, state: 'done' as const, lineId: entry?.lineId }
}
