import { generateKeyPairSync, randomBytes } from 'node:crypto'
import type { RequestContext } from 'oidc-provider'
import { testClient } from './test-client.ts'

const hour = 3_600
const day = 24 * hour

export type LibraryOptions = {
  issuer: string
  redirectUri: string
  interactionPath(uid: string): string
  claimsOf(subject: string): Record<string, unknown> | undefined
  errorPage(problem: { error: string; error_description?: string }): string
}

/**
 * https://github.com/panva/node-oidc-provider: a certified OpenID provider. Loaded when somebody first asks for it, because that takes a
 * third of a second, and most starts of Tollgate end without.
 */
export async function openLibrary(options: LibraryOptions) {
  const { Provider, errors, interactionPolicy } = await import('oidc-provider')
  const { createMemoryAdapter } = await import('oidc-provider/lib/adapters/memory_adapter.js')
  const policy = interactionPolicy.base()
  // Google and others know it, so that apps ask for it.
  policy.add(new interactionPolicy.Prompt({ name: 'select_account', requestable: true }))

  const provider = new Provider(options.issuer, {
    adapter: createMemoryAdapter(),
    jwks: { keys: [signingKey()] },
    clients: [
      {
        client_id: testClient.id,
        client_secret: testClient.secret,
        redirect_uris: [options.redirectUri],
        grant_types: ['authorization_code', 'refresh_token'],
        id_token_signed_response_alg: 'ES256',
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    clientAuthMethods: ['client_secret_post'],
    clientBasedCORS: () => false,
    pkce: { required: () => true },
    scopes: ['openid', 'offline_access', 'email', 'profile'],
    claims: {
      openid: ['sub'],
      email: ['email', 'email_verified'],
      profile: ['name', 'given_name', 'family_name', 'preferred_username', 'picture', 'locale'],
    },
    // In the id token as well, as most providers have it.
    conformIdTokenClaims: false,
    findAccount(_: RequestContext, subject: string) {
      const claims = options.claimsOf(subject)
      return claims && { accountId: subject, claims: () => claims }
    },
    loadExistingGrant: grantWhatIsAskedFor,
    interactions: { policy, url: (_: RequestContext, { uid }: { uid: string }) => options.interactionPath(uid) },
    features: { devInteractions: { enabled: false }, rpInitiatedLogout: { enabled: false } },
    cookies: {
      keys: [randomBytes(32).toString('base64url')],
      // All ports of a machine share their cookies, and other programs may have a "_session" of their own.
      names: { session: 'tollgate_test_session', interaction: 'tollgate_test_interaction', resume: 'tollgate_test_resume' },
      // Who it is, is asked every time: what is kept for a page that there is not is never sent back.
      long: { path: '/never', signed: true, httpOnly: true, sameSite: 'lax' },
    },
    ttl: {
      AccessToken: hour,
      AuthorizationCode: 60,
      Grant: day,
      IdToken: hour,
      Interaction: hour,
      RefreshToken: day,
      Session: day,
    },
    renderError(context: RequestContext, problem: { error: string; error_description?: string }) {
      context.type = 'html'
      context.body = options.errorPage(problem)
    },
  })
  // It would write every wrong request into the terminal.
  provider.silent = true
  provider.on('server_error', (_, problem) => console.error('The test provider failed:', problem))
  return { provider, SessionNotFound: errors.SessionNotFound }
}

export type Library = Awaited<ReturnType<typeof openLibrary>>

function signingKey(): object {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' })
}

/** Whoever chooses a person has agreed to everything. */
async function grantWhatIsAskedFor({ oidc }: RequestContext) {
  const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId })
  grant.addOIDCScope([...oidc.requestParamOIDCScopes].join(' '))
  grant.addOIDCClaims([...oidc.requestParamClaims])
  await grant.save()
  return grant
}
