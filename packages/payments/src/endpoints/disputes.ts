import { lines } from '@tollgate/kit/shape'
import Type from 'typebox'
import { endpoint } from '../app.ts'
import { identified } from '../callers.ts'
import { fail } from '../errors.ts'
import { seeMerchant } from '../operations/see-merchant.ts'
import { Dispute, tellDispute } from '../operations/tell-dispute.ts'
import { readPage } from '../rules/page.ts'
import { Id, pageFields } from '../shapes.ts'
import { findOwnDispute, listDisputes } from '../store/disputes.ts'

export const disputes = endpoint({
  method: 'GET',
  path: '/disputes',
  summary: 'List the disputes of a merchant, newest first',
  description: '`filter[merchantId]` is required.',
  tag: 'Disputes and fraud alerts',
  caller: identified,
  query: Type.Object({
    ...pageFields,
    filter: Type.Object({ merchantId: Id, transactionId: Type.Optional(Id) }),
  }),
  reply: { 200: lines(Dispute) },
  fails: ['not_found', 'validation_failed'],

  async run(app, { who, query }) {
    await seeMerchant(app, { who, params: { merchant_id: query.filter.merchantId } })
    return (await listDisputes(app.db, query.filter, readPage(query))).map(tellDispute)
  },
})

export const dispute = endpoint({
  method: 'GET',
  path: '/disputes/{dispute_id}',
  summary: 'Show a dispute',
  tag: 'Disputes and fraud alerts',
  caller: identified,
  params: Type.Object({ dispute_id: Id }),
  reply: { 200: Type.Object({ dispute: Dispute }) },
  fails: ['not_found'],

  async run({ db }, { who, params }) {
    const found = await findOwnDispute(db, who.id, params.dispute_id)
    if (!found) throw fail('not_found')
    return { dispute: tellDispute(found) }
  },
})
