import type { Tx } from '@tollgate/kit/db'
import { randomTag, tagOf } from '@tollgate/kit/id'
import { addJob } from '@tollgate/kit/jobs'
import type { App } from '../app.ts'
import type { Who } from '../callers.ts'
import { enterUser, findUserByEmail, insertUserMember } from '../store/users.ts'
import type { InvitationJob } from './deliver-invitation.ts'

type Invitation = { who: Who; merchantId: string; email: string }

/** Makes a person a member of a merchant, and has them told by mail. False when they are one already, which is no news. */
export async function inviteUser(app: App, tx: Tx, { who, merchantId, email }: Invitation): Promise<boolean> {
  const { mintId } = app
  const now = app.now()
  const user =
    (await findUserByEmail(tx, email)) ?? (await enterUser(tx, { id: mintId(randomTag()), email, name: null, created: now }))
  if (!(await insertUserMember(tx, { merchantId, userId: user.id, created: now }))) return false
  const invitation = { id: mintId(tagOf(merchantId)), merchantId, userId: user.id, inviterId: who.id, at: now.toISOString() }
  if (canMail(app)) await addJob(tx, { kind: 'invitation', payload: invitation satisfies InvitationJob, now })
  return true
}

const warned = new WeakSet<App>()

/** Somebody who cannot be told has access all the same: whoever invited them can tell them. */
function canMail(app: App): boolean {
  if (app.config.mail.smtp.host !== '') return true
  if (!warned.has(app)) app.log.warn('PAY_SMTP_HOST is not set, so people who are invited are not told by mail')
  warned.add(app)
  return false
}
