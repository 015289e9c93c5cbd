import { lines, Moment } from '@tollgate/kit/shape'
import Type from 'typebox'
import { endpoint } from '../app.ts'
import { identified } from '../callers.ts'
import { fail } from '../errors.ts'
import { seeMerchant } from '../operations/see-merchant.ts'
import { readPage } from '../rules/page.ts'
import { Id, pageFields } from '../shapes.ts'
import { findOwnFraud, listFrauds } from '../store/frauds.ts'

const Fraud = Type.Object({
  id: Id,
  merchantId: Id,
  transactionId: Id,
  created: Moment,
  reported: Type.Optional(Moment),
  reason: Type.Optional(
    Type.Integer({
      description:
        '0 misc, 1 fraudulent usage, 2 fraudulent application, 3 counterfeit, 4 account takeover, 5 card not delivered, 6 card stolen, 7 card lost, 8 cardholder manipulated',
    }),
  ),
})

export const frauds = endpoint({
  method: 'GET',
  path: '/frauds',
  summary: 'List the fraud alerts of a merchant, newest first',
  description: '`filter[merchantId]` is required.',
  tag: 'Disputes and fraud alerts',
  caller: identified,
  query: Type.Object({
    ...pageFields,
    filter: Type.Object({ merchantId: Id, transactionId: Type.Optional(Id) }),
  }),
  reply: { 200: lines(Fraud) },
  fails: ['not_found', 'validation_failed'],

  async run(app, { who, query }) {
    await seeMerchant(app, { who, params: { merchant_id: query.filter.merchantId } })
    return listFrauds(app.db, query.filter, readPage(query))
  },
})

export const fraud = endpoint({
  method: 'GET',
  path: '/frauds/{fraud_id}',
  summary: 'Show a fraud alert',
  tag: 'Disputes and fraud alerts',
  caller: identified,
  params: Type.Object({ fraud_id: Id }),
  reply: { 200: Type.Object({ fraud: Fraud }) },
  fails: ['not_found'],

  async run({ db }, { who, params }) {
    const found = await findOwnFraud(db, who.id, params.fraud_id)
    if (!found) throw fail('not_found')
    return { fraud: found }
  },
})
