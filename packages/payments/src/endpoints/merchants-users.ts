import { Nothing } from '@tollgate/kit/endpoint'
import { lines, Moment, settle } from '@tollgate/kit/shape'
import Type from 'typebox'
import { endpoint } from '../app.ts'
import { identified } from '../callers.ts'
import { fail } from '../errors.ts'
import { inviteUser } from '../operations/invite-user.ts'
import { limitCaller } from '../operations/limit.ts'
import { once, onceFails } from '../operations/once.ts'
import { readClaim } from '../operations/read-claim.ts'
import { seeMerchant } from '../operations/see-merchant.ts'
import { settleEmail } from '../rules/email.ts'
import { readPage } from '../rules/page.ts'
import { Id, idempotencyNote, pageFields } from '../shapes.ts'
import { deleteUserMember, listUserMembers } from '../store/users.ts'

const Email = settle(
  Type.String({ format: 'email', maxLength: 300, description: 'The address that they sign in with' }),
  settleEmail,
)

export const addMerchantUser = endpoint({
  method: 'POST',
  path: '/merchants/{merchant_id}/users',
  summary: 'Invite a person to a merchant',
  description: `They have access at once, as soon as they sign in with this address, and are told by mail. Somebody who has access already keeps it
and gets no mail. ${idempotencyNote}`,
  tag: 'Merchants',
  caller: identified,
  params: Type.Object({ merchant_id: Id }),
  body: Type.Object({ email: Email }),
  reply: { 201: Type.Object({ isMember: Type.Boolean({ description: 'Whether they had access already' }) }) },
  fails: ['not_found', 'over_rate_limit', ...onceFails],
  subject: seeMerchant,

  async run(app, { who, subject, body, request }) {
    await limitCaller(app, request, 'newcomers', app.config.rateLimit.newcomers)
    const answer = await once(app, readClaim({ who, request, body }), async (tx) => ({
      isMember: !(await inviteUser(app, tx, { who, merchantId: subject.id, email: body.email })),
    }))
    app.nudge()
    return answer
  },
})

export const merchantsUsers = endpoint({
  method: 'GET',
  path: '/merchants/{merchant_id}/users',
  summary: 'List the people who have access to a merchant',
  tag: 'Merchants',
  caller: identified,
  params: Type.Object({ merchant_id: Id }),
  query: Type.Object({
    ...pageFields,
    filter: Type.Optional(Type.Object({ email: Type.Optional(Type.String()), name: Type.Optional(Type.String()) })),
  }),
  reply: {
    200: lines(Type.Object({ id: Id, created: Moment, email: Type.String(), name: Type.Union([Type.String(), Type.Null()]) })),
  },
  fails: ['not_found'],
  subject: seeMerchant,

  run({ db }, { subject, query }) {
    const { email, name } = query.filter ?? {}
    const filter = { email: email?.trim().toLowerCase(), name }
    return listUserMembers(db, subject.id, { page: readPage(query), filter })
  },
})

export const removeMerchantUser = endpoint({
  method: 'DELETE',
  path: '/merchants/{merchant_id}/users/{user_id}',
  summary: 'Take the access to a merchant from a person',
  description: 'At once. A person may take their own.',
  tag: 'Merchants',
  caller: identified,
  params: Type.Object({ merchant_id: Id, user_id: Id }),
  reply: { 204: Nothing },
  fails: ['not_found'],
  subject: seeMerchant,

  async run({ db }, { subject, params }) {
    if (!(await deleteUserMember(db, subject.id, params.user_id))) throw fail('not_found')
  },
})
