import Type from 'typebox'
import { endpoint } from '../app.ts'
import { identified } from '../callers.ts'
import { seeTransaction } from '../operations/see-transaction.ts'
import { tellTransaction } from '../rules/tell-transaction.ts'
import { Id, TransactionShape } from '../shapes.ts'

export const transaction = endpoint({
  method: 'GET',
  path: '/transactions/{transaction_id}',
  summary: 'Tell about a transaction',
  tag: 'Transactions',
  caller: identified,
  params: Type.Object({ transaction_id: Id }),
  reply: { 200: Type.Object({ transaction: TransactionShape }) },
  fails: ['not_found'],
  subject: seeTransaction,

  run(_, { subject }) {
    return { transaction: tellTransaction(subject.transaction) }
  },
})
