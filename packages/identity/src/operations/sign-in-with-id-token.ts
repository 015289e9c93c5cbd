import { createHash, timingSafeEqual } from 'node:crypto'
import type { Incoming } from '@tollgate/kit/endpoint'
import { Failure, Unavailable } from '@tollgate/kit/failure'
import { OutsideTrouble } from '@tollgate/kit/fetch'
import type { App } from '../app.ts'
import { audienceOf, signedIn } from '../callers.ts'
import { fail } from '../errors.ts'
import { providers } from '../providers/all.ts'
import { IdTokenProblem } from '../providers/id-tokens.ts'
import { askingOf, placesOf } from '../providers/oauth.ts'
import type { Claims } from '../providers/provider.ts'
import { OAuthRefusal } from '../rules/oauth-refusal.ts'
import { type FoundProvider, findProvider } from './lead-to-provider.ts'
import { linkIdentity } from './link-identity.ts'
import { askForProof } from './return-from-provider.ts'
import { type Arrived, signInExternal } from './sign-in-external.ts'
import { originOf } from './start-session.ts'

/** What a program on a telephone brings that has signed somebody in by itself. */
export type Brought = {
  idToken: string
  accessToken: string
  nonce: string
  provider: string
  issuer: string
  clientId: string
  link: boolean
}

const refuse = (description: string) => new OAuthRefusal('invalid request', description)

/** The account of somebody who brings an id token that a provider gave them. */
export async function signInWithIdToken(app: App, request: Incoming, brought: Brought): Promise<Arrived & { provider: string }> {
  if (brought.idToken === '') throw refuse('id_token required')
  if (brought.provider === '' && (brought.issuer === '' || brought.clientId === ''))
    throw refuse('provider or client_id and issuer required')
  const found = await findNative(app, brought)
  const claims = await verify(app, found, brought)
  const profile = await tell(app, found, claims, brought.accessToken)
  const provider = found.provider.name
  const { address } = originOf(request)
  const arrival = { provider, profile, aud: audienceOf(app, request), address, emailOptional: found.emailOptional }
  if (brought.link) {
    if (!app.config.security.manualLinking) throw fail('manual_linking_disabled')
    const { user } = await signedIn.identify(app, request)
    return { ...(await linkIdentity(app, arrival, user.id)), provider }
  }
  const arrived = await signInExternal(app, arrival)
  if (arrived.unproved && !app.config.smtp.mailer.allowUnverified)
    throw await askForProof(app, request, { provider, destination: app.config.siteUrl }, arrived.user)
  app.nudge()
  return { ...arrived, provider }
}

type Native = Extract<FoundProvider, { kind: 'oauth2' }>

/** By its name, or by who issued the token. */
async function findNative(app: App, { provider, issuer, clientId }: Brought): Promise<Native> {
  const name = provider || nameOfIssuer(app, issuer)
  const disabled = fail('provider_disabled', {
    message: `Provider (issuer ${JSON.stringify((issuer || provider).slice(0, 100))}) is not enabled`,
  })
  if (name === undefined) throw disabled
  const found = await attempt(app, name)
  if (!found) throw disabled
  if (found.kind !== 'oauth2' || !found.provider.idTokens?.native) throw disabled
  if (clientId !== '' && !found.clientIds.includes(clientId))
    throw refuse(`Unacceptable audience in id_token: [${clientId.slice(0, 100)}]`)
  return found
}

async function attempt(app: App, name: string): Promise<FoundProvider | undefined> {
  try {
    return await findProvider(app, name)
  } catch (problem) {
    if (problem instanceof Failure) return undefined
    throw problem
  }
}

function nameOfIssuer({ config }: App, issuer: string): string | undefined {
  const [match] = providers.filter((provider) => {
    if (!('idTokens' in provider) || !provider.idTokens) return false
    const base = config.external.providers.get(provider.name)?.base ?? provider.base ?? ''
    return provider.idTokens.issuers(base).some((each) => isIssuer(each, issuer))
  })
  const custom = config.external.customProviders.find(({ places }) => 'issuer' in places && places.issuer === issuer)
  return match?.name ?? custom?.name
}

/** Tenants have issuers of their own, which look alike. */
function isIssuer(pattern: string, issuer: string): boolean {
  const [before = '', after] = pattern.split('{tenantid}')
  if (after === undefined) return pattern === issuer
  const tenant = issuer.slice(before.length, issuer.length - after.length)
  return issuer.startsWith(before) && issuer.endsWith(after) && /^[\w.-]+$/.test(tenant)
}

async function verify(app: App, found: Native, brought: Brought): Promise<Claims> {
  const { provider, configured, clientIds } = found
  const { base } = placesOf(configured)
  const keysUrl = provider.idTokens?.keys?.(base)
  const expected = {
    issuers: provider.idTokens?.issuers(base) ?? [],
    audiences: clientIds,
    keysUrl,
    accessToken: brought.accessToken || undefined,
  }
  const claims = await app.idTokens.verify(brought.idToken, expected).catch((problem: unknown) => {
    if (problem instanceof IdTokenProblem) throw refuse(`Bad ID token: ${problem.message}`)
    throw problem instanceof OutsideTrouble ? new Unavailable(problem.message, { cause: problem }) : problem
  })
  if (!found.skipNonceCheck) checkNonce(claims, brought.nonce)
  return claims
}

/** The token carries the hash of what the program keeps to itself: whoever steals the token has not got that. */
function checkNonce({ nonce }: Claims, passed: string): void {
  const carried = typeof nonce === 'string' ? nonce : ''
  if ((carried === '') !== (passed === '')) throw refuse('Passed nonce and nonce in id_token should either both exist or not.')
  const hash = createHash('sha256').update(passed).digest('hex')
  const [given, right] = [Buffer.from(carried), Buffer.from(hash)]
  if (passed !== '' && !(given.length === right.length && timingSafeEqual(given, right)))
    throw new OAuthRefusal('invalid nonce', 'Nonces mismatch')
}

async function tell(app: App, { provider, configured }: Native, idToken: Claims, accessToken: string) {
  const tokens = { accessToken, refreshToken: undefined, idToken: undefined, reply: {} }
  try {
    return await provider.profile(askingOf(app.fetch, configured, { tokens, idToken, callback: {} }))
  } catch (problem) {
    app.log.error({ provider: provider.name, error: problem }, 'a sign-in with an id token failed')
    throw new OAuthRefusal('server_error', 'Internal Server Error')
  }
}
