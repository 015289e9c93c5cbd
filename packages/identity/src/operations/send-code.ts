import { randomUUID } from 'node:crypto'
import type { Tx } from '@tollgate/kit/db'
import type { Incoming } from '@tollgate/kit/endpoint'
import type { App } from '../app.ts'
import { fail } from '../errors.ts'
import { confirmationUrl } from '../mail/confirmation-url.ts'
import { type MailFacts, type MailKind, mailKinds } from '../mail/kinds.ts'
import { findLocale } from '../mail/locale.ts'
import { hashCode, hashLinkToken, newCode, newLinkToken } from '../rules/code.ts'
import type { CodeChallenge } from '../rules/code-challenge.ts'
import { type MailPurpose, purposes, type SmsPurpose } from '../rules/purposes.ts'
import { seal } from '../rules/seal.ts'
import { smsText } from '../sms/template.ts'
import { putCode } from '../store/codes.ts'
import { insertFlow } from '../store/flows.ts'
import { type Channel, insertMessage } from '../store/messages.ts'
import type { User } from '../store/users.ts'
import { findExternalUrl } from './find-destination.ts'
import { limitMail, limitSms } from './limit.ts'

export type Mailing = {
  purpose: MailPurpose
  /** Nobody, where there is no account: then the same is done, and nothing comes of it. */
  user: User | undefined
  to: string
  newEmail?: string
  redirectTo: string
  challenge: CodeChallenge | undefined
}

/** What a message says, as it is kept until it is sent. */
export type SealedMail = { kind: MailKind; to: string; facts: MailFacts }
export type SealedSms = { to: string; text: string; code: string; whatsapp: boolean }

/** A code and a link, on their way by mail. Answers with the id of the message. */
export async function sendCodeByMail(app: App, tx: Tx, request: Incoming, mailing: Mailing): Promise<string> {
  const { purpose, user, to, newEmail, redirectTo } = mailing
  checkAuthorized(app, to)
  const issued = await issueCode(app, tx, request, mailing)
  const facts: MailFacts = {
    email: user?.email || to,
    newEmail,
    sendingTo: to,
    link: issued.link,
    code: issued.code,
    tokenHash: issued.linkToken,
    redirectTo,
    locale: findLocale(user?.userMetadata, request.headers['accept-language']),
    data: user?.userMetadata,
  }
  const { otpLifetime } = app.config.smtp.mailer
  // A change of address counts once, although it may need two mails.
  const counted = purpose !== 'email_change_current'
  return sendMail(app, tx, { kind: purposes[purpose].mail, to, facts }, { for: user, lifetime: otpLifetime, counted })
}

/** A mail, on its way. */
export async function sendMail(
  app: App,
  tx: Tx,
  mail: SealedMail,
  { for: user, lifetime, counted }: { for: User | undefined; lifetime?: number; counted: boolean },
): Promise<string> {
  const facts = { locale: findLocale(mail.facts.data), ...mail.facts }
  const id = await queueMessage(app, tx, user ? 'mail' : 'none', { ...mail, facts }, lifetime)
  if (counted) await limitMail(app, tx)
  return id
}

/** A code and a link, as the admin asks for to deliver them by other means. */
export async function issueCode(app: App, tx: Tx, request: Incoming, mailing: Omit<Mailing, 'newEmail'>) {
  const { purpose, user, to, redirectTo, challenge } = mailing
  const now = app.now()
  const { tokenType, mail, method } = purposes[purpose]
  const code = newCode(app.config.smtp.mailer.otpLength)
  const linkToken = newLinkToken(challenge !== undefined)
  const userId = user?.id ?? null
  const flowId = challenge ? randomUUID() : null
  if (challenge && flowId !== null)
    await insertFlow(tx, { id: flowId, userId, challenge: challenge.challenge, provider: 'email', method, now })
  const codeHash = hashCode(app.secrets.codes, to, code)
  await putCode(tx, { userId, tokenType, relatesTo: to, linkHash: hashLinkToken(linkToken), codeHash, flowId, now })

  const { link: leads } = mailKinds[mail]
  const link =
    leads &&
    confirmationUrl({
      externalUrl: findExternalUrl(app, request),
      path: app.config.smtp.mailer.urlPaths[leads.path],
      token: linkToken,
      type: leads.type,
      redirectTo,
    })
  return { code, linkToken, link }
}

export type Texting = { purpose: SmsPurpose; user: User | undefined; to: string; whatsapp: boolean }

/** A code, on its way by SMS. Numbers that are for tests get none, and accept the code that is set for them. */
export async function sendCodeBySms(app: App, tx: Tx, { purpose, user, to, whatsapp }: Texting): Promise<string> {
  const now = app.now()
  const { sms } = app.config
  const testCode = findTestCode(app, to)
  // Nobody is promised an SMS that nobody could deliver.
  if (sms.provider === undefined && testCode === undefined)
    throw fail('phone_provider_disabled', { status: 400, message: 'Unsupported phone provider' })
  const code = testCode ?? newCode(sms.otpLength)
  const { tokenType } = purposes[purpose]
  const codeHash = hashCode(app.secrets.codes, to, code)
  // No link leads here.
  const linkHash = hashLinkToken(newLinkToken(false))
  await putCode(tx, { userId: user?.id ?? null, tokenType, relatesTo: to, linkHash, codeHash, flowId: null, now })
  const message: SealedSms = { to, text: smsText(sms.template, code), code, whatsapp }
  const id = await queueMessage(app, tx, user && testCode === undefined ? 'sms' : 'none', message, sms.otpLifetime)
  if (testCode === undefined) await limitSms(app, tx)
  return id
}

/** The code that a number accepts for tests, if it is such a number. */
export function findTestCode({ config, now }: App, phone: string): string | undefined {
  const { testCodes, testCodesUntil } = config.sms
  return testCodesUntil !== undefined && testCodesUntil < now() ? undefined : testCodes.get(phone)
}

async function queueMessage(
  app: App,
  tx: Tx,
  channel: Channel,
  content: SealedMail | SealedSms,
  lifetime?: number,
): Promise<string> {
  const now = app.now()
  const id = randomUUID()
  const expiresAt = lifetime === undefined ? null : new Date(now.getTime() + lifetime * 1000)
  await insertMessage(tx, { id, channel, sealed: seal(app.secrets.messages, id, content), expiresAt, now })
  return id
}

/** Installations that are being tried out may write to their own people alone. */
function checkAuthorized({ config }: App, to: string) {
  const { authorizedAddresses } = config.external
  if (authorizedAddresses.length === 0) return
  const plain = (address: string) => address.toLowerCase().replace(/\+[^@]*@/, '@')
  if (authorizedAddresses.some((listed) => plain(listed) === plain(to))) return
  throw fail('email_address_not_authorized', {
    message: `Email address ${JSON.stringify(to)} cannot be used as it is not authorized`,
  })
}
