import type { Tx } from '@tollgate/kit/db'
import type { App } from '../app.ts'
import type { MailFacts, MailKind } from '../mail/kinds.ts'
import type { User } from '../store/users.ts'
import { sendMail } from './send-code.ts'

type Notification = Extract<MailKind, `${string}_notification`>

/** Tells somebody by mail what became of their account, where the operator wants that. A change of address is told to the old one. */
export async function notifyUser(
  app: App,
  tx: Tx,
  user: User,
  { kind, facts = {} }: { kind: Notification; facts?: Partial<MailFacts> },
): Promise<void> {
  const { notifications } = app.config.smtp.mailer
  const wanted = {
    password_changed_notification: notifications.passwordChanged,
    email_changed_notification: notifications.emailChanged,
    phone_changed_notification: notifications.phoneChanged,
    identity_linked_notification: notifications.identityLinked,
    identity_unlinked_notification: notifications.identityUnlinked,
  }[kind]
  if (!wanted || user.email === '' || !user.emailConfirmedAt) return
  const mail = { kind, to: user.email, facts: { email: user.email, data: user.userMetadata, ...facts } }
  // Nobody's change is refused because too many mails went out to others.
  await sendMail(app, tx, mail, { for: user, counted: false })
}
