import type { Tx } from '@tollgate/kit/db'
import type { Incoming } from '@tollgate/kit/endpoint'
import type { App } from '../app.ts'
import { audienceOf } from '../callers.ts'
import { fail } from '../errors.ts'
import type { CodeChallenge } from '../rules/code-challenge.ts'
import { actorOf, type Contact, findUserByContact, type Metadata, type User } from '../store/users.ts'
import { evenOut } from './even-out.ts'
import { holdInterval } from './hold-interval.ts'
import { noteAudit } from './note-audit.ts'
import { sendCodeByMail, sendCodeBySms } from './send-code.ts'
import { findOrCreateUser, isWelcome } from './sign-up.ts'
import { originOf } from './start-session.ts'

type Asked = { createUser: boolean; data: Metadata }

/** Refuses where nobody signs in by mail. */
export function checkMagicLinks({ config }: App) {
  if (!config.external.email) throw fail('email_provider_disabled')
  if (!config.external.magicLink) throw fail('email_provider_disabled', { message: 'Login with magic link is disabled' })
}

/** A link and a code by mail, to whoever is to sign in; people unknown so far are signed up on the way, where that is wanted. */
export async function sendMagicLink(
  app: App,
  request: Incoming,
  { email, redirectTo, challenge, ...asked }: Asked & { email: string; redirectTo: string; challenge: CodeChallenge | undefined },
): Promise<void> {
  await evenOut(async () => {
    await app.db.begin(async (tx) => {
      await holdInterval(app, tx, 'magiclink', email)
      const user = await findRecipient(app, tx, request, { contact: { email }, ...asked })
      const purpose = user && !user.emailConfirmedAt ? 'signup' : 'magiclink'
      await noteRequest(app, tx, request, user, purpose === 'signup' ? 'user_confirmation_requested' : 'user_recovery_requested')
      await sendCodeByMail(app, tx, request, { purpose, user, to: email, redirectTo, challenge })
    })
    app.nudge()
  })
}

/** The same by SMS. */
export async function sendSmsCode(
  app: App,
  request: Incoming,
  { phone, whatsapp, ...asked }: Asked & { phone: string; whatsapp: boolean },
): Promise<void> {
  await evenOut(async () => {
    await app.db.begin(async (tx) => {
      await holdInterval(app, tx, 'sms', phone)
      const user = await findRecipient(app, tx, request, { contact: { phone }, ...asked })
      await noteRequest(
        app,
        tx,
        request,
        user,
        user?.phoneConfirmedAt ? 'user_recovery_requested' : 'user_confirmation_requested',
      )
      await sendCodeBySms(app, tx, { purpose: 'sms', user, to: phone, whatsapp })
    })
    app.nudge()
  })
}

/** Nobody, where there is no account and none is wanted, or where its owner is not let in: the answer is the same. */
async function findRecipient(
  app: App,
  tx: Tx,
  request: Incoming,
  { contact, createUser, data }: Asked & { contact: Contact },
): Promise<User | undefined> {
  const { disableSignup, smtp, sms } = app.config
  const aud = audienceOf(app, request)
  const confirmed = contact.email === undefined ? sms.autoconfirm : smtp.mailer.autoconfirm
  const user =
    createUser && !disableSignup
      ? // Whoever comes in this way has chosen to have no password.
        (await findOrCreateUser(app, tx, { contact, aud, passwordHash: '', data, confirmed })).user
      : await findUserByContact(tx, contact, aud)
  return user && isWelcome(app, user) ? user : undefined
}

async function noteRequest(
  app: App,
  tx: Tx,
  request: Incoming,
  user: User | undefined,
  action: 'user_recovery_requested' | 'user_confirmation_requested',
) {
  if (user) await noteAudit(app, tx, { action, actor: actorOf(user) }, originOf(request).address)
}
