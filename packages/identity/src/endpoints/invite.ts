import Type from 'typebox'
import { endpoint } from '../app.ts'
import { audienceOf, inviter } from '../callers.ts'
import { fail } from '../errors.ts'
import { findDestination } from '../operations/find-destination.ts'
import { noteAudit } from '../operations/note-audit.ts'
import { readEmail } from '../operations/read-input.ts'
import { sendCodeByMail } from '../operations/send-code.ts'
import { findOrCreateUser } from '../operations/sign-up.ts'
import { originOf } from '../operations/start-session.ts'
import { Data, redirectQuery, UserShape, userReply } from '../shapes.ts'
import { setInvited } from '../store/users.ts'

export const invite = endpoint({
  method: 'POST',
  path: '/invite',
  summary: 'Invite somebody by mail',
  description: 'Works where signing up is disabled, too. Somebody who was invited and has not come yet is invited again.',
  tag: 'Administration',
  caller: inviter,
  query: redirectQuery,
  body: Type.Object({ email: Type.Optional(Type.String()), data: Type.Optional(Data) }),
  reply: { 200: UserShape },
  fails: ['email_exists', 'over_email_send_rate_limit', 'email_address_not_authorized'],

  async run(app, { who, body: { email = '', data = {} }, query, request }) {
    const contact = { email: readEmail(email) }
    const redirectTo = findDestination(app, request, query.redirect_to)
    const now = app.now()
    const account = { contact, aud: audienceOf(app, request), passwordHash: null, data, confirmed: false, invited: true }
    const invited = await app.db.begin(async (tx) => {
      const { user } = await findOrCreateUser(app, tx, account)
      if (!user || user.emailConfirmedAt) throw fail('email_exists')
      await setInvited(tx, user.id, now)
      const traits = { user_id: user.id, user_email: user.email }
      await noteAudit(app, tx, { action: 'user_invited', actor: who.actor, traits }, originOf(request).address)
      await sendCodeByMail(app, tx, request, { purpose: 'invite', user, to: contact.email, redirectTo, challenge: undefined })
      return { ...user, invitedAt: now, confirmationSentAt: now }
    })
    app.nudge()
    return userReply(invited)
  },
})
