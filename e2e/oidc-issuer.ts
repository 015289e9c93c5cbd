import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Provider } from 'oidc-provider'
import { createMemoryAdapter } from 'oidc-provider/lib/adapters/memory_adapter.js'

export type Claims = Readonly<Record<string, unknown>>

type Answering = (request: IncomingMessage, response: ServerResponse) => unknown

/** A real OpenID provider on this machine. Whoever types the name of an account into its form is signed in. */
export async function startIssuer({ redirectUri }: { redirectUri: string }) {
  const accounts = new Map<string, Claims>()
  const troubles: Error[] = []
  const paths: string[] = []
  const adapter = createMemoryAdapter()
  let instead: Answering | undefined

  const server = createServer((request, response) => {
    paths.push(`${request.method} ${request.url?.split('?')[0]}`)
    void (instead?.(request, response) ?? serve(request, response))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  function build() {
    const made: Provider = new Provider(origin, {
      clients: ['acme', 'post'].map((id) => ({
        client_id: id,
        client_secret: `the secret of ${id}`,
        redirect_uris: [redirectUri],
        id_token_signed_response_alg: 'ES256',
        token_endpoint_auth_method: id === 'post' ? 'client_secret_post' : 'client_secret_basic',
      })),
      jwks: { keys: [newKey()] },
      cookies: { keys: ['for tests'] },
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'picture', 'department'] },
      features: { devInteractions: { enabled: false } },
      adapter,
      // Given instead of left out, because the package remarks on what is not meant for production.
      ttl: { AccessToken: 600, AuthorizationCode: 60, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
      interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
      findAccount(_: unknown, accountId: string) {
        const claims = accounts.get(accountId)
        return claims && { accountId, claims: () => ({ sub: accountId, ...claims }) }
      },
      /** Whoever has signed in agrees to everything, so that there is one form and not two. */
      async loadExistingGrant({ oidc: { client, session } }: { oidc: { client: { clientId: string }; session: Claims } }) {
        const grant = new made.Grant({ accountId: String(session.accountId), clientId: client.clientId })
        grant.addOIDCScope('openid profile email')
        await grant.save()
        return grant
      },
    })
    made.on('server_error', (_, problem) => troubles.push(problem))
    return { made, handle: made.callback() }
  }
  let current = build()

  async function serve(request: IncomingMessage, response: ServerResponse) {
    if (!request.url?.startsWith('/interaction/')) return current.handle(request, response)
    if (request.method === 'GET') return response.setHeader('content-type', 'text/html').end(form)
    const { account, answer } = Object.fromEntries(new URLSearchParams(await text(request)))
    const denied = { error: 'access_denied', error_description: 'They said no' }
    const result = answer === 'no' ? denied : { login: { accountId: account } }
    return current.made.interactionFinished(request, response, result, { mergeWithLastSubmission: false })
  }

  return {
    origin,
    troubles,
    /** What was asked of it, oldest first. */
    paths,
    /** Somebody new with an account there. */
    enrol(claims: Claims = {}) {
      const id = randomUUID()
      accounts.set(id, { email: `${id}@mail.test`, email_verified: true, name: 'Ann', department: 'Sales', ...claims })
      return { id, email: `${id}@mail.test` }
    },
    /** Signs with another key from now on. */
    rotate() {
      current = build()
    },
    /** Lets somebody else answer, until it is told that nobody does: one who answers nothing leaves it to the provider. */
    intercept(answering: Answering | undefined) {
      instead = answering
    },
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

const form = `<!doctype html><title>Acme</title><form method="post"><label>Account <input name="account"></label>
<button name="answer" value="yes">Sign in</button><button name="answer" value="no">Cancel</button></form>`

function newKey() {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return { ...privateKey.export({ format: 'jwk' }), kid: randomUUID(), use: 'sig', alg: 'ES256' }
}

/** Goes through the provider's pages as a browser would, and comes to where it sends people back to. */
export async function passProvider(url: string, answers: Readonly<Record<string, string>>): Promise<URL> {
  const { origin } = new URL(url)
  const cookies = new Map<string, string>()
  let here = new URL(url)
  for (let step = 0; here.origin === origin; step++) {
    if (step > 6) throw new Error('The provider sends people round in circles')
    const asks = here.pathname.startsWith('/interaction/')
    const answer = await fetch(here, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map((pair) => pair.join('=')).join('; ') },
      ...(asks ? { method: 'POST', body: new URLSearchParams(answers) } : {}),
    })
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      cookies.set(name, value)
    }
    const location = answer.headers.get('location')
    if (location === null) throw new Error(`The provider answered ${answer.status}: ${(await answer.text()).slice(0, 500)}`)
    here = new URL(location, here)
  }
  return here
}
