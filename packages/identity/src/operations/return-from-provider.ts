import type { Incoming } from '@tollgate/kit/endpoint'
import { Failure, Unavailable } from '@tollgate/kit/failure'
import { OutsideTrouble } from '@tollgate/kit/fetch'
import { Secret } from '@tollgate/kit/secret'
import type { App } from '../app.ts'
import { fail } from '../errors.ts'
import { providers } from '../providers/all.ts'
import { IdTokenProblem } from '../providers/id-tokens.ts'
import { askingOf, exchangeCode, placesOf } from '../providers/oauth.ts'
import { accessToken, readReturn, signedGet } from '../providers/oauth1.ts'
import type { Profile } from '../providers/provider.ts'
import { hashLinkToken, newFlowCode } from '../rules/code.ts'
import { readState } from '../rules/flow-state.ts'
import { seal, unseal } from '../rules/seal.ts'
import { claimFlow, deleteFlow, type ExternalFlow, findFlowState, setExternalFlowCode } from '../store/flows.ts'
import type { User } from '../store/users.ts'
import { acceptInvite } from './accept-invite.ts'
import { holdInterval } from './hold-interval.ts'
import { type FoundProvider, findProvider, oauth1ClientOf, type Remembered } from './lead-to-provider.ts'
import { linkIdentity } from './link-identity.ts'
import { sendCodeByMail } from './send-code.ts'
import { type Arrival, type Arrived, signInExternal } from './sign-in-external.ts'
import { originOf, type Session, startSession } from './start-session.ts'

export type Callback = Readonly<Record<string, string>>

/** The provider's own tokens, for whoever asked for more than to sign in. */
export type ProviderTokens = { providerToken?: string; providerRefreshToken?: string | undefined }

export type Returned = { session: Session; provider: string; tokens: ProviderTokens } | { code: string }

/** The flow that a callback belongs to, taken once. */
export async function claimCallback(app: App, callback: Callback): Promise<ExternalFlow> {
  const { state = '' } = callback
  if (state === '') throw fail('bad_oauth_callback', { message: 'OAuth state parameter missing' })
  const id = readState(app.secrets.flows, state)
  if (id === undefined) throw fail('bad_oauth_state')
  const now = app.now()
  const begunAfter = new Date(now.getTime() - app.config.external.flowLifetime * 1000)
  const flow = await claimFlow(app.db, id, { begunAfter, now })
  if (flow) return flow
  const found = await findFlowState(app.db, id)
  if (!found) throw fail('bad_oauth_state', { message: 'OAuth state not found or expired' })
  if (found.claimed) throw fail('flow_state_already_used')
  throw fail('bad_oauth_state', { message: 'OAuth state has expired' })
}

/** Finds out who somebody is who comes back from a provider, and lets them in. */
export async function returnFromProvider(
  app: App,
  request: Incoming,
  flow: ExternalFlow,
  callback: Callback,
  aud: string,
): Promise<Returned> {
  if (callback.error) throw refusedThere(callback)
  const found = await findProvider(app, flow.provider)
  const remembered = unseal<Remembered>(app.secrets.flows, flow.id, flow.sealed)
  const { profile, tokens } = await ask(app, found, remembered, callback)
  const origin = originOf(request)
  const arrival = { provider: flow.provider, profile, aud, address: origin.address, emailOptional: found.emailOptional }
  const { user, unproved } = await arrive(app, arrival, flow)
  if (unproved && !app.config.smtp.mailer.allowUnverified) throw await askForProof(app, request, flow, user)
  app.nudge()
  const told = remembered.extraScopes || app.config.external.providerTokens === 'always' ? tokens : {}

  if (flow.challenge === null) {
    const session = await app.db.begin(async (tx) => {
      await deleteFlow(tx, flow.id)
      return startSession(app, tx, { user, method: 'oauth', origin })
    })
    return { session, provider: flow.provider, tokens: told }
  }
  const code = newFlowCode()
  const sealed = seal(app.secrets.flows, flow.id, told)
  const now = app.now()
  await app.db.begin((tx) => setExternalFlowCode(tx, flow.id, { userId: user.id, codeHash: hashLinkToken(code), sealed, now }))
  return { code }
}

function arrive(app: App, arrival: Arrival, { linkTo, inviteToken }: ExternalFlow): Promise<Arrived> {
  if (linkTo !== null) return linkIdentity(app, arrival, linkTo)
  return inviteToken === null ? signInExternal(app, arrival) : acceptInvite(app, arrival, inviteToken)
}

/** Somebody whose address nobody vouches for confirms it by mail, as if they had signed up with it. */
export async function askForProof(
  app: App,
  request: Incoming,
  flow: Pick<ExternalFlow, 'provider' | 'destination'>,
  user: User,
): Promise<Failure> {
  const { provider, destination: redirectTo } = flow
  const sent = await app.db
    .begin(async (tx) => {
      await holdInterval(app, tx, 'signup', user.email)
      await sendCodeByMail(app, tx, request, { purpose: 'signup', user, to: user.email, redirectTo, challenge: undefined })
      return true
    })
    .catch((problem: unknown) => {
      // They have one already, or none can be sent: either way they are not let in, and told so.
      if (problem instanceof Failure) return false
      throw problem
    })
  app.nudge()
  const what = sent
    ? `A confirmation email has been sent to your ${provider} email`
    : `Verify the email with ${provider} in order to sign in`
  return fail('provider_email_needs_verification', { message: `Unverified email with ${provider}. ${what}` })
}

type Told = { profile: Profile; tokens: ProviderTokens }

async function ask(app: App, found: FoundProvider, remembered: Remembered, callback: Callback): Promise<Told> {
  try {
    return found.kind === 'oauth2'
      ? await askOAuth2(app, found, remembered, callback)
      : await askOAuth1(app, found, remembered, callback)
  } catch (problem) {
    if (problem instanceof Failure || problem instanceof Unavailable) throw problem
    // What the provider said stays in the log; whoever signs in can only try again.
    app.log.error({ provider: found.provider.name, error: problem }, 'a sign-in with a provider failed')
    throw fail('unexpected_failure', { message: 'Error getting user profile from external provider' })
  }
}

/** Of somebody whose issuer is known, anybody else's; of the others, one that is known to be another's. */
function isForeign({ config }: App, iss: string, own: { issuers: readonly string[]; token: string }): boolean {
  if (own.issuers.some((issuer) => issuer === iss || issuer.includes('{'))) return false
  if (own.issuers.length > 0) return true
  if (URL.parse(iss)?.origin === new URL(own.token).origin) return false
  const named = providers.flatMap((provider) =>
    'idTokens' in provider ? (provider.idTokens?.issuers(config.external.providers.get(provider.name)?.base ?? '') ?? []) : [],
  )
  const custom = config.external.customProviders.flatMap(({ places }) => ('issuer' in places ? [places.issuer] : []))
  return [...named, ...custom].includes(iss)
}

async function askOAuth2(
  app: App,
  { provider, configured, clientIds, tellsIssuer = false, skipNonceCheck = false }: Extract<FoundProvider, { kind: 'oauth2' }>,
  { verifier, nonce }: Remembered,
  callback: Callback,
): Promise<Told> {
  const { code = '', iss } = callback
  if (code === '') throw fail('bad_oauth_callback')
  const { base, token } = placesOf(configured)
  const issuers = provider.idTokens?.issuers(base) ?? []
  // https://www.rfc-editor.org/rfc/rfc9207: whoever answers in another's name wants a code that is not theirs.
  if (iss !== undefined && isForeign(app, iss, { issuers, token }))
    throw fail('bad_oauth_callback', { message: 'OAuth callback comes from another issuer' })
  if (iss === undefined && tellsIssuer) throw fail('bad_oauth_callback', { message: 'OAuth callback does not tell its issuer' })
  const tokens = await exchangeCode(app.fetch, configured, { code, verifier, now: app.now() }).catch((problem: unknown) => {
    if (!(problem instanceof OutsideTrouble)) throw problem
    app.log.error({ provider: provider.name, error: problem }, 'a code could not be exchanged')
    throw fail('unexpected_failure', { message: `Unable to exchange external code: ${code.slice(0, 4)}` })
  })
  const idToken =
    provider.idTokens && tokens.idToken !== undefined
      ? await verifyIdToken(app, tokens.idToken, {
          issuers,
          audiences: clientIds,
          keysUrl: provider.idTokens.keys?.(base),
          nonce: skipNonceCheck ? undefined : nonce,
          accessToken: tokens.accessToken,
        })
      : {}
  const profile = await provider.profile(askingOf(app.fetch, configured, { tokens, idToken, callback }))
  return { profile, tokens: { providerToken: tokens.accessToken, providerRefreshToken: tokens.refreshToken } }
}

type Expected = {
  issuers: readonly string[]
  audiences: readonly string[]
  keysUrl: string | undefined
  nonce: string | undefined
  accessToken: string
}

async function verifyIdToken(app: App, token: string, expected: Expected) {
  try {
    return await app.idTokens.verify(token, expected)
  } catch (problem) {
    if (!(problem instanceof IdTokenProblem)) throw problem
    throw fail('bad_oauth_callback', { message: `The id token cannot be used: ${problem.message}` })
  }
}

async function askOAuth1(
  app: App,
  found: Extract<FoundProvider, { kind: 'oauth1' }>,
  { requestToken: kept }: Remembered,
  callback: Callback,
): Promise<Told> {
  const back = readReturn(callback, kept?.token ?? '')
  if (back.problem === 'denied') throw refusedThere({ error: 'access_denied', error_description: 'The sign-in was denied' })
  if (back.problem !== undefined || !kept)
    throw fail('bad_oauth_callback', { message: 'OAuth callback with missing or foreign token' })
  const client = oauth1ClientOf(app, found)
  const pair = await accessToken({
    ...client,
    requestToken: { token: kept.token, secret: new Secret(kept.secret) },
    verifier: back.verifier,
  })
  const get = <T>(url: string) => signedGet<T>({ ...client, accessToken: pair, url })
  const profile = await found.provider.profile({ get, api: found.base })
  return { profile, tokens: { providerToken: pair.token } }
}

/** What the provider itself says of why it did not let somebody in. */
export class RefusedThere extends Failure {
  readonly error: string

  constructor(error: string, description: string) {
    super('access_denied', 400, description)
    this.error = error
  }
}

function refusedThere({ error = '', error_description: description = '' }: Callback): RefusedThere {
  return new RefusedThere(error.slice(0, 200), description.slice(0, 500) || error.slice(0, 200))
}
