import Type from 'typebox'
import { endpoint } from '../app.ts'
import { identified } from '../callers.ts'
import { movementFails, moveOnce } from '../operations/move-once.ts'
import { seeTransaction } from '../operations/see-transaction.ts'
import { Amount, Id, idempotencyNote, TransactionShape } from '../shapes.ts'

export const voids = endpoint({
  method: 'POST',
  path: '/transactions/{transaction_id}/voids',
  summary: 'Give up a part or all of what is reserved',
  description: idempotencyNote,
  tag: 'Transactions',
  caller: identified,
  params: Type.Object({ transaction_id: Id }),
  body: Type.Object({ amount: Amount }),
  reply: { 201: Type.Object({ transaction: TransactionShape }) },
  fails: movementFails,
  subject: seeTransaction,

  run(app, given) {
    return moveOnce(app, 'void', given)
  },
})
