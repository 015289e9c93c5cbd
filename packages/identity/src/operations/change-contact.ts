import type { Sql, Tx } from '@tollgate/kit/db'
import type { Incoming } from '@tollgate/kit/endpoint'
import type { App } from '../app.ts'
import { fail } from '../errors.ts'
import type { CodeChallenge } from '../rules/code-challenge.ts'
import { deleteCodesOf } from '../store/codes.ts'
import { contactIsTaken, setPhoneChange, type User } from '../store/users.ts'
import { holdInterval } from './hold-interval.ts'
import { sendCodeBySms } from './send-code.ts'
import { sendEmailChange } from './send-email-change.ts'
import { settleEmail, settlePhone } from './settle-contact.ts'

/** Refuses an address or number that somebody else has. Whoever asks is signed in, so that they may be told. */
export async function refuseTaken(
  sql: Sql,
  user: User,
  { email, phone }: { email: string | undefined; phone: string | undefined },
) {
  if (email !== undefined && email !== user.email && (await contactIsTaken(sql, { email }, user.id))) throw fail('email_exists')
  if (phone !== undefined && phone !== user.phone && (await contactIsTaken(sql, { phone }, user.id))) throw fail('phone_exists')
}

type EmailChange = { email: string; redirectTo: string; challenge: CodeChallenge | undefined }

/** Another address for an account that this transaction has locked: it has to be confirmed, unless nobody has to confirm theirs. */
export async function changeEmail(app: App, tx: Tx, request: Incoming, user: User, change: EmailChange): Promise<void> {
  const { email, redirectTo, challenge } = change
  if (email === user.email) return
  await refuseTaken(tx, user, { email, phone: undefined })
  // Somebody with an account of their own could lose it by a mistyped address; somebody anonymous has nothing to lose yet.
  if (user.isAnonymous && app.config.smtp.mailer.autoconfirm) {
    await deleteCodesOf(tx, user.id, ['email_change_token_new', 'email_change_token_current'])
    return settleEmail(app, tx, user, email)
  }
  // By whom it is asked, or one account could write to everybody; and by whom it goes to, or everybody could write to one.
  await holdInterval(app, tx, 'email_change', user.email || user.id)
  await holdInterval(app, tx, 'email_change', email)
  await sendEmailChange(app, tx, request, { user, newEmail: email, redirectTo, challenge })
}

/** The same for a number. */
export async function changePhone(
  app: App,
  tx: Tx,
  user: User,
  { phone, whatsapp }: { phone: string; whatsapp: boolean },
): Promise<void> {
  if (phone === user.phone) return
  await refuseTaken(tx, user, { email: undefined, phone })
  await deleteCodesOf(tx, user.id, ['phone_change_token'])
  if (app.config.sms.autoconfirm) return settlePhone(app, tx, user, phone)
  await holdInterval(app, tx, 'phone_change', user.phone || user.id)
  await holdInterval(app, tx, 'phone_change', phone)
  await setPhoneChange(tx, user.id, phone)
  await sendCodeBySms(app, tx, { purpose: 'phone_change', user, to: phone, whatsapp })
}
