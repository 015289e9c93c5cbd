import { Nothing } from '@tollgate/kit/endpoint'
import { lines, Moment } from '@tollgate/kit/shape'
import Type from 'typebox'
import { endpoint } from '../app.ts'
import { identified } from '../callers.ts'
import { fail, unfit } from '../errors.ts'
import { once, onceFails } from '../operations/once.ts'
import { readClaim } from '../operations/read-claim.ts'
import { seeMerchant } from '../operations/see-merchant.ts'
import { readPage } from '../rules/page.ts'
import { Id, idempotencyNote, pageFields } from '../shapes.ts'
import { deleteAppMember, insertAppMember, listAppMembers } from '../store/members.ts'

export const addMerchantApp = endpoint({
  method: 'POST',
  path: '/merchants/{merchant_id}/apps',
  summary: 'Give an app access to a merchant',
  description: `It may then do everything with the merchant. An app that has access already keeps it. ${idempotencyNote}`,
  tag: 'Merchants',
  caller: identified,
  params: Type.Object({ merchant_id: Id }),
  body: Type.Object({ appId: Id }),
  reply: { 201: Nothing },
  fails: ['not_found', ...onceFails],
  subject: seeMerchant,

  run(app, { who, subject, body, request }) {
    return once(app, readClaim({ who, request, body }), async (tx) => {
      const known = await insertAppMember(tx, { merchantId: subject.id, appId: body.appId, now: app.now() })
      if (!known) throw unfit('appId', 'There is no app with this id')
    })
  },
})

export const merchantsApps = endpoint({
  method: 'GET',
  path: '/merchants/{merchant_id}/apps',
  summary: 'List the apps that have access to a merchant',
  description: 'The key is told to the app alone whose key it is.',
  tag: 'Merchants',
  caller: identified,
  params: Type.Object({ merchant_id: Id }),
  query: Type.Object({ ...pageFields, filter: Type.Optional(Type.Object({ name: Type.Optional(Type.String()) })) }),
  reply: {
    200: lines(
      Type.Object({
        id: Id,
        name: Type.Union([Type.String(), Type.Null()]),
        key: Type.Optional(Type.String({ format: 'uuid' })),
        created: Moment,
      }),
    ),
  },
  fails: ['not_found'],
  subject: seeMerchant,

  async run({ db }, { who, subject, query }) {
    const apps = await listAppMembers(db, subject.id, { page: readPage(query), name: query.filter?.name })
    return apps.map((app) => ({ ...app, key: app.id === who.id ? who.key : undefined }))
  },
})

export const removeMerchantApp = endpoint({
  method: 'DELETE',
  path: '/merchants/{merchant_id}/apps/{app_id}',
  summary: 'Take the access to a merchant from an app',
  description: 'At once. An app may take its own.',
  tag: 'Merchants',
  caller: identified,
  params: Type.Object({ merchant_id: Id, app_id: Id }),
  reply: { 204: Nothing },
  fails: ['not_found'],
  subject: seeMerchant,

  async run({ db }, { subject, params }) {
    if (!(await deleteAppMember(db, subject.id, params.app_id))) throw fail('not_found')
  },
})
