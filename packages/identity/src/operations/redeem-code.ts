import type { Tx } from '@tollgate/kit/db'
import type { Incoming } from '@tollgate/kit/endpoint'
import type { Failure } from '@tollgate/kit/failure'
import type { App } from '../app.ts'
import { fail } from '../errors.ts'
import { isBanned } from '../rules/ban.ts'
import { hashCode, hashLinkToken, mostAttempts } from '../rules/code.ts'
import type { TokenType } from '../rules/purposes.ts'
import { attemptCode, deleteCodes, type TakenCode, takeCode, takeLink } from '../store/codes.ts'
import {
  actorOf,
  confirmEmail,
  confirmPhone,
  findUser,
  lockUser,
  setEmailChangeHalfConfirmed,
  type User,
} from '../store/users.ts'
import { noteAudit } from './note-audit.ts'
import { noteRefusal } from './note-refusal.ts'
import { findTestCode } from './send-code.ts'
import { settleEmail, settlePhone } from './settle-contact.ts'
import { originOf } from './start-session.ts'

/** What somebody types, and the address or number that it was sent to. */
export type Typed = { code: string; email: string; phone?: undefined } | { code: string; phone: string; email?: undefined }

/**
 * Counts a guess, and answers with the id of the code that it opens and whose it is. By itself, before anything else, so that a wrong guess
 * stays counted although the request is refused.
 */
export async function guessCode(
  app: App,
  { code, email, phone }: Typed,
  types: readonly TokenType[],
  userId?: string,
): ReturnType<typeof attemptCode> {
  const relatesTo = email ?? phone
  const { sms, smtp } = app.config
  const lifetime = phone === undefined ? smtp.mailer.otpLifetime : sms.otpLifetime
  const isTest = phone !== undefined && findTestCode(app, phone) !== undefined
  return attemptCode(app.db, {
    relatesTo,
    types,
    codeHash: hashCode(app.secrets.codes, relatesTo, code),
    userId: userId ?? null,
    issuedAfter: isTest ? null : new Date(app.now().getTime() - lifetime * 1000),
    most: mostAttempts,
  })
}

/** A code that was opened, or what a link carries. */
export type Key = { codeId: string } | { linkToken: string; types: readonly TokenType[] }

export type Redeemed =
  | { outcome: 'proved'; user: User; flowId: string | null }
  /** The first of the two confirmations that a change of address needs. */
  | { outcome: 'half-confirmed'; flowId: string | null }

/** Takes a code or link away, so that exactly one gets in by it, and does what it was for. `check` may refuse whom it belongs to. */
export async function redeemCode(
  app: App,
  tx: Tx,
  key: Key,
  { request, check }: { request: Incoming; check?(user: User): Promise<void> },
): Promise<Redeemed> {
  const taken = await take(app, tx, key)
  const user = taken && (await lockUser(tx, taken.userId))
  const note = (refusal: Failure) => noteRefusal(app, request, { grant: 'otp', user: taken?.userId ?? null }, refusal)
  // The address may have changed since it was sent there.
  if (!user || !stillMeant(taken, user))
    throw note(fail('otp_expired', 'linkToken' in key ? { message: 'Email link is invalid or has expired' } : {}))
  if (isBanned(user, app.now())) throw note(fail('user_banned'))
  await check?.(user)

  if (await onlyHalf(app, tx, taken, user)) return { outcome: 'half-confirmed', flowId: taken.flowId }
  await doWhatItWasFor(app, tx, taken, user, originOf(request).address)
  await deleteCodes(tx, user.id)
  const changed = await findUser(tx, user.id)
  return { outcome: 'proved', user: changed as User, flowId: taken.flowId }
}

function take(app: App, tx: Tx, key: Key): Promise<TakenCode | undefined> {
  if ('codeId' in key) return takeCode(tx, key.codeId)
  const issuedAfter = new Date(app.now().getTime() - app.config.smtp.mailer.otpLifetime * 1000)
  return takeLink(tx, { linkHash: hashLinkToken(key.linkToken), types: key.types, issuedAfter })
}

function stillMeant({ tokenType, relatesTo }: TakenCode, user: User): boolean {
  if (user.deletedAt) return false
  if (tokenType === 'confirmation_token') return relatesTo === user.email || relatesTo === user.phone
  if (tokenType === 'email_change_token_new') return relatesTo === user.newEmail
  if (tokenType === 'phone_change_token') return relatesTo === user.newPhone
  if (tokenType === 'email_change_token_current' && user.newEmail === '') return false
  return relatesTo === user.email
}

/** Somebody who has an address shows that both are theirs, in whatever order. */
async function onlyHalf({ config }: App, tx: Tx, { tokenType }: TakenCode, user: User): Promise<boolean> {
  const { secureEmailChange, autoconfirm } = config.smtp.mailer
  const isChange = tokenType === 'email_change_token_new' || tokenType === 'email_change_token_current'
  if (!isChange || !secureEmailChange || autoconfirm || user.email === '') return false
  return setEmailChangeHalfConfirmed(tx, user.id)
}

async function doWhatItWasFor(app: App, tx: Tx, { tokenType, relatesTo }: TakenCode, user: User, address: string | null) {
  const now = app.now()
  const note = (action: 'user_signedup' | 'login' | 'user_modified', provider?: string) =>
    noteAudit(app, tx, { action, actor: actorOf(user), ...(provider ? { traits: { provider } } : {}) }, address)

  if (tokenType === 'email_change_token_new' || tokenType === 'email_change_token_current') {
    await note('user_modified')
    await settleEmail(app, tx, user, user.newEmail)
  } else if (tokenType === 'phone_change_token') {
    await note('user_modified')
    await settlePhone(app, tx, user, user.newPhone)
  } else if (relatesTo === user.phone) {
    await note(user.phoneConfirmedAt ? 'login' : 'user_signedup', 'phone')
    await confirmPhone(tx, user.id, now)
  } else {
    await note(user.emailConfirmedAt ? 'login' : 'user_signedup', 'email')
    await confirmEmail(tx, user.id, now)
  }
}
