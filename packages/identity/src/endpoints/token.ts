import { Answer, anyone, type Incoming } from '@tollgate/kit/endpoint'
import { Failure } from '@tollgate/kit/failure'
import Type from 'typebox'
import { type App, endpoint } from '../app.ts'
import { audienceOf } from '../callers.ts'
import { fail } from '../errors.ts'
import { checkCaptcha } from '../operations/check-captcha.ts'
import { reportWeakness } from '../operations/choose-password.ts'
import { evenOutRefusals } from '../operations/even-out.ts'
import { limitCaller } from '../operations/limit.ts'
import { noteRefusal } from '../operations/note-refusal.ts'
import { refreshSession } from '../operations/refresh-session.ts'
import type { ProviderTokens } from '../operations/return-from-provider.ts'
import { signInWithIdToken } from '../operations/sign-in-with-id-token.ts'
import { issueTokens, originOf, type Session, startSession } from '../operations/start-session.ts'
import { isBanned } from '../rules/ban.ts'
import { hashLinkToken } from '../rules/code.ts'
import { s256 } from '../rules/code-challenge.ts'
import { isOverlong } from '../rules/password.ts'
import { stripPhone } from '../rules/phone.ts'
import { unseal } from '../rules/seal.ts'
import { captchaFields, SessionShape, sessionHeaders, sessionReply } from '../shapes.ts'
import { findFlow, takeFlow } from '../store/flows.ts'
import { actorOf, findUser, findUserForSignIn } from '../store/users.ts'

const Body = Type.Object({
  email: Type.Optional(Type.String()),
  phone: Type.Optional(Type.String()),
  password: Type.Optional(Type.String()),
  refresh_token: Type.Optional(Type.String()),
  auth_code: Type.Optional(Type.String()),
  code_verifier: Type.Optional(Type.String()),
  id_token: Type.Optional(Type.String()),
  access_token: Type.Optional(Type.String()),
  nonce: Type.Optional(Type.String()),
  provider: Type.Optional(Type.String()),
  issuer: Type.Optional(Type.String()),
  client_id: Type.Optional(Type.String()),
  link_identity: Type.Optional(Type.Boolean()),
  ...captchaFields,
})

type Grant = (app: App, request: Incoming, body: Type.Static<typeof Body>) => Promise<Answer<ReturnType<typeof sessionReply>>>

const grants: Readonly<Record<string, Grant>> = {
  password: byPassword,
  refresh_token: byRefreshToken,
  pkce: byFlow,
  id_token: byIdToken,
}

export const token = endpoint({
  method: 'POST',
  path: '/token',
  summary: 'Sign in, or go on being signed in',
  description:
    'grant_type=password takes an email address or phone number and a password; grant_type=refresh_token a refresh token; grant_type=pkce the code that a link led to and the verifier of the flow; grant_type=id_token what a provider gave a program on a telephone.',
  tag: 'Sign in',
  caller: anyone,
  query: Type.Object({ grant_type: Type.Optional(Type.String({ description: 'password, refresh_token, pkce or id_token' })) }),
  body: Body,
  reply: { 200: SessionShape },
  fails: [
    'captcha_failed',
    'over_request_rate_limit',
    'invalid_credentials',
    'email_provider_disabled',
    'phone_provider_disabled',
    'user_banned',
    'email_not_confirmed',
    'phone_not_confirmed',
    'refresh_token_not_found',
    'refresh_token_already_used',
    'session_not_found',
    'session_expired',
    'flow_state_not_found',
    'flow_state_expired',
    'bad_code_verifier',
    'provider_disabled',
    'provider_email_needs_verification',
    'signup_disabled',
    'email_exists',
    'identity_already_exists',
    'manual_linking_disabled',
    'no_authorization',
    'bad_jwt',
    'user_not_found',
  ],

  async run(app, { query: { grant_type: type = '' }, body, request }) {
    // Whoever has a token or code has shown before that they are no machine.
    if (!['refresh_token', 'pkce', 'id_token'].includes(type)) await checkCaptcha(app, request, body)
    await limitCaller(app, request, 'token', app.config.rateLimit.token)
    const grant = Object.hasOwn(grants, type) ? grants[type] : undefined
    if (!grant) throw fail('invalid_credentials', { message: 'unsupported_grant_type' })
    return grant(app, request, body)
  },
})

type More = { weak_password?: ReturnType<typeof reportWeakness>; provider_token?: string; provider_refresh_token?: string }

function answer(session: Session, more: More = {}) {
  return new Answer(200, { ...sessionReply(session), ...more }, sessionHeaders(session))
}

/** What the provider gave us for whoever asked for more than to sign in. */
function providerReply({ providerToken, providerRefreshToken }: ProviderTokens): More {
  return {
    ...(providerToken ? { provider_token: providerToken } : {}),
    ...(providerRefreshToken ? { provider_refresh_token: providerRefreshToken } : {}),
  }
}

async function byPassword(app: App, request: Incoming, { email = '', phone = '', password = '' }: Type.Static<typeof Body>) {
  const { external } = app.config
  if (email !== '' && phone !== '')
    throw fail('validation_failed', { message: 'Only an email address or phone number should be provided on login.' })
  if (email !== '' && !external.email) throw fail('email_provider_disabled')
  if (phone !== '' && !external.phone) throw fail('phone_provider_disabled')
  if (email === '' && phone === '') throw fail('validation_failed', { message: 'missing email or phone' })

  const contact = email === '' ? { phone: stripPhone(phone) } : { email: email.trim().toLowerCase() }
  // Hashes of older kinds, which people bring along, take another time than ours.
  const user = await evenOutRefusals(async () => {
    const known = await findUserForSignIn(app.db, contact, audienceOf(app, request))
    const proved = await provePassword(app, known, password)
    if (proved) return proved
    throw noteRefusal(app, request, { grant: 'password', user: known?.id ?? null }, fail('invalid_credentials'))
  })
  const { id, emailConfirmedAt, phoneConfirmedAt } = user.account
  const note = (refusal: Failure) => noteRefusal(app, request, { grant: 'password', user: id }, refusal)
  // Nothing of this is told to whoever does not know the password.
  if (isBanned(user.account, app.now())) throw note(fail('user_banned', { status: 400 }))
  if (email !== '' && !emailConfirmedAt) throw note(fail('email_not_confirmed'))
  if (phone !== '' && !phoneConfirmedAt) throw note(fail('phone_not_confirmed'))
  const provider = email === '' ? 'phone' : 'email'
  const session = await startSession(app, app.db, {
    user: user.account,
    method: 'password',
    origin: originOf(request),
    audits: [{ action: 'login', actor: actorOf(user.account), traits: { provider } }],
    proved: user.proved,
  })
  return answer(session, { weak_password: reportWeakness(app, password) })
}

type Known = NonNullable<Awaited<ReturnType<typeof findUserForSignIn>>>

/** Whose password it is, if it is. Somebody unknown, or without a password, is found out no sooner than somebody whose password is wrong. */
async function provePassword({ passwords, log }: App, known: Known | undefined, password: string) {
  // Nobody's password is that long, and hashing a megabyte costs more than a password should.
  const attempt = isOverlong(password) ? '' : password
  const hash = known && !known.deletedAt ? known.passwordHash : null
  if (!known || !hash) {
    await passwords.waste(attempt)
    return undefined
  }
  const verdict = await passwords.verify(attempt, hash)
  if (verdict.refused) log.warn({ user: known.id, reason: verdict.refused }, 'a stored password hash cannot be used')
  if (!verdict.matches || attempt === '') return undefined
  const { passwordHash: _, ...account } = known
  return { account, proved: { hash, betterHash: verdict.upgrade } }
}

const tokenForm = /^[A-Za-z0-9_-]{12,512}$/

async function byRefreshToken(app: App, request: Incoming, { refresh_token: presented = '' }: Type.Static<typeof Body>) {
  if (!tokenForm.test(presented)) throw fail('validation_failed', { message: 'Refresh token is not valid' })
  const { session, refreshToken } = await refreshSession(app, presented, originOf(request))
  return answer(issueTokens(app, session, { ...session, refreshToken }))
}

async function byFlow(
  app: App,
  request: Incoming,
  { auth_code: code = '', code_verifier: verifier = '' }: Type.Static<typeof Body>,
) {
  if (code === '' || verifier === '')
    throw fail('validation_failed', { message: 'invalid request: both auth code and code verifier should be non-empty' })
  const note = (user: string | null, refusal: Failure) => noteRefusal(app, request, { grant: 'pkce', user }, refusal)
  const codeHash = hashLinkToken(code)
  const issuedAfter = new Date(app.now().getTime() - app.config.external.flowLifetime * 1000)
  const entered = await app.db.begin(async (tx) => {
    const flow = await takeFlow(tx, { codeHash, challenge: s256(verifier), issuedAfter })
    const user = flow?.userId ? await findUser(tx, flow.userId) : undefined
    if (!flow || !user || user.deletedAt) return undefined
    if (isBanned(user, app.now())) throw note(user.id, fail('user_banned'))
    const audits = [{ action: 'login' as const, actor: actorOf(user), traits: { provider: flow.provider } }]
    const session = await startSession(app, tx, { user, method: flow.method, origin: originOf(request), audits })
    return { session, tokens: flow.sealed ? unseal<ProviderTokens>(app.secrets.flows, flow.id, flow.sealed) : {} }
  })
  if (entered) return answer(entered.session, providerReply(entered.tokens))
  const flow = await findFlow(app.db, codeHash)
  if (!flow?.userId) throw note(null, fail('flow_state_not_found'))
  throw note(flow.userId, fail(flow.issuedAt < issuedAfter ? 'flow_state_expired' : 'bad_code_verifier'))
}

async function byIdToken(app: App, request: Incoming, body: Type.Static<typeof Body>) {
  const { id_token: idToken = '', access_token: accessToken = '', nonce = '', provider = '', issuer = '' } = body
  const { client_id: clientId = '', link_identity: link = false } = body
  const brought = { idToken, accessToken, nonce, provider, issuer, clientId, link }
  const { user } = await signInWithIdToken(app, request, brought).catch((problem: unknown) => {
    throw problem instanceof Failure ? noteRefusal(app, request, { grant: 'id_token', user: null }, problem) : problem
  })
  return answer(await startSession(app, app.db, { user, method: 'oauth', origin: originOf(request) }))
}
