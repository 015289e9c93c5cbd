import Type from 'typebox'
import { endpoint } from '../app.ts'
import { identified } from '../callers.ts'
import { unfit } from '../errors.ts'
import { movementFails, moveOnce } from '../operations/move-once.ts'
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
  subject: seeTransaction,

  run(app, given) {
    const { currency } = given.subject.transaction
    if (given.body.currency !== undefined && given.body.currency !== currency)
      throw unfit('currency', `Must be ${currency}, the currency of the transaction`)
    return moveOnce(app, 'capture', given)
  },
})
