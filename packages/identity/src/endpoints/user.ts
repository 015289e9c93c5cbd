import type { Incoming } from '@tollgate/kit/endpoint'
import Type from 'typebox'
import { type App, endpoint } from '../app.ts'
import { type SignedIn, signedIn } from '../callers.ts'
import { fail } from '../errors.ts'
import { changeEmail, changePhone, refuseTaken } from '../operations/change-contact.ts'
import { preparePassword, setPreparedPassword } from '../operations/change-password.ts'
import { checkPassword } from '../operations/choose-password.ts'
import { findDestination } from '../operations/find-destination.ts'
import { limitCaller } from '../operations/limit.ts'
import { noteAudit } from '../operations/note-audit.ts'
import { readChallenge, readEmail, readPhone, readWhatsapp } from '../operations/read-input.ts'
import { originOf } from '../operations/start-session.ts'
import { requestAudience } from '../rules/audience.ts'
import { isBanned } from '../rules/ban.ts'
import { challengeFields, Data, redirectQuery, UserShape, userReply } from '../shapes.ts'
import { actorOf, findUser, lockUser, type Metadata, mergeMetadata, type User } from '../store/users.ts'

export const user = endpoint({
  method: 'GET',
  path: '/user',
  summary: 'Tell who is signed in',
  tag: 'Account',
  caller: signedIn,
  reply: { 200: UserShape },
  fails: ['validation_failed'],

  run({ config }, { who, request }) {
    const asked = requestAudience(request.headers['x-jwt-aud'], who.claims, config.jwt)
    if (who.claims.aud !== asked) throw fail('validation_failed', { message: "Token audience doesn't match request audience" })
    return userReply(who.user)
  },
})

const Body = Type.Object({
  email: Type.Optional(Type.String({ description: 'Counts once it is confirmed; until then it is new_email' })),
  phone: Type.Optional(Type.String({ description: 'Counts once it is confirmed; until then it is new_phone' })),
  channel: Type.Optional(Type.String({ description: 'How the code for the number goes: sms or whatsapp' })),
  password: Type.Optional(Type.String()),
  nonce: Type.Optional(Type.String({ description: 'From GET /reauthenticate, where a new password needs it' })),
  current_password: Type.Optional(Type.String({ description: 'Where a new password needs it' })),
  data: Type.Optional(Data),
  app_metadata: Type.Optional(Data),
  ...challengeFields,
})

export const updateUser = endpoint({
  method: 'PUT',
  path: '/user',
  summary: 'Change who is signed in',
  description:
    'A new email address or phone number is confirmed by a message first. A new password ends all other sessions. What data names is merged into user_metadata; null takes a key away.',
  tag: 'Account',
  caller: signedIn,
  query: redirectQuery,
  body: Body,
  reply: { 200: UserShape },
  fails: [
    'over_request_rate_limit',
    'over_email_send_rate_limit',
    'over_sms_send_rate_limit',
    'validation_failed',
    'weak_password',
    'not_admin',
    'user_sso_managed',
    'email_exists',
    'phone_exists',
    'phone_provider_disabled',
    'email_address_not_authorized',
    'reauthentication_needed',
    'reauthentication_not_valid',
    'current_password_required',
    'current_password_invalid',
    'same_password',
  ],

  async run(app, { who, body, query, request }) {
    await limitCaller(app, request, 'user', app.config.rateLimit.otp)
    const wish = await readWish(app, body)
    checkAllowed(app, who.user, wish)
    await refuseTaken(app.db, who.user, wish)
    const updated = await update(app, request, who, { ...wish, redirectTo: findDestination(app, request, query.redirect_to) })
    app.nudge()
    return userReply(updated)
  },
})

type Wish = Awaited<ReturnType<typeof readWish>>

/** What is wished for, checked by itself; an empty address or number is no wish. */
async function readWish(app: App, body: Type.Static<typeof Body>) {
  const email = body.email ? readEmail(body.email) : undefined
  const phone = body.phone ? readPhone(body.phone) : undefined
  const whatsapp = phone !== undefined && readWhatsapp(app, body.channel)
  const challenge = readChallenge(app, body)
  const { password, nonce = '', current_password: currentPassword = '', data, app_metadata: appMetadata } = body
  if (password !== undefined) await checkPassword(app, password)
  return { email, phone, whatsapp, challenge, password, nonce, currentPassword, data, appMetadata }
}

function checkAllowed({ config }: App, user: User, { email, phone, password, nonce, appMetadata }: Wish): void {
  if (appMetadata && (user.role === '' || user.role !== config.jwt.adminGroup))
    throw fail('not_admin', { message: 'Updating app_metadata requires admin privileges' })
  if (user.isAnonymous && password !== undefined && email === undefined && phone === undefined)
    throw fail('validation_failed', {
      status: 422,
      message: 'Updating password of an anonymous user without an email or phone is not allowed',
    })
  const differs = (email ?? user.email) !== user.email || (phone ?? user.phone) !== user.phone
  if (user.isSsoUser && (differs || password !== undefined || nonce !== '')) throw fail('user_sso_managed')
}

async function update(app: App, request: Incoming, who: SignedIn, wish: Wish & { redirectTo: string }): Promise<User> {
  const { email, phone, whatsapp, password, data, appMetadata } = wish
  const { address } = originOf(request)
  const prepared = password === undefined ? undefined : await preparePassword(app, who, { ...wish, password })
  const updated = await app.db.begin(async (tx) => {
    const user = await lockUser(tx, who.user.id)
    // Much may have happened while a password waited for its turn to be hashed.
    if (!user || user.deletedAt) throw fail('user_not_found')
    if (isBanned(user, app.now())) throw fail('user_banned')
    // The password goes first, because it ends whatever was under way before.
    if (prepared && !(await setPreparedPassword(app, tx, { user, sessionId: who.sessionId, address }, prepared))) return undefined
    if (data) refuseOverfull(user.userMetadata, data)
    await mergeMetadata(tx, user.id, { user: data, app: appMetadata, now: app.now() })
    if (email !== undefined) await changeEmail(app, tx, request, user, { ...wish, email })
    if (phone !== undefined) await changePhone(app, tx, user, { phone, whatsapp })
    await noteAudit(app, tx, { action: 'user_modified', actor: actorOf(user) }, address)
    return findUser(tx, user.id)
  })
  // Somebody else has set another password since: what it takes to replace that one is found out anew.
  return updated ?? update(app, request, who, wish)
}

const mostMetadata = 1_048_576

/** Piece by piece somebody could make their account so large that reading it takes the service down. */
function refuseOverfull(metadata: Metadata, data: Metadata): void {
  const merged = Object.entries({ ...metadata, ...data }).filter(([key, value]) => value !== null || !Object.hasOwn(data, key))
  const size = sizeOf(Object.fromEntries(merged))
  // What came from elsewhere may be larger, and can shrink.
  if (size > mostMetadata && size > sizeOf(metadata))
    throw fail('validation_failed', { message: `data: user_metadata can hold at most ${mostMetadata} bytes` })
}

function sizeOf(metadata: Metadata): number {
  return Buffer.byteLength(JSON.stringify(metadata))
}
