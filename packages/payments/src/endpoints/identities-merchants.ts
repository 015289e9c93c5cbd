import { lines } from '@tollgate/kit/shape'
import Type from 'typebox'
import { endpoint } from '../app.ts'
import { identified } from '../callers.ts'
import { fail } from '../errors.ts'
import { MerchantReply, tellMerchant } from '../operations/tell-merchant.ts'
import { readPage } from '../rules/page.ts'
import { Id, pageFields } from '../shapes.ts'
import { listMerchantsOf } from '../store/merchants.ts'

export const identitiesMerchants = endpoint({
  method: 'GET',
  path: '/identities/{app_id}/merchants',
  summary: 'List the merchants of the one who asks',
  description: 'The id is the one that `GET /me` tells. Merchants of others are not told.',
  tag: 'Merchants',
  caller: identified,
  params: Type.Object({ app_id: Id }),
  query: Type.Object({
    ...pageFields,
    filter: Type.Optional(
      Type.Object({
        test: Type.Optional(Type.Boolean()),
        currency: Type.Optional(Type.String()),
        name: Type.Optional(Type.String()),
        email: Type.Optional(Type.String()),
        website: Type.Optional(Type.String()),
        descriptor: Type.Optional(Type.String()),
        key: Type.Optional(Type.String()),
      }),
    ),
  }),
  reply: { 200: lines(MerchantReply) },
  fails: ['not_found'],

  subject(_, { who, params }) {
    if (params.app_id !== who.id) throw fail('not_found')
    return undefined
  },

  async run({ db }, { who, query }) {
    const merchants = await listMerchantsOf(db, who.id, { page: readPage(query), filter: query.filter ?? {} })
    return merchants.map(tellMerchant)
  },
})
