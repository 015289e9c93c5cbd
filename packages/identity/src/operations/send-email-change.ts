import type { Tx } from '@tollgate/kit/db'
import type { Incoming } from '@tollgate/kit/endpoint'
import type { App } from '../app.ts'
import type { CodeChallenge } from '../rules/code-challenge.ts'
import { deleteCodesOf } from '../store/codes.ts'
import { setEmailChange, type User } from '../store/users.ts'
import { sendCodeByMail } from './send-code.ts'

type Change = { user: User | undefined; newEmail: string; redirectTo: string; challenge: CodeChallenge | undefined }

/**
 * Mails with which a new address is confirmed: to it, and to the present one where both have to agree. What was confirmed before for this
 * or another change does not count any more. Answers with the id of the mail to the new address.
 */
export async function sendEmailChange(app: App, tx: Tx, request: Incoming, change: Change): Promise<string> {
  const { user, newEmail } = change
  if (user) {
    await setEmailChange(tx, user.id, newEmail)
    await deleteCodesOf(tx, user.id, ['email_change_token_new', 'email_change_token_current'])
  }
  if (user && user.email !== '' && app.config.smtp.mailer.secureEmailChange)
    await sendCodeByMail(app, tx, request, { ...change, purpose: 'email_change_current', to: user.email })
  return sendCodeByMail(app, tx, request, { ...change, purpose: 'email_change_new', to: newEmail })
}
