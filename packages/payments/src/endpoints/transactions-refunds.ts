import Type from 'typebox'
import { endpoint } from '../app.ts'
import { identified } from '../callers.ts'
import { movementFails, moveOnce } from '../operations/move-once.ts'
import { seeTransaction } from '../operations/see-transaction.ts'
import { Amount, Descriptor, Id, idempotencyNote, TransactionShape } from '../shapes.ts'

export const refunds = endpoint({
  method: 'POST',
  path: '/transactions/{transaction_id}/refunds',
  summary: 'Refund a part or all of what was captured',
  description: `What is disputed cannot be refunded while the dispute is open, or when it was lost. ${idempotencyNote}`,
  tag: 'Transactions',
  caller: identified,
  params: Type.Object({ transaction_id: Id }),
  body: Type.Object({ amount: Amount, descriptor: Type.Optional(Descriptor) }),
  reply: { 201: Type.Object({ transaction: TransactionShape }) },
  fails: movementFails,
  subject: seeTransaction,

  run(app, given) {
    return moveOnce(app, 'refund', given)
  },
})
