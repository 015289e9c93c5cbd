import type { Tx } from '@tollgate/kit/db'
import type { Claims } from '@tollgate/kit/jwt'
import type { App } from '../app.ts'
import type { SignedIn } from '../callers.ts'
import { fail } from '../errors.ts'
import { isOverlong } from '../rules/password.ts'
import { takeCode } from '../store/codes.ts'
import { deleteSessions } from '../store/sessions.ts'
import { actorOf, findPasswordHash, setPassword, type User } from '../store/users.ts'
import { noteAudit } from './note-audit.ts'
import { notifyUser } from './notify-user.ts'
import { guessCode } from './redeem-code.ts'

type PasswordWish = { password: string; nonce: string; currentPassword: string }

/** A password that may be set as long as the account has the one that it was compared with. */
type NewPassword = { hash: string; insteadOf: string | null; nonceId: string | undefined }

/** Finds out whether somebody may set this password, and hashes it: outside of any transaction, and what is cheap first. */
export async function preparePassword(app: App, { user, claims }: SignedIn, wish: PasswordWish): Promise<NewPassword> {
  const { passwordChangeNeedsNonce, passwordChangeNeedsCurrent } = app.config.security
  const nonceId = passwordChangeNeedsNonce ? await guessNonce(app, user, wish.nonce) : undefined
  const insteadOf = await findPasswordHash(app.db, user.id)
  if (insteadOf) {
    const asksForCurrent = passwordChangeNeedsCurrent && !enteredByMessage(claims)
    if (asksForCurrent) await proveCurrent(app, wish, insteadOf)
    // The current one is known to be right here, so that a look tells whether the new one is the same.
    const same = asksForCurrent
      ? wish.currentPassword === wish.password
      : (await app.passwords.verify(wish.password, insteadOf)).matches
    if (same) throw fail('same_password')
  }
  return { hash: await app.passwords.hash(wish.password), insteadOf, nonceId }
}

/** Wrong ones are counted; the right one is taken when the password is set. */
async function guessNonce(app: App, { id, email, phone }: User, nonce: string): Promise<string> {
  if (nonce === '') throw fail('reauthentication_needed')
  const { codeId } = await guessCode(app, email ? { code: nonce, email } : { code: nonce, phone }, ['reauthentication_token'], id)
  if (codeId === undefined) throw fail('reauthentication_not_valid')
  return codeId
}

async function proveCurrent({ passwords }: App, { currentPassword }: PasswordWish, hash: string): Promise<void> {
  if (currentPassword === '') throw fail('current_password_required')
  // Nobody's password is that long, and hashing a megabyte costs more than a password should.
  if (isOverlong(currentPassword) || !(await passwords.verify(currentPassword, hash)).matches)
    throw fail('current_password_invalid')
}

const messages: readonly unknown[] = ['otp', 'magiclink', 'recovery']

/** Whoever got in by a link or code may well have forgotten the password that they are about to replace. */
function enteredByMessage({ amr }: Claims): boolean {
  return Array.isArray(amr) && amr.some((entry: { method?: unknown } | null) => messages.includes(entry?.method))
}

/**
 * Sets a password of an account that this transaction has locked, and ends all sessions but the one that asks. False when the account has
 * got another password meanwhile: then what was found out about it is worth nothing.
 */
export async function setPreparedPassword(
  app: App,
  tx: Tx,
  { user, sessionId, address }: { user: User; sessionId: string | undefined; address: string | null },
  { hash, insteadOf, nonceId }: NewPassword,
): Promise<boolean> {
  if ((await findPasswordHash(tx, user.id)) !== insteadOf) return false
  if (nonceId !== undefined) {
    const taken = await takeCode(tx, nonceId)
    // The address may have changed since it was sent there.
    if (taken?.relatesTo !== (user.email || user.phone)) throw fail('reauthentication_not_valid')
  }
  await setPassword(tx, user.id, hash, app.now())
  await deleteSessions(tx, user.id, sessionId === undefined ? {} : { except: sessionId })
  await noteAudit(app, tx, { action: 'user_updated_password', actor: actorOf(user) }, address)
  await notifyUser(app, tx, user, { kind: 'password_changed_notification' })
  return true
}
