import { randomUUID } from 'node:crypto'
import { Answer, anyone, type Incoming } from '@tollgate/kit/endpoint'
import Type from 'typebox'
import { type App, endpoint } from '../app.ts'
import { audienceOf } from '../callers.ts'
import { fail } from '../errors.ts'
import { answerDecoy } from '../operations/answer-decoy.ts'
import { checkCaptcha } from '../operations/check-captcha.ts'
import { checkPassword } from '../operations/choose-password.ts'
import { evenOut } from '../operations/even-out.ts'
import { findDestination } from '../operations/find-destination.ts'
import { holdInterval } from '../operations/hold-interval.ts'
import { limitCaller } from '../operations/limit.ts'
import { noteAudit } from '../operations/note-audit.ts'
import { readChallenge, readEmail, readPhone, readWhatsapp } from '../operations/read-input.ts'
import { sendCodeByMail, sendCodeBySms } from '../operations/send-code.ts'
import { findOrCreateUser, isWelcome } from '../operations/sign-up.ts'
import { originOf, startSession } from '../operations/start-session.ts'
import { nobody } from '../rules/uuid.ts'
import {
  captchaFields,
  challengeFields,
  Data,
  redirectQuery,
  SessionShape,
  sessionHeaders,
  sessionReply,
  UserShape,
  userReply,
} from '../shapes.ts'
import { actorOf, type Contact, findUser, insertUser, type User } from '../store/users.ts'

const Body = Type.Object({
  email: Type.Optional(Type.String()),
  phone: Type.Optional(Type.String()),
  password: Type.Optional(Type.String()),
  data: Type.Optional(Data),
  channel: Type.Optional(Type.String({ description: 'sms or whatsapp' })),
  ...challengeFields,
  ...captchaFields,
})

type Given = Type.Static<typeof Body>

export const signup = endpoint({
  method: 'POST',
  path: '/signup',
  summary: 'Join',
  description:
    'With an email address or a phone number and a password; or, without either, anonymously. Whoever has to confirm first is answered with the account, everybody else with a session. An address that has an account is answered like one that has none.',
  tag: 'Sign up',
  caller: anyone,
  query: redirectQuery,
  body: Body,
  reply: { 200: Type.Union([SessionShape, UserShape]) },
  fails: [
    'captcha_failed',
    'over_request_rate_limit',
    'over_email_send_rate_limit',
    'over_sms_send_rate_limit',
    'signup_disabled',
    'anonymous_provider_disabled',
    'email_provider_disabled',
    'phone_provider_disabled',
    'email_address_not_authorized',
    'weak_password',
    'user_already_exists',
  ],

  async run(app, { body, query, request }) {
    const { email = '', phone = '' } = body
    await checkCaptcha(app, request, body)
    if (email === '' && phone === '') return anonymously(app, request, body)
    await limitCaller(app, request, 'signup', app.config.rateLimit.otp)
    if (app.config.disableSignup) throw fail('signup_disabled')
    if (email !== '' && phone !== '') throw await refuseBoth(app, body)
    return withContact(app, request, body, query.redirect_to)
  },
})

async function anonymously(app: App, request: Incoming, { data = {} }: Given) {
  const { config } = app
  if (!config.external.anonymousUsers) throw fail('anonymous_provider_disabled')
  await limitCaller(app, request, 'anonymous', config.rateLimit.anonymousUsers)
  if (config.disableSignup) throw fail('signup_disabled')
  const id = randomUUID()
  const session = await app.db.begin(async (tx) => {
    const inserted = insertUser(tx, {
      id,
      aud: audienceOf(app, request),
      role: config.jwt.defaultGroup,
      email: null,
      phone: null,
      passwordHash: null,
      emailConfirmedAt: null,
      phoneConfirmedAt: null,
      appMetadata: {},
      userMetadata: data,
      isAnonymous: true,
      createdAt: app.now(),
      identities: [],
    })
    const [, user] = await Promise.all([inserted, findUser(tx, id)])
    return startSession(app, tx, { user: user as User, method: 'anonymous', origin: originOf(request) })
  })
  return new Answer(200, sessionReply(session), sessionHeaders(session))
}

/** Checked in the order in which today's clients are told. */
async function refuseBoth(app: App, { password = '' }: Given) {
  if (password === '') return fail('validation_failed', { message: 'Signup requires a valid password' })
  await checkPassword(app, password)
  return fail('validation_failed', { message: 'Only an email address or phone number should be provided on signup.' })
}

async function withContact(app: App, request: Incoming, body: Given, redirectTo: string | undefined) {
  const { password = '', data = {} } = body
  const { external, smtp, sms } = app.config
  if (password === '') throw fail('validation_failed', { message: 'Signup requires a valid password' })
  await checkPassword(app, password)
  const byPhone = !body.email
  const whatsapp = byPhone && readWhatsapp(app, body.channel)
  const challenge = readChallenge(app, body)
  if (byPhone && challenge) throw fail('validation_failed', { message: 'PKCE not supported for phone signups' })
  if (byPhone && !external.phone) throw fail('phone_provider_disabled', { status: 400, message: 'Phone signups are disabled' })
  if (!byPhone && !external.email) throw fail('email_provider_disabled', { status: 400, message: 'Email signups are disabled' })
  const contact: Contact = byPhone ? { phone: readPhone(body.phone ?? '') } : { email: readEmail(body.email ?? '') }
  const confirmed = byPhone ? sms.autoconfirm : smtp.mailer.autoconfirm
  const account = { contact, aud: audienceOf(app, request), data, confirmed }
  const passwordHash = await app.passwords.hash(password)
  if (confirmed) return atOnce(app, request, { ...account, passwordHash })

  const redirect = findDestination(app, request, redirectTo)
  return evenOut(async () => {
    const reply = await app.db.begin(async (tx) => {
      await holdInterval(app, tx, byPhone ? 'sms' : 'signup', contact.email ?? contact.phone)
      // An account that were made now would have this date, and the message a somewhat later one.
      const joinedAt = app.now()
      const { user, created } = await findOrCreateUser(app, tx, { ...account, passwordHash })
      // Whoever has confirmed already, or is somebody whom this request cannot see, is answered like a newcomer and gets nothing.
      const isNew = user !== undefined && !(byPhone ? user.phoneConfirmedAt : user.emailConfirmedAt) && isWelcome(app, user)
      const newcomer = isNew ? user : undefined
      const provider = byPhone ? 'phone' : 'email'
      const note = newcomer ? ('user_confirmation_requested' as const) : ('user_repeated_signup' as const)
      const actor = user ? actorOf(user) : { id: nobody, username: contact.email ?? contact.phone }
      await noteAudit(app, tx, { action: note, actor, traits: { provider } }, originOf(request).address)
      if (contact.email === undefined)
        await sendCodeBySms(app, tx, { purpose: 'sms', user: newcomer, to: contact.phone, whatsapp })
      else
        await sendCodeByMail(app, tx, request, {
          purpose: 'signup',
          user: newcomer,
          to: contact.email,
          redirectTo: redirect,
          challenge,
        })
      if (newcomer && created) return userReply({ ...newcomer, confirmationSentAt: app.now() })
      return answerDecoy(app, tx, { newcomer, contact, data, aud: account.aud, joinedAt })
    })
    app.nudge()
    return reply
  })
}

/** Where nothing has to be confirmed, whoever joins is in. */
async function atOnce(app: App, request: Incoming, account: Parameters<typeof findOrCreateUser>[2]) {
  const provider = account.contact.email === undefined ? 'phone' : 'email'
  const session = await app.db.begin(async (tx) => {
    const { user, created } = await findOrCreateUser(app, tx, account)
    if (!user || !created) return undefined
    const actor = actorOf(user)
    const audits = (['user_signedup', 'login'] as const).map((action) => ({ action, actor, traits: { provider } }))
    return startSession(app, tx, { user, method: 'password', origin: originOf(request), audits })
  })
  if (!session) throw fail('user_already_exists', provider === 'phone' ? { status: 400 } : {})
  return new Answer(200, sessionReply(session), sessionHeaders(session))
}
