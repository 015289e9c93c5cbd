import type { Tx } from '@tollgate/kit/db'
import { anyone, type Incoming } from '@tollgate/kit/endpoint'
import Type from 'typebox'
import { type App, endpoint } from '../app.ts'
import { audienceOf } from '../callers.ts'
import { fail } from '../errors.ts'
import { checkCaptcha } from '../operations/check-captcha.ts'
import { evenOut } from '../operations/even-out.ts'
import { findDestination } from '../operations/find-destination.ts'
import { holdInterval } from '../operations/hold-interval.ts'
import { limitCaller } from '../operations/limit.ts'
import { noteAudit } from '../operations/note-audit.ts'
import { readChallenge, readEmail, readPhone } from '../operations/read-input.ts'
import { sendCodeByMail, sendCodeBySms } from '../operations/send-code.ts'
import { sendEmailChange } from '../operations/send-email-change.ts'
import { isWelcome } from '../operations/sign-up.ts'
import { originOf } from '../operations/start-session.ts'
import type { CodeChallenge } from '../rules/code-challenge.ts'
import { captchaFields, challengeFields, redirectQuery } from '../shapes.ts'
import { actorOf, type Contact, findUserByContact, type User } from '../store/users.ts'

const types = ['signup', 'email_change', 'sms', 'phone_change'] as const
type ResendType = (typeof types)[number]

export const resend = endpoint({
  method: 'POST',
  path: '/resend',
  summary: 'Send a message again',
  description:
    'A confirmation that has not been followed yet, or the codes of a change that waits for them. Answered alike whether there is anything to send or not.',
  tag: 'Sign up',
  caller: anyone,
  query: redirectQuery,
  body: Type.Object({
    type: Type.Optional(
      Type.String({ description: 'signup or email_change with an email address; sms or phone_change with a phone number' }),
    ),
    email: Type.Optional(Type.String()),
    phone: Type.Optional(Type.String()),
    ...challengeFields,
    ...captchaFields,
  }),
  reply: { 200: Type.Object({ message_id: Type.String({ description: 'The id of the message' }) }) },
  fails: [
    'captcha_failed',
    'over_request_rate_limit',
    'over_email_send_rate_limit',
    'over_sms_send_rate_limit',
    'email_provider_disabled',
    'phone_provider_disabled',
    'email_address_not_authorized',
  ],

  async run(app, { body, query, request }) {
    await limitCaller(app, request, 'resend', app.config.rateLimit.otp)
    await checkCaptcha(app, request, body)
    const type = types.find((each) => each === body.type)
    if (!type) throw fail('validation_failed', { message: 'Missing one of these types: signup, email_change, sms, phone_change' })
    const byMail = type === 'signup' || type === 'email_change'
    const challenge = byMail ? readChallenge(app, body) : undefined
    const contact = readContact(app, type, body)
    const redirectTo = findDestination(app, request, query.redirect_to)
    return evenOut(async () => {
      const id = await app.db.begin((tx) => sendAgain(app, tx, request, { type, contact, redirectTo, challenge }))
      app.nudge()
      return { message_id: id }
    })
  },
})

function readContact({ config }: App, type: ResendType, { email = '', phone = '' }: { email?: string; phone?: string }): Contact {
  if (type === 'signup' && email === '') throw fail('validation_failed', { message: 'Type provided requires an email address' })
  if (type === 'sms' && phone === '') throw fail('validation_failed', { message: 'Type provided requires a phone number' })
  if (email !== '' && phone !== '')
    throw fail('validation_failed', { message: 'Only an email address or phone number should be provided.' })
  if (email !== '') {
    if (!config.external.email) throw fail('email_provider_disabled', { status: 400 })
    return { email: readEmail(email) }
  }
  if (phone === '') throw fail('validation_failed', { message: 'Missing email address or phone number' })
  if (!config.external.phone) throw fail('phone_provider_disabled', { status: 400 })
  return { phone: readPhone(phone) }
}

type Again = { type: ResendType; contact: Contact; redirectTo: string; challenge: CodeChallenge | undefined }

/** Whoever has nothing to wait for gets nothing, after the same work. */
async function sendAgain(app: App, tx: Tx, request: Incoming, { type, contact, redirectTo, challenge }: Again): Promise<string> {
  const asked = contact.email ?? contact.phone
  await holdInterval(app, tx, type, asked)
  const known = await findUserByContact(tx, contact, audienceOf(app, request))
  const user = known && isWelcome(app, known) && isWaiting(type, known) ? known : undefined
  const note = (action: 'user_confirmation_requested' | 'user_recovery_requested') =>
    user && noteAudit(app, tx, { action, actor: actorOf(user) }, originOf(request).address)

  switch (type) {
    case 'signup':
      await note('user_confirmation_requested')
      return sendCodeByMail(app, tx, request, { purpose: 'signup', user, to: asked, redirectTo, challenge })
    case 'sms':
      await note('user_recovery_requested')
      return sendCodeBySms(app, tx, { purpose: 'sms', user, to: asked, whatsapp: false })
    case 'email_change':
      return sendEmailChange(app, tx, request, { user, newEmail: user?.newEmail || asked, redirectTo, challenge })
    case 'phone_change':
      return sendCodeBySms(app, tx, { purpose: 'phone_change', user, to: user?.newPhone || asked, whatsapp: false })
  }
}

function isWaiting(type: ResendType, user: User): boolean {
  if (type === 'signup') return user.emailConfirmedAt === null
  if (type === 'sms') return user.phoneConfirmedAt === null
  return type === 'email_change' ? user.newEmail !== '' : user.newPhone !== ''
}
