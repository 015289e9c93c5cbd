import type { Tx } from '@tollgate/kit/db'
import type { Incoming } from '@tollgate/kit/endpoint'
import Type from 'typebox'
import { type App, endpoint } from '../app.ts'
import { type Admin, admin, audienceOf } from '../callers.ts'
import { fail } from '../errors.ts'
import { choosePassword } from '../operations/choose-password.ts'
import { findDestination } from '../operations/find-destination.ts'
import { noteAudit } from '../operations/note-audit.ts'
import { readEmail } from '../operations/read-input.ts'
import { issueCode } from '../operations/send-code.ts'
import { findOrCreateUser } from '../operations/sign-up.ts'
import { originOf } from '../operations/start-session.ts'
import type { MailPurpose } from '../rules/purposes.ts'
import { Data, redirectQuery, UserShape, userReply } from '../shapes.ts'
import { contactIsTaken, findUserByContact, mergeMetadata, setEmailChange, setInvited, type User } from '../store/users.ts'

const Body = Type.Object({
  type: Type.Optional(
    Type.String({ description: 'signup, magiclink, recovery, invite, email_change_current or email_change_new' }),
  ),
  email: Type.Optional(Type.String()),
  new_email: Type.Optional(Type.String({ description: 'For a change of address' })),
  password: Type.Optional(Type.String({ description: 'For a sign-up' })),
  data: Type.Optional(Data),
  redirect_to: Type.Optional(Type.String()),
})

type Given = Type.Static<typeof Body>

const types = ['signup', 'magiclink', 'recovery', 'invite', 'email_change_current', 'email_change_new'] as const
type LinkType = (typeof types)[number] & MailPurpose

export const adminGenerateLink = endpoint({
  method: 'POST',
  path: '/admin/generate_link',
  summary: 'Make a link to deliver by other means',
  description: 'The link and the code that a mail would carry. Nothing is sent.',
  tag: 'Administration',
  caller: admin,
  query: redirectQuery,
  body: Body,
  reply: {
    200: Type.Object({
      ...UserShape.properties,
      action_link: Type.String(),
      email_otp: Type.String({ description: 'The code' }),
      hashed_token: Type.String({ description: 'What the link carries, for POST /verify' }),
      verification_type: Type.String(),
      redirect_to: Type.String(),
    }),
  },
  fails: ['user_not_found', 'email_exists', 'weak_password'],

  async run(app, { who, query, body, request }) {
    const type = types.find((each) => each === body.type)
    const email = readEmail(body.email ?? '')
    if (!type)
      throw fail('validation_failed', {
        message: `Invalid email action link type requested: ${String(body.type ?? '').slice(0, 40)}`,
      })
    const newEmail = readNewEmail(app, type, body)
    const passwordHash = await readPassword(app, type, body, request, email)
    const redirectTo = findDestination(app, request, body.redirect_to || query.redirect_to)
    return app.db.begin(async (tx) => {
      const { user, purpose } = await findRecipient(app, tx, request, {
        type,
        email,
        newEmail,
        passwordHash,
        data: body.data ?? {},
      })
      await note(app, tx, { who, request, purpose, user })
      const to = purpose === 'email_change_new' ? newEmail : email
      const issued = await issueCode(app, tx, request, { purpose, user, to, redirectTo, challenge: undefined })
      const changed = (await findUserByContact(tx, { email }, user.aud)) ?? user
      return {
        ...userReply(changed),
        action_link: issued.link ?? '',
        email_otp: issued.code,
        hashed_token: issued.linkToken,
        verification_type: purpose,
        redirect_to: redirectTo,
      }
    })
  },
})

function readNewEmail({ config }: App, type: LinkType, { new_email: newEmail = '' }: Given): string {
  if (type !== 'email_change_current' && type !== 'email_change_new') return ''
  if (type === 'email_change_current' && !config.smtp.mailer.secureEmailChange)
    throw fail('validation_failed', { message: 'Enable secure email change to generate link for current email' })
  return readEmail(newEmail)
}

/** Only somebody who is new needs one. */
async function readPassword(app: App, type: LinkType, { password = '' }: Given, request: Incoming, email: string) {
  // A link instead of a sign-up is a choice for none.
  if (type === 'magiclink') return ''
  if (type !== 'signup') return null
  if (await findUserByContact(app.db, { email }, audienceOf(app, request))) return null
  if (password === '') throw fail('validation_failed', { message: 'Signup requires a valid password' })
  return choosePassword(app, password)
}

type Wanted = { type: LinkType; email: string; newEmail: string; passwordHash: string | null; data: Record<string, unknown> }

async function findRecipient(app: App, tx: Tx, request: Incoming, wanted: Wanted): Promise<{ user: User; purpose: LinkType }> {
  const { type, email, newEmail, passwordHash, data } = wanted
  const aud = audienceOf(app, request)
  if (type === 'signup' || type === 'invite' || type === 'magiclink') {
    const invited = type === 'invite'
    const { user, created } = await findOrCreateUser(app, tx, {
      contact: { email },
      aud,
      passwordHash,
      data,
      confirmed: false,
      invited,
    })
    if (!user || (type !== 'magiclink' && user.emailConfirmedAt)) throw fail('email_exists')
    if (invited) await setInvited(tx, user.id, app.now())
    if (type === 'signup' && !created && Object.keys(data).length > 0)
      await mergeMetadata(tx, user.id, { user: data, now: app.now() })
    return { user, purpose: type === 'magiclink' && created ? 'signup' : type }
  }
  const user = await findUserByContact(tx, { email }, aud)
  if (!user) throw fail('user_not_found', { status: 404, message: 'User with this email not found' })
  if (newEmail !== '') {
    if (await contactIsTaken(tx, { email: newEmail }, user.id)) throw fail('email_exists')
    // The other half may have been made just before: its link stays good as long as it is about the same address.
    if (user.newEmail !== newEmail) await setEmailChange(tx, user.id, newEmail)
  }
  return { user, purpose: type }
}

async function note(
  app: App,
  tx: Tx,
  { who, request, purpose, user }: { who: Admin; request: Incoming; purpose: LinkType; user: User },
): Promise<void> {
  const { address } = originOf(request)
  const traits = { user_id: user.id, user_email: user.email }
  if (purpose === 'invite') await noteAudit(app, tx, { action: 'user_invited', actor: who.actor, traits }, address)
  if (purpose === 'magiclink' || purpose === 'recovery')
    await noteAudit(app, tx, { action: 'user_recovery_requested', actor: who.actor, traits }, address)
}
