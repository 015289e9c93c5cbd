import { createHash, randomBytes } from 'node:crypto'
import { type Fetch, type Fetched, OutsideTrouble } from '@tollgate/kit/fetch'
import type { Asking, Claims, Provider } from './provider.ts'

/** A provider with the settings of this installation. */
export type Configured = {
  provider: Provider
  clientId: string
  secret: string
  redirectUri: string
  /** Where the installation has it, instead of the public places. */
  base?: string | undefined
  api?: string | undefined
}

/** Where a provider's pages and endpoints are, here. */
export function placesOf({ provider, base: own, api: ownApi }: Configured) {
  const base = own ?? provider.base ?? ''
  const moved = own !== undefined && own !== provider.base
  const place = (address: string) => {
    if (!/^https?:\/\//.test(address)) return `${base}${address}`
    return moved ? `${base}${new URL(address).pathname}` : address
  }
  const usual = typeof provider.api === 'function' ? provider.api(base) : moved ? base : (provider.api ?? base)
  return { base, authorize: place(provider.authorize), token: place(provider.token), api: ownApi ?? usual }
}

export type Begun = { url: string; verifier: string | undefined; nonce: string | undefined }

/** Where somebody is sent, and what to remember until they come back. */
export function beginAuthorization(
  configured: Configured,
  { state, extraScopes, more }: { state: string; extraScopes: readonly string[]; more: Readonly<Record<string, string>> },
): Begun {
  const { provider, clientId, redirectUri } = configured
  const verifier = provider.pkce ? randomBytes(32).toString('base64url') : undefined
  const nonce = provider.idTokens && !provider.idTokens.withoutNonce ? randomBytes(16).toString('base64url') : undefined
  const scopes = [...new Set([...provider.scopes, ...extraScopes])]
  const url = new URL(placesOf(configured).authorize)
  const parameters: Record<string, string> = {
    ...handedOn(provider, more),
    ...provider.authorizeParameters,
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: 'code',
    state,
    ...(scopes.length > 0 ? { scope: scopes.join(provider.scopeSeparator ?? ' ') } : {}),
    ...(nonce ? { nonce } : {}),
    ...(verifier
      ? { code_challenge: createHash('sha256').update(verifier).digest('base64url'), code_challenge_method: 'S256' }
      : {}),
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return { url: url.href, verifier, nonce }
}

/** What a caller must not decide: who asks, for what kind of answer, and where it goes. */
const reserved = new Set(
  'client_id client_secret redirect_uri response_type state code_challenge code_challenge_method code_verifier scope nonce response_mode request request_uri'.split(
    ' ',
  ),
)

function handedOn({ handsOn = {} }: Provider, more: Readonly<Record<string, string>>): Record<string, string> {
  // A caller may call a parameter what every object has, such as `constructor`.
  const nameThere = (name: string) => (Object.hasOwn(handsOn, name) ? handsOn[name] : undefined) ?? name
  const entries = Object.entries(more).map(([name, value]) => [nameThere(name), value] as const)
  return Object.fromEntries(entries.filter(([name]) => !reserved.has(name.toLowerCase())))
}

export type Tokens = { accessToken: string; refreshToken: string | undefined; idToken: string | undefined; reply: Claims }

/** Exchanges the code that somebody came back with. */
export async function exchangeCode(
  fetch: Fetch,
  configured: Configured,
  { code, verifier, now }: { code: string; verifier: string | undefined; now: Date },
): Promise<Tokens> {
  const { provider, clientId, redirectUri } = configured
  const secret = provider.makeSecret?.({ clientId, secret: configured.secret, now }) ?? configured.secret
  const style = provider.clientAuth ?? 'form'
  const grant = {
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri,
    ...(verifier ? { code_verifier: verifier } : {}),
    ...(style === 'form' ? { client_id: clientId, client_secret: secret } : {}),
  }
  const answer = await fetch(placesOf(configured).token, {
    method: 'POST',
    headers: {
      accept: 'application/json',
      'content-type': style === 'basic-json' ? 'application/json' : 'application/x-www-form-urlencoded',
      ...provider.headers,
      ...(style === 'form' ? {} : { authorization: `Basic ${basic(clientId, secret)}` }),
    },
    body: style === 'basic-json' ? JSON.stringify(grant) : new URLSearchParams(grant).toString(),
    asked: `${provider.name}: the token endpoint`,
  })
  return readTokens(provider.name, answer)
}

/** https://www.rfc-editor.org/rfc/rfc6749#section-2.3.1: both are form-encoded before they are joined. */
function basic(clientId: string, secret: string): string {
  const encoded = (text: string) => new URLSearchParams({ '': text }).toString().slice(1)
  return Buffer.from(`${encoded(clientId)}:${encoded(secret)}`).toString('base64')
}

function readTokens(name: string, answer: Fetched): Tokens {
  const reply = bodyOf(answer)
  const accessToken = reply.access_token
  // Some answer 200 with an error in it.
  if (answer.status < 200 || answer.status > 299 || typeof accessToken !== 'string' || accessToken === '') {
    // The code of an error, as the standard and all who differ from it write them; whatever else stands there could be a secret.
    const said = typeof reply.error === 'string' && /^[a-z_]{1,40}$/.test(reply.error) ? ` with ${reply.error}` : ''
    throw new OutsideTrouble('nonsense', `${name}: the token endpoint`, `answered ${answer.status}${said}`, answer.status)
  }
  const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)
  return { accessToken, refreshToken: text(reply.refresh_token), idToken: text(reply.id_token), reply }
}

function bodyOf(answer: Fetched): Claims {
  try {
    const reply: unknown = answer.json()
    if (typeof reply === 'object' && reply !== null && !Array.isArray(reply)) return reply as Claims
  } catch {
    // Older ones answer with a form.
  }
  return Object.fromEntries(new URLSearchParams(answer.text.slice(0, 10_000)))
}

/** Asks a provider who somebody is. */
export function askingOf(
  fetch: Fetch,
  configured: Configured,
  { tokens, idToken, callback }: { tokens: Tokens; idToken: Claims; callback: Readonly<Record<string, string>> },
): Asking {
  const { provider, clientId, secret } = configured
  const { base, api } = placesOf(configured)
  const ask = async <T>(
    url: string,
    method: 'GET' | 'POST',
    headers: Readonly<Record<string, string>>,
    json?: unknown,
  ): Promise<T> => {
    const answer = await fetch(url, {
      method,
      headers: {
        accept: 'application/json',
        authorization: `Bearer ${tokens.accessToken}`,
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        ...provider.headers,
        ...headers,
      },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      asked: `${provider.name}: ${method} ${new URL(url).pathname}`,
    })
    if (answer.status < 200 || answer.status > 299) throw answer.trouble()
    return answer.json<T>()
  }
  return {
    get: (url, headers = {}) => ask(url, 'GET', headers),
    post: (url, json, headers = {}) => ask(url, 'POST', headers, json),
    api,
    base,
    accessToken: tokens.accessToken,
    tokenReply: tokens.reply,
    idToken,
    callback,
    clientId,
    clientSecret: secret,
  }
}
