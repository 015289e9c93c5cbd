import { lines } from '@tollgate/kit/shape'
import Type from 'typebox'
import { endpoint } from '../app.ts'
import { identified } from '../callers.ts'
import { chargeAgain } from '../operations/charge-again.ts'
import { movementFails } from '../operations/move-once.ts'
import { readClaim } from '../operations/read-claim.ts'
import { orReplay, replayAuthorization } from '../operations/replay.ts'
import { seeMerchant } from '../operations/see-merchant.ts'
import { readPage } from '../rules/page.ts'
import { tellTransaction } from '../rules/tell-transaction.ts'
import { Amount, Currency, Custom, Descriptor, Id, idempotencyNote, pageFields, TransactionShape } from '../shapes.ts'
import { listTransactions } from '../store/transactions.ts'

export const merchantsTransactions = endpoint({
  method: 'GET',
  path: '/merchants/{merchant_id}/transactions',
  summary: 'List the transactions of a merchant',
  tag: 'Transactions',
  caller: identified,
  params: Type.Object({ merchant_id: Id }),
  query: Type.Object({
    ...pageFields,
    filter: Type.Optional(
      Type.Object({
        test: Type.Optional(Type.Boolean()),
        currency: Type.Optional(Type.String()),
        amount: Type.Optional(Type.Integer()),
        successful: Type.Optional(Type.Boolean()),
        recurring: Type.Optional(Type.Boolean()),
        tds: Type.Optional(Type.String()),
        descriptor: Type.Optional(Type.String()),
      }),
    ),
  }),
  reply: { 200: lines(TransactionShape) },
  fails: ['not_found'],
  subject: seeMerchant,

  async run({ db }, { subject, query }) {
    const found = await listTransactions(db, subject.id, readPage(query), query.filter)
    return found.map(tellTransaction)
  },
})

export const createTransaction = endpoint({
  method: 'POST',
  path: '/merchants/{merchant_id}/transactions',
  summary: 'Charge a customer again, from an earlier transaction or a saved card',
  description: `The earlier transaction, transactionId or authorizationId, should be the one that the customer made at sign-up. A saved card, cardId, is deprecated. ${idempotencyNote}`,
  tag: 'Transactions',
  caller: identified,
  params: Type.Object({ merchant_id: Id }),
  body: Type.Object({
    transactionId: Type.Optional(Id),
    authorizationId: Type.Optional(Id),
    cardId: Type.Optional(Id),
    descriptor: Type.Optional(Descriptor),
    currency: Currency,
    amount: Amount,
    custom: Type.Optional(Custom),
  }),
  reply: { 201: Type.Object({ transaction: Type.Object({ id: Id }) }) },
  fails: movementFails,
  firstRefusal: seeMerchant,

  async run(app, { who, params, body, request }) {
    const claim = readClaim({ who, request, body })
    const transaction = await orReplay(
      app,
      claim,
      () => chargeAgain(app, { who, merchantId: params.merchant_id, ...body, claim }),
      (claimed) => replayAuthorization(app, claimed),
    )
    return { transaction }
  },
})
