import { randomBytes, randomUUID } from 'node:crypto'
import { Unavailable } from '@tollgate/kit/failure'
import { OutsideTrouble } from '@tollgate/kit/fetch'
import { Secret } from '@tollgate/kit/secret'
import type { App } from '../app.ts'
import { fail } from '../errors.ts'
import { providers } from '../providers/all.ts'
import { openCustom } from '../providers/custom.ts'
import type { CustomSettings } from '../providers/custom-settings.ts'
import { beginAuthorization, type Configured } from '../providers/oauth.ts'
import { authorizeAddress, type OAuth1Client, type OAuth1Provider, requestToken } from '../providers/oauth1.ts'
import type { Provider } from '../providers/provider.ts'
import type { CodeChallenge } from '../rules/code-challenge.ts'
import { writeState } from '../rules/flow-state.ts'
import { seal } from '../rules/seal.ts'
import { insertExternalFlow } from '../store/flows.ts'

/** What is remembered of a flow while somebody is away, sealed. */
export type Remembered = {
  verifier?: string | undefined
  nonce?: string | undefined
  requestToken?: { token: string; secret: string }
  extraScopes: boolean
}

export type Journey = {
  providerName: string
  scopes: string | undefined
  /** Parameters that are meant for the provider. */
  more: Readonly<Record<string, string>>
  challenge: CodeChallenge | undefined
  destination: string
  inviteToken?: string | undefined
  linkTo?: string | undefined
}

/** The address at a provider that somebody is to be sent to. */
export async function leadToProvider(app: App, journey: Journey): Promise<string> {
  const found = await findProvider(app, journey.providerName)
  const id = randomUUID()
  const state = writeState(app.secrets.flows, id)
  // Divided by commas, as today's clients send them; blanks are how everybody else divides scopes.
  const extraScopes = (journey.scopes ?? '').split(/[\s,]+/).filter((scope) => scope !== '')
  const { url, remembered } = await begin(app, found, { state, extraScopes, more: journey.more })
  await insertExternalFlow(app.db, {
    id,
    provider: found.provider.name,
    challenge: journey.challenge?.challenge ?? null,
    destination: journey.destination,
    sealed: seal(app.secrets.flows, id, { ...remembered, extraScopes: extraScopes.length > 0 } satisfies Remembered),
    inviteToken: journey.inviteToken ?? null,
    linkTo: journey.linkTo ?? null,
    now: app.now(),
  })
  return url
}

type Away = { state: string; extraScopes: readonly string[]; more: Readonly<Record<string, string>> }

async function begin(
  app: App,
  found: FoundProvider,
  away: Away,
): Promise<{ url: string; remembered: Omit<Remembered, 'extraScopes'> }> {
  if (found.kind === 'oauth2') {
    const { url, verifier, nonce } = beginAuthorization(found.configured, away)
    return { url, remembered: { verifier, nonce } }
  }
  const client = oauth1ClientOf(app, found)
  const pair = await requestToken({ ...client, redirectUri: found.redirectUri, state: away.state }).catch(orUnavailable)
  return {
    url: authorizeAddress(client, pair.token),
    remembered: { requestToken: { token: pair.token, secret: pair.secret.reveal() } },
  }
}

export type FoundProvider =
  | {
      kind: 'oauth2'
      provider: Provider
      configured: Configured
      clientIds: readonly string[]
      emailOptional: boolean
      /** Whether it says in every answer that it is the one who answers. */
      tellsIssuer?: boolean
      /** Whether its id tokens are taken without a nonce. */
      skipNonceCheck?: boolean
    }
  | {
      kind: 'oauth1'
      provider: OAuth1Provider
      base: string
      clientId: string
      secret: string
      redirectUri: string
      emailOptional: boolean
    }

/** A provider that is enabled here, with what it takes to speak to it. */
export async function findProvider(app: App, name: string): Promise<FoundProvider> {
  const { config } = app
  const wanted = name.toLowerCase()
  const custom = config.external.customProviders.find((each) => each.name === wanted)
  if (custom) return findCustom(app, custom)
  const provider = providers.find((each) => each.name === wanted)
  const refuse = (why: string) => fail('validation_failed', { message: `Unsupported provider: ${why}` })
  if (!provider) throw refuse(`Provider ${wanted.slice(0, 40)} could not be found`)
  const settings = config.external.providers.get(wanted)
  if (!settings?.enabled) throw refuse('provider is not enabled')
  const [clientId] = settings.clientIds
  if (clientId === undefined) throw refuse('missing OAuth client ID')
  const { redirectUri, base, api, emailOptional, skipNonceCheck } = settings
  const secret = settings.secret?.reveal()
  if (!secret) throw refuse('missing OAuth secret')
  if (redirectUri === undefined) throw refuse('missing redirect URI')
  if ('requestToken' in provider)
    return { kind: 'oauth1', provider, base: base ?? provider.base, clientId, secret, redirectUri, emailOptional }
  const configured = { provider, clientId, secret, redirectUri, base, api }
  return { kind: 'oauth2', provider, configured, clientIds: settings.clientIds, emailOptional, skipNonceCheck }
}

async function findCustom({ config, fetch, now }: App, settings: CustomSettings): Promise<FoundProvider> {
  const allowHttp = config.security.allowPrivateAddresses
  const { provider, tellsIssuer } = await openCustom(settings, { fetch, now, allowHttp }).catch(orUnavailable)
  const { clientIds, emailOptional, skipNonceCheck } = settings
  const redirectUri = `${config.externalUrl}/callback`
  const configured = { provider, clientId: clientIds[0], secret: settings.secret.reveal(), redirectUri }
  return { kind: 'oauth2', provider, configured, clientIds, emailOptional, tellsIssuer, skipNonceCheck }
}

function orUnavailable(problem: unknown): never {
  throw problem instanceof OutsideTrouble ? new Unavailable(problem.message, { cause: problem }) : problem
}

export function oauth1ClientOf({ fetch, now }: App, found: Extract<FoundProvider, { kind: 'oauth1' }>): OAuth1Client {
  const { provider, base, clientId, secret } = found
  return { provider, base, clientId, clientSecret: new Secret(secret), fetch, now, random: randomBytes }
}
