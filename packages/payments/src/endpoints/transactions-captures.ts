import Type from 'typebox'
import { endpoint } from '../app.ts'
import { identified } from '../callers.ts'
import { captureOnce } from '../operations/capture-once.ts'
import { movementFails } from '../operations/move-once.ts'
import { seeTransaction } from '../operations/see-transaction.ts'
import { Amount, Currency, Descriptor, Id, idempotencyNote, TransactionShape } from '../shapes.ts'

export const captures = endpoint({
  method: 'POST',
  path: '/transactions/{transaction_id}/captures',
  summary: 'Capture a part or all of what is reserved',
  description: `The currency need not be sent; where it is, it has to be the transaction's. ${idempotencyNote}`,
  tag: 'Transactions',
  caller: identified,
  params: Type.Object({ transaction_id: Id }),
  body: Type.Object({ amount: Amount, currency: Type.Optional(Currency), descriptor: Type.Optional(Descriptor) }),
  reply: { 201: Type.Object({ transaction: TransactionShape }) },
  fails: movementFails,
  firstRefusal: seeTransaction,

  run(app, given) {
    return captureOnce(app, given)
  },
})
