import { createHmac, randomBytes } from 'node:crypto'
import { createFetch } from '@tollgate/kit/fetch'
import { type FakeRequest, startHttpFake } from '@tollgate/kit/http-fake'
import { Secret } from '@tollgate/kit/secret'
import { stillClock } from '@tollgate/kit/testing'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import {
  accessToken,
  authorizeAddress,
  type OAuth1Client,
  readReturn,
  requestToken,
  signedGet,
  type TokenPair,
} from './oauth1.ts'
import type { Asking } from './provider.ts'
import { twitter } from './twitter.ts'

const fetch = createFetch({ allowPrivate: true, timeout: 2, userAgent: 'tollgate/test' })
afterAll(() => fetch.close())

const consumer = { key: 'cChZNFj6T5R0TigYB9yd1w', secret: 'L8qq9PZ/yRg6&ieKGE' }
const redirectUri = 'https://auth.example.com/callback'

const sean = {
  id: 38895958123456790,
  id_str: '38895958123456789',
  name: 'Sean Cook',
  screen_name: 'theSeanCook',
  profile_image_url_https: 'https://pbs.twimg.com/profile_images/1751506047/not_normal_normal.JPG',
  url: 'https://t.co/abc',
  email: 'Sean@Example.com',
}

/** Twitter as far as signing in goes: it recomputes every signature from what arrived, and lets tokens and nonces pass once. */
async function startTwitter(user: unknown = sean) {
  const now = stillClock('2011-10-13T00:57:07Z')
  const nonces = new Set<string>()
  const requestTokens = new Map<string, { secret: string; callback: string; verifier?: string }>()
  const accessTokens = new Map<string, string>()

  const endpoints: Record<string, (oauth: Record<string, string>, request: FakeRequest) => object> = {
    'POST /oauth/request_token'({ oauth_callback = '' }) {
      if (!oauth_callback.startsWith(redirectUri)) return refuse(403, 415)
      const token = `request-${requestTokens.size + 1}`
      requestTokens.set(token, { secret: `${token}+secret/=`, callback: oauth_callback })
      return form({ oauth_token: token, oauth_token_secret: `${token}+secret/=`, oauth_callback_confirmed: 'true' })
    },
    'POST /oauth/access_token'({ oauth_token = '', oauth_verifier }) {
      const verifier = requestTokens.get(oauth_token)?.verifier
      if (!verifier || verifier !== oauth_verifier) return refuse(401, 89)
      requestTokens.delete(oauth_token)
      const token = `38895958-${oauth_token}`
      accessTokens.set(token, `${token}&secret`)
      return form({ oauth_token: token, oauth_token_secret: `${token}&secret`, user_id: '38895958', screen_name: 'theSeanCook' })
    },
    'GET /1.1/account/verify_credentials.json'({ oauth_token = '' }, { query }) {
      if (!accessTokens.has(oauth_token)) return refuse(401, 89)
      return { json: query.include_email === 'true' ? user : { ...(user as object), email: undefined } }
    },
  }

  const fake = await startHttpFake((request) => {
    const { oauth_signature: signature, ...oauth } = readHeader(request.headers.authorization ?? '')
    const { oauth_token: token = '', oauth_nonce: nonce = '', oauth_timestamp: timestamp } = oauth
    const secret = requestTokens.get(token)?.secret ?? accessTokens.get(token) ?? ''
    const address = `http://${request.headers.host}${request.path}`
    const expected = recompute(
      request.method,
      address,
      { ...oauth, ...request.query },
      `${rfc3986(consumer.secret)}&${rfc3986(secret)}`,
    )
    if (oauth.oauth_consumer_key !== consumer.key || signature !== expected) return refuse(401, 32)
    if (timestamp !== String(Math.floor(now().getTime() / 1000)) || nonces.has(nonce)) return refuse(401, 135)
    nonces.add(nonce)
    return endpoints[`${request.method} ${request.path}`]?.(oauth, request) ?? { status: 404 }
  })
  onTestFinished(() => fake.close())

  const client: OAuth1Client = {
    provider: twitter,
    base: fake.origin,
    clientId: consumer.key,
    clientSecret: new Secret(consumer.secret),
    fetch,
    now,
    random: randomBytes,
  }

  /** Somebody looks at the page where they were sent to, and agrees; answers with what comes back to the callback. */
  function agree(address: string): Record<string, string> {
    const page = new URL(address)
    expect(`${page.origin}${page.pathname}`).toBe(`${fake.origin}/oauth/authenticate`)
    const token = page.searchParams.get('oauth_token') ?? ''
    const waiting = requestTokens.get(token)
    if (!waiting) throw new Error('twitter shows: this page is no longer valid')
    waiting.verifier = `verifier of ${token}`
    const back = new URL(waiting.callback)
    back.searchParams.set('oauth_token', token)
    back.searchParams.set('oauth_verifier', waiting.verifier)
    return Object.fromEntries(back.searchParams)
  }

  return { fake, client, agree }
}

const form = (values: Record<string, string>) => ({
  text: new URLSearchParams(values).toString(),
  headers: { 'content-type': 'text/html;charset=utf-8' },
})
const refuse = (status: number, code: number) => ({ status, json: { errors: [{ code, message: 'Refused.' }] } })

function readHeader(header: string): Record<string, string> {
  expect(header).toMatch(/^OAuth (\w+="[\w.~%-]*"(, |$))+$/)
  const words = header.matchAll(/(\w+)="([^"]*)"/g)
  return Object.fromEntries([...words].map(([, name = '', value = '']) => [name, decodeURIComponent(value)]))
}

/** Written by the letter of the RFC and not with what it checks. */
function recompute(method: string, address: string, parameters: Record<string, string>, key: string): string {
  const names = Object.keys(parameters).sort()
  const all = names.map((name) => `${rfc3986(name)}=${rfc3986(parameters[name] ?? '')}`).join('&')
  return createHmac('sha1', key)
    .update(`${method}&${rfc3986(address)}&${rfc3986(all)}`)
    .digest('base64')
}

function rfc3986(text: string): string {
  const written = [...Buffer.from(text)].map((byte) => {
    const letter = String.fromCharCode(byte)
    return /[A-Za-z0-9._~-]/.test(letter) ? letter : `%${byte.toString(16).padStart(2, '0').toUpperCase()}`
  })
  return written.join('')
}

function profileOf(client: OAuth1Client, pair: TokenPair) {
  const get: Asking['get'] = (url) => signedGet({ ...client, accessToken: pair, url })
  return twitter.profile({ api: client.base, get })
}

async function signIn({ client, agree }: Awaited<ReturnType<typeof startTwitter>>) {
  const kept = await requestToken({ ...client, redirectUri, state: 'state-1' })
  const callback = agree(authorizeAddress(client, kept.token))
  const { verifier = '' } = readReturn(callback, kept.token)
  const pair = await accessToken({ ...client, requestToken: kept, verifier })
  return { kept, callback, verifier, pair, profile: await profileOf(client, pair) }
}

describe('signing in with twitter', () => {
  test('tells who somebody is, with every request signed', async () => {
    const started = await startTwitter()
    const { profile, callback } = await signIn(started)
    expect(callback.state).toBe('state-1')
    expect(profile).toEqual({
      subject: '38895958123456789',
      emails: [{ email: 'sean@example.com', verified: true, primary: true }],
      name: 'Sean Cook',
      username: 'theSeanCook',
      avatar: 'https://pbs.twimg.com/profile_images/1751506047/not_normal.JPG',
      website: 'https://t.co/abc',
    })
    expect(started.fake.requests.at(-1)?.query).toEqual({ include_email: 'true', include_entities: 'false', skip_status: 'true' })
  })

  test('the public address is twitter’s own', () => {
    expect(authorizeAddress({ provider: twitter, base: twitter.base }, 't')).toBe(
      'https://api.twitter.com/oauth/authenticate?oauth_token=t',
    )
  })

  test('a wrong client secret is refused', async () => {
    const { client } = await startTwitter()
    const wrong = { ...client, clientSecret: new Secret('wrong') }
    await expect(requestToken({ ...wrong, redirectUri, state: 's' })).rejects.toThrow(
      'twitter: POST /oauth/request_token answered 401',
    )
  })

  test('a callback that is not registered is refused', async () => {
    const { client } = await startTwitter()
    await expect(requestToken({ ...client, redirectUri: 'https://evil.example', state: 's' })).rejects.toThrow('answered 403')
  })

  test('a request whose nonce was seen is refused', async () => {
    const { client } = await startTwitter()
    const still = { ...client, random: (bytes: number) => Buffer.alloc(bytes) }
    await requestToken({ ...still, redirectUri, state: 's' })
    await expect(requestToken({ ...still, redirectUri, state: 's' })).rejects.toThrow('answered 401')
  })

  test('what one person brings back does not fit the sign-in of another', async () => {
    const { client, agree } = await startTwitter()
    const ours = await requestToken({ ...client, redirectUri, state: 'ours' })
    const theirs = await requestToken({ ...client, redirectUri, state: 'theirs' })
    const callback = agree(authorizeAddress(client, theirs.token))
    expect(readReturn(callback, ours.token)).toEqual({ problem: 'foreign' })
  })

  test('a verifier or a secret of another request token is refused by twitter too', async () => {
    const { client, agree } = await startTwitter()
    const ours = await requestToken({ ...client, redirectUri, state: 'ours' })
    const theirs = await requestToken({ ...client, redirectUri, state: 'theirs' })
    const { oauth_verifier: verifier = '' } = agree(authorizeAddress(client, theirs.token))
    agree(authorizeAddress(client, ours.token))
    await expect(accessToken({ ...client, requestToken: ours, verifier })).rejects.toThrow('access_token answered 401')
    const mixed = { token: theirs.token, secret: ours.secret }
    await expect(accessToken({ ...client, requestToken: mixed, verifier })).rejects.toThrow('access_token answered 401')
    expect((await accessToken({ ...client, requestToken: theirs, verifier })).token).toBe('38895958-request-2')
  })

  test('a request token is good for one access token', async () => {
    const started = await startTwitter()
    const { kept, verifier } = await signIn(started)
    await expect(accessToken({ ...started.client, requestToken: kept, verifier })).rejects.toThrow('access_token answered 401')
  })

  test('a profile is not told to whoever has no secret of the token', async () => {
    const started = await startTwitter()
    const { pair } = await signIn(started)
    await expect(profileOf(started.client, { ...pair, secret: new Secret('guessed') })).rejects.toThrow(
      'twitter: GET /1.1/account/verify_credentials.json answered 401',
    )
  })
})

describe('a profile', () => {
  test.each([
    ['null', null],
    ['left out', undefined],
    ['empty', ''],
    ['no address', 'sean'],
    ['no text', { address: 'sean@example.com' }],
  ])('whose address is %s has none', async (_, email) => {
    const { profile } = await signIn(await startTwitter({ ...sean, email }))
    expect([profile.emails, profile.subject]).toEqual([[], '38895958123456789'])
  })

  test.each([
    ['https://abs.twimg.com/default_profile_normal.png', 'https://abs.twimg.com/default_profile.png'],
    ['https://pbs.twimg.com/a_normal', 'https://pbs.twimg.com/a'],
    ['https://pbs.twimg.com/a_normal/b.png', 'https://pbs.twimg.com/a_normal/b.png'],
    [null, undefined],
  ])('with the image %s has the avatar %s', async (image, avatar) => {
    const { profile } = await signIn(await startTwitter({ ...sean, profile_image_url_https: image }))
    expect(profile.avatar).toBe(avatar)
  })

  test('of nothing but an id is enough', async () => {
    const { profile } = await signIn(await startTwitter({ id_str: '7', name: '', screen_name: 5, url: null }))
    expect(profile).toEqual({ subject: '7', emails: [] })
  })

  test.each([
    ['without an id', { name: 'Sean' }],
    ['with an empty id', { ...sean, id_str: ' ' }],
    ['with the rounded number alone', { id: 38895958, email: 'sean@example.com' }],
    ['whose id is a number', { ...sean, id_str: 7 }],
  ])('%s lets nobody in', async (_, user) => {
    await expect(signIn(await startTwitter(user))).rejects.toThrow('twitter: told no id')
  })

  test.each([[[sean]], ['sean'], [null]])('%j instead of an object is a trouble', async (user) => {
    await expect(signIn(await startTwitter(user))).rejects.toThrow(
      'verify_credentials.json answered 200 with JSON that is no object',
    )
  })
})
