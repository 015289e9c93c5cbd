import type { Tx } from '@tollgate/kit/db'
import { Answer, anyone, type Incoming, Nothing } from '@tollgate/kit/endpoint'
import { Failure } from '@tollgate/kit/failure'
import Type from 'typebox'
import { type App, endpoint } from '../app.ts'
import { fail } from '../errors.ts'
import { choosePassword } from '../operations/choose-password.ts'
import { evenOutRefusals } from '../operations/even-out.ts'
import { findDestination } from '../operations/find-destination.ts'
import { limitCaller } from '../operations/limit.ts'
import { noteRefusal } from '../operations/note-refusal.ts'
import { readPhone } from '../operations/read-input.ts'
import { guessCode, type Key, redeemCode } from '../operations/redeem-code.ts'
import { originOf, type Session, startSession } from '../operations/start-session.ts'
import { linkPage } from '../pages/link-page.ts'
import { hashLinkToken, isProvedToken, newFlowCode } from '../rules/code.ts'
import { parseEmail } from '../rules/email.ts'
import { verifiedTokens } from '../rules/purposes.ts'
import { refusalAnswers, sessionAnswers, withFragment, withQuery } from '../rules/redirect-answer.ts'
import { SessionShape, sessionHeaders, sessionReply } from '../shapes.ts'
import { setFlowCode } from '../store/flows.ts'
import { findPasswordHash, setFirstPassword } from '../store/users.ts'

const halfConfirmed = 'Confirmation link accepted. Please proceed to confirm link sent to the other email'

const Body = Type.Object({
  type: Type.Optional(
    Type.String({ description: 'signup, invite, recovery, magiclink, email, email_change, sms or phone_change' }),
  ),
  token: Type.Optional(
    Type.String({ description: 'The code, together with the email address or phone number that it was sent to' }),
  ),
  token_hash: Type.Optional(Type.String({ description: 'Or what the link in the mail carries, alone' })),
  email: Type.Optional(Type.String()),
  phone: Type.Optional(Type.String()),
  password: Type.Optional(Type.String({ description: 'For a sign-up that has none yet' })),
  redirect_to: Type.Optional(Type.String()),
})

type Given = Type.Static<typeof Body>

export const verify = endpoint({
  method: 'POST',
  path: '/verify',
  summary: 'Present a code, or what a link carries',
  tag: 'Sign in',
  caller: anyone,
  body: Body,
  reply: { 200: Type.Union([SessionShape, Type.Object({ code: Type.String(), msg: Type.String() })]) },
  fails: ['over_request_rate_limit', 'otp_expired', 'user_banned', 'weak_password', 'email_exists', 'phone_exists'],

  async run(app, { body, request }) {
    await limitCaller(app, request, 'verify', app.config.rateLimit.verify)
    const { type = '', password = '' } = body
    if (type === '') throw fail('validation_failed', { message: 'Verify requires a verification type' })
    const key = await readKey(app, request, body)
    // Before anything is taken or locked; whoever has a password already has it hashed for nothing.
    const passwordHash = type === 'signup' && password !== '' ? await choosePassword(app, password) : undefined

    const session = await app.db.begin(async (tx) => {
      const redeemed = await redeemCode(app, tx, key, {
        request,
        async check(user) {
          if (type === 'signup') await settlePassword(tx, user.id, passwordHash)
        },
      })
      if (redeemed.outcome === 'half-confirmed') return undefined
      return startSession(app, tx, { user: redeemed.user, method: 'otp', origin: originOf(request) })
    })
    // Mails that tell of a change may have been queued on the way.
    app.nudge()
    if (!session) return { code: '200', msg: halfConfirmed }
    return new Answer(200, { ...sessionReply(session), type }, sessionHeaders(session))
  },
})

/** Somebody who was invited, or made by an admin, has no password yet and chooses one here. */
async function settlePassword(tx: Tx, userId: string, hash: string | undefined): Promise<void> {
  if ((await findPasswordHash(tx, userId)) !== null) return
  if (hash === undefined)
    throw fail('validation_failed', { status: 422, message: 'This account has no password yet: verify it together with one' })
  await setFirstPassword(tx, userId, hash)
}

async function readKey(app: App, request: Incoming, body: Given): Promise<Key> {
  const { type = '', token = '', token_hash: linkToken = '', email = '', phone = '', redirect_to: redirectTo = '' } = body
  if ((token === '') === (linkToken === ''))
    throw fail('validation_failed', { message: 'Verify requires either a token or a token hash' })
  const types = verifiedTokens(type)
  if (linkToken !== '') {
    if (email !== '' || phone !== '' || redirectTo !== '')
      throw fail('validation_failed', { message: 'Only the token_hash and type should be provided' })
    if (!types || byPhone.has(type)) throw fail('validation_failed', { message: 'Invalid email verification type' })
    return { linkToken, types }
  }
  if ((email === '') === (phone === ''))
    throw fail('validation_failed', { message: 'Only an email address or phone number should be provided on verify' })
  const typed = email === '' ? { code: token, phone: readPhone(phone) } : { code: token, email: readAddress(email) }
  const fits = types !== undefined && byPhone.has(type) === (email === '')
  // A guess at a code that is there is written down, which takes longer than to find that there is none: that would tell who has an account.
  return evenOutRefusals(async () => {
    const { codeId, userId = null } = fits ? await guessCode(app, typed, types) : {}
    if (codeId === undefined) throw noteRefusal(app, request, { grant: 'otp', user: userId }, fail('otp_expired'))
    return { codeId }
  })
}

const byPhone = new Set(['sms', 'phone_change'])

function readAddress(text: string): string {
  const email = parseEmail(text)
  if (typeof email === 'string') return email
  throw fail('validation_failed', { status: 422, message: 'Invalid email format' })
}

export const followLink = endpoint({
  method: 'GET',
  path: '/verify',
  summary: 'Follow the link in a mail',
  description:
    'Leads on to where redirect_to said, with a session in the fragment; or, for a client that sent a code_challenge, with a code in the query. What goes wrong is told in the same places. With AUTH_MAILER_LINK_PAGE_ENABLED it answers with a page first, whose button asks again with `confirm=yes`.',
  tag: 'Sign in',
  caller: anyone,
  query: Type.Object({
    token: Type.Optional(Type.String()),
    type: Type.Optional(Type.String({ description: 'signup, invite, recovery, magiclink, email or email_change' })),
    redirect_to: Type.Optional(Type.String()),
    confirm: Type.Optional(Type.String({ description: 'yes, from the button of the page' })),
  }),
  reply: { 200: Type.Unsafe<string>({ type: 'string', contentMediaType: 'text/html' }), 303: Nothing },
  fails: ['over_request_rate_limit'],

  async run(app, { query: { token = '', type = '', redirect_to: named, confirm }, request }) {
    const destination = findDestination(app, request, named)
    const page = confirm === 'yes' ? undefined : pageBefore(app, { token, type, destination })
    if (page) return page
    // Mail scanners and browsers that look ahead must not use up what a person is to follow.
    if (isOnlyLooking(request)) return redirect(destination)
    await limitCaller(app, request, 'verify', app.config.rateLimit.verify)
    if (type === '') throw fail('validation_failed', { message: 'Verify requires a verification type' })
    if (token === '') throw fail('validation_failed', { message: 'Verify requires a token or a token hash' })
    const proved = isProvedToken(token)
    const tell = (answers: Record<string, string>) =>
      redirect(withFragment(proved ? withQuery(destination, answers) : destination, { ...answers, sb: '' }))
    try {
      const entered = await enter(app, request, { token, type, proved })
      app.nudge()
      if (entered === undefined) return tell({ message: halfConfirmed })
      return redirect(
        'code' in entered ? withQuery(destination, entered) : withFragment(destination, { ...sessionAnswers(entered), type }),
      )
    } catch (problem) {
      if (!(problem instanceof Failure)) throw problem
      return tell(refusalAnswers(problem))
    }
  },
})

/**
 * Mail scanners open every link and some wait for what it does, but they do not press buttons. Where somebody goes in the end is settled
 * here, for what the request says of it besides its query does not come along with the press.
 */
function pageBefore({ config }: App, link: { token: string; type: string; destination: string }): Answer<string> | undefined {
  if (!config.smtp.mailer.linkPage || link.token === '') return undefined
  const written = linkPage(link, config.siteUrl)
  return written && new Answer(200, written.page, { 'content-security-policy': written.policy })
}

function isOnlyLooking({ method, headers }: Incoming): boolean {
  return (
    method === 'HEAD' ||
    /prefetch|prerender|preview/i.test(`${headers['sec-purpose'] ?? ''} ${headers.purpose ?? ''} ${headers['x-purpose'] ?? ''}`)
  )
}

function redirect(location: string) {
  return new Answer(303, undefined, { location })
}

/** A session, or a code for whoever began the flow; nothing for the first of two confirmations. */
async function enter(
  app: App,
  request: Incoming,
  { token, type, proved }: { token: string; type: string; proved: boolean },
): Promise<Session | { code: string } | undefined> {
  const types = verifiedTokens(type)
  if (!types || byPhone.has(type)) throw fail('validation_failed', { message: 'Invalid email verification type' })
  return app.db.begin(async (tx) => {
    const redeemed = await redeemCode(app, tx, { linkToken: token, types }, { request })
    if (redeemed.outcome === 'half-confirmed') return undefined
    if (!proved) return startSession(app, tx, { user: redeemed.user, method: 'otp', origin: originOf(request) })
    const code = newFlowCode()
    const flow =
      redeemed.flowId !== null && (await setFlowCode(tx, redeemed.flowId, { codeHash: hashLinkToken(code), now: app.now() }))
    if (!flow) throw fail('flow_state_not_found', { status: 422, message: 'No valid flow state found for user.' })
    return { code }
  })
}
