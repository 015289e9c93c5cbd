import { createHmac } from 'node:crypto'
import type { Clock } from '@tollgate/kit/clock'
import { type Fetch, type Fetched, OutsideTrouble } from '@tollgate/kit/fetch'
import { Secret } from '@tollgate/kit/secret'
import type { Asking, Claims, Profile } from './provider.ts'

/** How an outsider lets people in by OAuth 1.0a: https://www.rfc-editor.org/rfc/rfc5849 */
export type OAuth1Provider = {
  name: string
  /** Where people sign in, and where its API is. */
  base: string
  /** There are none in OAuth 1.0a: what a client may ask is settled where it was registered. */
  scopes: readonly []
  /** Paths below the base. */
  requestToken: string
  authorize: string
  accessToken: string
  profile(asking: Pick<Asking, 'get' | 'api'>): Promise<Profile>
}

/** A token and what requests in its name are signed with. To be sealed, the secret has to be revealed first: its JSON is a placeholder. */
export type TokenPair = { token: string; secret: Secret }

/** A provider with all that it takes to ask it something. */
export type OAuth1Client = {
  provider: OAuth1Provider
  /** Without a slash at the end. */
  base: string
  clientId: string
  clientSecret: Secret
  fetch: Fetch
  now: Clock
  random(bytes: number): Buffer
}

/** What a provider's answer or a browser's callback may hold at one name; real ones are a tenth of it. */
const longestWord = 1024
/** The most bytes of an answer with a token in it. */
const longestAnswer = 8192

/** First stroke: tells the provider where to send somebody back to. The pair has to be kept, sealed, until they come. */
export async function requestToken(ask: OAuth1Client & { redirectUri: string; state: string }): Promise<TokenPair> {
  const { redirectUri, state, provider } = ask
  // Nothing else comes back with them that would tell whose sign-in it is.
  const callback = `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}state=${percentEncode(state)}`
  const answer = await askForToken(ask, provider.requestToken, { oauth_callback: callback })
  // A server of the first edition does not say so, and there anybody can slip another person a token of their own.
  if (answer.read('oauth_callback_confirmed') !== 'true') throw answer.nonsense('without a confirmed callback')
  return answer.pair()
}

/** Second stroke: where somebody is sent to. */
export function authorizeAddress(
  { provider, base }: Pick<OAuth1Client, 'provider' | 'base'>,
  token: string,
  handedOn: Readonly<Record<string, string>> = {},
): string {
  return `${base}${provider.authorize}?${new URLSearchParams({ ...handedOn, oauth_token: token })}`
}

export type Return = { verifier: string; problem?: never } | { problem: 'denied' | 'foreign' | 'incomplete'; verifier?: never }

/** Third stroke: with what somebody came back, and whether it belongs to the request token that was kept. */
export function readReturn(callback: Readonly<Record<string, string | undefined>>, kept: string): Return {
  const { oauth_token: token, oauth_verifier: verifier, denied } = callback
  const brought = denied ?? token
  if (!brought) return { problem: 'incomplete' }
  // Whoever brings the token of another sign-in would be let in as somebody else.
  if (brought !== kept) return { problem: 'foreign' }
  if (denied) return { problem: 'denied' }
  if (!verifier || verifier.length > longestWord) return { problem: 'incomplete' }
  return { verifier }
}

/** Fourth stroke: the request token, which was allowed, becomes one that can be used. */
export async function accessToken(ask: OAuth1Client & { requestToken: TokenPair; verifier: string }): Promise<TokenPair> {
  const answer = await askForToken(ask, ask.provider.accessToken, { oauth_verifier: ask.verifier }, ask.requestToken)
  return answer.pair()
}

/** Asks for something in the name of whoever the token belongs to; what is not a 200 with a JSON object is a trouble. */
export async function signedGet<T = Claims>(ask: OAuth1Client & { accessToken: TokenPair; url: string }): Promise<T> {
  const asked = `${ask.provider.name}: GET ${URL.parse(ask.url)?.pathname}`
  const headers = { accept: 'application/json', authorization: authorize(ask, 'GET', ask.url, {}, ask.accessToken) }
  const answer = await ask.fetch(ask.url, { headers, asked })
  if (answer.status !== 200) throw answer.trouble()
  const reply = answer.json<T>()
  if (typeof reply === 'object' && reply !== null && !Array.isArray(reply)) return reply
  throw new OutsideTrouble('nonsense', asked, 'answered 200 with JSON that is no object', 200)
}

type ProtocolParameters = Readonly<Record<`oauth_${string}`, string>>

async function askForToken(client: OAuth1Client, path: string, parameters: ProtocolParameters, pair?: TokenPair) {
  const url = `${client.base}${path}`
  const asked = `${client.provider.name}: POST ${path}`
  const headers = { authorization: authorize(client, 'POST', url, parameters, pair) }
  const answer = await client.fetch(url, { method: 'POST', headers, limit: longestAnswer, asked })
  if (answer.status !== 200) throw answer.trouble()
  return tokenAnswer(answer, asked)
}

/** An answer as a form. Its content type is not looked at: twitter calls it text/html. */
function tokenAnswer({ text, status }: Fetched, asked: string) {
  const form = new URLSearchParams(text)
  const nonsense = (what: string) => new OutsideTrouble('nonsense', asked, `answered ${status} ${what}`, status)
  const read = (name: string) => {
    const [value, ...others] = form.getAll(name)
    if (!value) throw nonsense(`without ${name}`)
    // Two readers of such an answer may each believe another one.
    if (others.length > 0) throw nonsense(`with ${name} more than once`)
    if (value.length > longestWord) throw nonsense(`with ${name} longer than ${longestWord} characters`)
    return value
  }
  const pair = (): TokenPair => ({ token: read('oauth_token'), secret: new Secret(read('oauth_token_secret')) })
  return { read, nonsense, pair }
}

function authorize(client: OAuth1Client, method: string, url: string, parameters: ProtocolParameters, pair?: TokenPair): string {
  const protocol = {
    ...parameters,
    oauth_consumer_key: client.clientId,
    oauth_nonce: client.random(16).toString('hex'),
    oauth_signature_method: 'HMAC-SHA1',
    oauth_timestamp: String(Math.floor(client.now().getTime() / 1000)),
    ...(pair ? { oauth_token: pair.token } : {}),
    oauth_version: '1.0',
  }
  const text = baseString(method, url, Object.entries(protocol))
  const signature = sign(text, client.clientSecret.reveal(), pair?.secret.reveal())
  return authorizationHeader({ ...protocol, oauth_signature: signature })
}

/** RFC 5849, 3.5.1 */
export function authorizationHeader(protocol: ProtocolParameters): string {
  const words = Object.entries(protocol).map(([name, value]) => `${percentEncode(name)}="${percentEncode(value)}"`)
  return `OAuth ${words.sort().join(', ')}`
}

/** RFC 5849, 3.4.2 */
export function sign(text: string, clientSecret: string, tokenSecret = ''): string {
  return createHmac('sha1', `${percentEncode(clientSecret)}&${percentEncode(tokenSecret)}`)
    .update(text)
    .digest('base64')
}

/** What is signed: the parameters are those of the protocol and of a form, to which those of the address are added. RFC 5849, 3.4.1 */
export function baseString(method: string, url: string, parameters: readonly (readonly [string, string])[]): string {
  const { origin, pathname, searchParams } = new URL(url)
  const normalized = [...searchParams, ...parameters]
    .map(([name, value]) => [percentEncode(name), percentEncode(value)] as const)
    // By name and then by value: sorted as one text, `a-b=` would come before `a=`.
    .sort(([name, value], [otherName, otherValue]) => compare(name, otherName) || compare(value, otherValue))
    .map((pair) => pair.join('='))
    .join('&')
  return [method, `${origin}${pathname}`, normalized].map(percentEncode).join('&')
}

/** By bytes: what is percent-encoded has no others than those of ASCII. */
function compare(one: string, other: string): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}

/** RFC 5849, 3.6: everything but letters, digits and `-._~`. */
export function percentEncode(text: string): string {
  // Half a character cannot be encoded; it is signed and sent as the mark that stands for it.
  const encoded = encodeURIComponent(text.toWellFormed())
  return encoded.replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
}
