import { inspect } from 'node:util'
import { createFetch, OutsideTrouble } from '@tollgate/kit/fetch'
import { type FakeAnswer, startHttpFake } from '@tollgate/kit/http-fake'
import { Secret } from '@tollgate/kit/secret'
import { stillClock } from '@tollgate/kit/testing'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import {
  accessToken,
  authorizationHeader,
  authorizeAddress,
  baseString,
  type OAuth1Client,
  type OAuth1Provider,
  percentEncode,
  readReturn,
  requestToken,
  sign,
  signedGet,
} from './oauth1.ts'
import type { Asking } from './provider.ts'

const fetch = createFetch({ allowPrivate: true, timeout: 0.3, userAgent: 'tollgate/test' })
afterAll(() => fetch.close())

const photos: OAuth1Provider = {
  name: 'photos',
  base: 'https://photos.example.net',
  scopes: [],
  requestToken: '/initiate',
  authorize: '/authorize',
  accessToken: '/token',
  profile: async ({ get, api }) => ({ subject: String((await get(`${api}/me`)).id), emails: [] }),
}

/** A provider that answers everything alike, and a client of it whose clock and dice stand still. */
async function clientOf(answer: FakeAnswer) {
  const fake = await startHttpFake(() => answer)
  onTestFinished(() => fake.close())
  const client: OAuth1Client = {
    provider: photos,
    base: fake.origin,
    clientId: 'dpf43f3p2l4k3l03',
    clientSecret: new Secret('kd94hf93k423kf44'),
    fetch,
    now: stillClock('2011-10-13T00:57:07.900Z'),
    random: (bytes) => Buffer.alloc(bytes, 0xa5),
  }
  return { fake, client }
}

const kept = { token: 'hh5s93j4hdidpola', secret: new Secret('hdhd0244k9j7ao03') }
const held = { token: 'nnch734d00sl2jdk', secret: new Secret('pfkkdhi9sl3r4s00') }
const begin = { redirectUri: 'https://auth.example.com/callback', state: 'b7f2' }
const finish = { requestToken: kept, verifier: 'hfdp7dh39dks9884' }
const nonce = 'a5'.repeat(16)

describe('what is signed', () => {
  test.each([
    ['abcXYZ019-._~', 'abcXYZ019-._~'],
    ["!*'()", '%21%2A%27%28%29'],
    ['Ladies + Gentlemen', 'Ladies%20%2B%20Gentlemen'],
    ['Dogs, Cats & Mice', 'Dogs%2C%20Cats%20%26%20Mice'],
    ['%3D', '%253D'],
    ['☃', '%E2%98%83'],
    ['\ud83d', '%EF%BF%BD'],
    ['', ''],
  ])('%j is written %j', (plain, encoded) => expect(percentEncode(plain)).toBe(encoded))

  test('the base string of RFC 5849, 3.4.1.1, and its signature as erratum 2550 corrects it', () => {
    const text = baseString('POST', 'http://example.com/request?b5=%3D%253D&a3=a&c%40=&a2=r%20b', [
      ['oauth_consumer_key', '9djdj82h48djs9d2'],
      ['oauth_token', 'kkk9d7dh3k39sjv7'],
      ['oauth_signature_method', 'HMAC-SHA1'],
      ['oauth_timestamp', '137131201'],
      ['oauth_nonce', '7d8f3e4a'],
      ['c2', ''],
      ['a3', '2 q'],
    ])
    expect(text).toBe(
      'POST&http%3A%2F%2Fexample.com%2Frequest&a2%3Dr%2520b%26a3%3D2%2520q%26a3%3Da%26b5%3D%253D%25253D%26c%2540%3D%26c2%3D' +
        '%26oauth_consumer_key%3D9djdj82h48djs9d2%26oauth_nonce%3D7d8f3e4a%26oauth_signature_method%3DHMAC-SHA1' +
        '%26oauth_timestamp%3D137131201%26oauth_token%3Dkkk9d7dh3k39sjv7',
    )
    expect(sign(text, 'j49sk3j29djd', 'dh893hdasih9')).toBe('r6/TJjbCOr97/+UU0NsvSne7s5g=')
  })

  const common = { oauth_consumer_key: 'dpf43f3p2l4k3l03', oauth_signature_method: 'HMAC-SHA1' }
  test.each([
    {
      step: 'asking for a request token',
      method: 'POST',
      url: 'https://photos.example.net/initiate',
      more: { oauth_timestamp: '137131200', oauth_nonce: 'wIjqoS', oauth_callback: 'http://printer.example.com/ready' },
      secret: '',
      signature: '74KNZJeDHnMBp0EMJ9ZHt/XKycU=',
    },
    {
      step: 'asking for an access token',
      method: 'POST',
      url: 'https://photos.example.net/token',
      more: {
        oauth_timestamp: '137131201',
        oauth_nonce: 'walatlh',
        oauth_token: 'hh5s93j4hdidpola',
        oauth_verifier: 'hfdp7dh39dks9884',
      },
      secret: 'hdhd0244k9j7ao03',
      signature: 'gKgrFCywp7rO0OXSjdot/IHF7IU=',
    },
    {
      step: 'asking for a photo',
      method: 'GET',
      url: 'http://photos.example.net/photos?file=vacation.jpg&size=original',
      more: { oauth_timestamp: '137131202', oauth_nonce: 'chapoH', oauth_token: 'nnch734d00sl2jdk' },
      secret: 'pfkkdhi9sl3r4s00',
      signature: 'MdpQcU8iPSUjWoN/UDMsK2sui9I=',
    },
  ])('the signature of RFC 5849, 1.2: $step', ({ method, url, more, secret, signature }) => {
    const text = baseString(method, url, Object.entries({ ...common, ...more }))
    expect(sign(text, 'kd94hf93k423kf44', secret)).toBe(signature)
  })

  test('the update that twitter documents', () => {
    const text = baseString('POST', 'https://api.twitter.com/1.1/statuses/update.json?include_entities=true', [
      ['status', 'Hello Ladies + Gentlemen, a signed OAuth request!'],
      ['oauth_consumer_key', 'xvz1evFS4wEEPTGEFPHBog'],
      ['oauth_nonce', 'kYjzVBB8Y0ZFabxSWbWovY3uYSQ2pTgmZeNu2VS4cg'],
      ['oauth_signature_method', 'HMAC-SHA1'],
      ['oauth_timestamp', '1318622958'],
      ['oauth_token', '370773112-GmHxMAgYyLbNEtIKZeRNFsMKPR9EyMZeS9weJAEb'],
      ['oauth_version', '1.0'],
    ])
    const secrets = ['kAcSOqF21Fu85e7zjz7ZN2U4ZRhfV3WpwPAoE3Z7kBw', 'LswwdoUaIvS8ltyTt5jkRh4J50vUPVVHtR2YPi5kE'] as const
    expect(sign(text, ...secrets)).toBe('hCtSmYh+iHYCEqBWrE7C7hYmtUk=')
  })

  test('the header of the request token that twitter documents', () => {
    const protocol = {
      oauth_version: '1.0',
      oauth_callback: 'http://localhost/sign-in-with-twitter/',
      oauth_consumer_key: 'cChZNFj6T5R0TigYB9yd1w',
      oauth_nonce: 'ea9ec8429b68d6b77cd5600adbbb0456',
      oauth_signature_method: 'HMAC-SHA1',
      oauth_timestamp: '1318467427',
    }
    const text = baseString('POST', 'https://api.twitter.com/oauth/request_token', Object.entries(protocol))
    const signature = sign(text, 'L8qq9PZyRg6ieKGEKhZolGC0vJWLw8iEJ88DRdyOg')
    expect(authorizationHeader({ ...protocol, oauth_signature: signature })).toBe(
      'OAuth oauth_callback="http%3A%2F%2Flocalhost%2Fsign-in-with-twitter%2F", oauth_consumer_key="cChZNFj6T5R0TigYB9yd1w", ' +
        'oauth_nonce="ea9ec8429b68d6b77cd5600adbbb0456", oauth_signature="F1Li3tvehgcraF8DMJ7OyxO4w9Y%3D", ' +
        'oauth_signature_method="HMAC-SHA1", oauth_timestamp="1318467427", oauth_version="1.0"',
    )
  })

  test('names are sorted before values, by what they are when encoded', () => {
    const pairs = [
      ['foo-bar', '2'],
      ['foo', 'é'],
      ['foo', 'z'],
      ['é', '1'],
      ['Z', '1'],
    ] as const
    expect(decodeURIComponent(baseString('GET', 'https://a.example/', pairs).split('&')[2] ?? '')).toBe(
      '%C3%A9=1&Z=1&foo=%C3%A9&foo=z&foo-bar=2',
    )
  })

  test.each([
    ['https://EXAMPLE.com:443/a?x=1#y', 'https://example.com/a'],
    ['http://example.com:80', 'http://example.com/'],
    ['https://example.com:8443/r%20v', 'https://example.com:8443/r%20v'],
    ['http://example.com:443/', 'http://example.com:443/'],
  ])('%s is signed as %s', (url, signed) => {
    expect(decodeURIComponent(baseString('GET', url, []).split('&')[1] ?? '')).toBe(signed)
  })

  test('a plus in the address is a blank, as in a form', () => {
    expect(baseString('GET', 'https://a.example/?q=a+b', [])).toBe(baseString('GET', 'https://a.example/?q=a%20b', []))
  })

  test('secrets are encoded before they are joined', () => {
    expect(sign('text', 'a&b', 'c')).not.toBe(sign('text', 'a', 'b&c'))
  })
})

describe('a request token', () => {
  const answer = 'oauth_token=hh5s93j4hdidpola&oauth_token_secret=hdhd0244k9j7ao03&oauth_callback_confirmed=true'

  test('is asked for with an empty body and everything in the header', async () => {
    const { client, fake } = await clientOf({ text: answer })
    const pair = await requestToken({ ...client, ...begin })
    expect([pair.token, pair.secret.reveal()]).toEqual(['hh5s93j4hdidpola', 'hdhd0244k9j7ao03'])
    const { method, path, query, body, headers } = await fake.request()
    expect({ method, path, query, body }).toEqual({ method: 'POST', path: '/initiate', query: {}, body: '' })
    const callback = 'https%3A%2F%2Fauth.example.com%2Fcallback%3Fstate%3Db7f2'
    expect(headers.authorization?.replace(/oauth_signature="[\w%]+"/, 'oauth_signature=""')).toBe(
      `OAuth oauth_callback="${callback}", oauth_consumer_key="dpf43f3p2l4k3l03", oauth_nonce="${nonce}", ` +
        'oauth_signature="", oauth_signature_method="HMAC-SHA1", oauth_timestamp="1318467427", oauth_version="1.0"',
    )
  })

  test('is asked for with the state behind what the address has already, and encoded', async () => {
    const { client, fake } = await clientOf({ text: answer })
    await requestToken({ ...client, redirectUri: 'https://auth.example.com/callback?tenant=7', state: 'a&b=c' })
    const { headers } = await fake.request()
    const [, callback = ''] = /oauth_callback="([^"]*)"/.exec(headers.authorization ?? '') ?? []
    expect(decodeURIComponent(callback)).toBe('https://auth.example.com/callback?tenant=7&state=a%26b%3Dc')
  })

  test('does not show its secret when it is printed', async () => {
    const { client } = await clientOf({ text: answer })
    const pair = await requestToken({ ...client, ...begin })
    expect(inspect(pair) + JSON.stringify(pair)).not.toContain('hdhd0244k9j7ao03')
  })

  test.each([
    ['nothing', { text: '' }, 'answered 200 without oauth_callback_confirmed'],
    ['no confirmation', { text: answer.slice(0, -30) }, 'answered 200 without oauth_callback_confirmed'],
    [
      'a callback that is not confirmed',
      { text: answer.replace('=true', '=false') },
      'answered 200 without a confirmed callback',
    ],
    ['two confirmations', { text: `${answer}&oauth_callback_confirmed=false` }, 'with oauth_callback_confirmed more than once'],
    ['no token', { text: answer.replace('oauth_token=', 'token=') }, 'answered 200 without oauth_token'],
    ['an empty token', { text: answer.replace('hh5s93j4hdidpola', '') }, 'answered 200 without oauth_token'],
    ['two tokens', { text: `${answer}&oauth_token=other` }, 'answered 200 with oauth_token more than once'],
    ['an empty token and another', { text: `oauth_token=&${answer}` }, 'answered 200 without oauth_token'],
    ['no secret', { text: answer.replace('_secret=', '_sec=') }, 'answered 200 without oauth_token_secret'],
    ['two secrets', { text: `${answer}&oauth_token_secret=other` }, 'answered 200 with oauth_token_secret more than once'],
    [
      'a token that is far too long',
      { text: answer.replace('hh5s93j4hdidpola', 'h'.repeat(1025)) },
      'answered 200 with oauth_token longer than 1024 characters',
    ],
    ['far too much', { text: `${answer}&${'x'.repeat(9000)}` }, 'answered 200 with more than 8192 bytes'],
    ['JSON', { json: { oauth_token: 'hh5s93j4hdidpola' } }, 'answered 200 without oauth_callback_confirmed'],
    ['a refusal', { status: 401, text: 'hdhd0244k9j7ao03' }, 'answered 401'],
    ['a detour', { status: 302, headers: { location: '/elsewhere' }, text: answer }, 'answered 302'],
    ['another success', { status: 202, text: answer }, 'answered 202'],
    ['silence', 'hang', 'took longer than 0.3 s'],
    ['a slammed door', 'cut', 'broke off'],
    ['no HTTP', 'garbage', 'broke off'],
  ] satisfies [string, FakeAnswer, string][])('%s for an answer is a trouble in words', async (_, answered, what) => {
    const { client } = await clientOf(answered)
    const trouble = await requestToken({ ...client, ...begin }).catch((problem: unknown) => problem)
    expect(trouble).toBeInstanceOf(OutsideTrouble)
    expect((trouble as OutsideTrouble).message).toMatch(/^photos: POST \/initiate /)
    expect((trouble as OutsideTrouble).message).toContain(what)
    expect(inspect(trouble)).not.toMatch(/hh5s93j4hdidpola|hdhd0244k9j7ao03|kd94hf93k423kf44|b7f2/)
  })
})

describe('the way there and back', () => {
  test('people are sent to the provider with the token', () => {
    expect(authorizeAddress({ provider: photos, base: photos.base }, 'a b&c')).toBe(
      'https://photos.example.net/authorize?oauth_token=a+b%26c',
    )
  })

  test('what is handed on cannot take the place of the token', () => {
    const address = authorizeAddress({ provider: photos, base: photos.base }, 'ours', {
      force_login: 'true',
      oauth_token: 'theirs',
    })
    expect([...new URL(address).searchParams]).toEqual([
      ['force_login', 'true'],
      ['oauth_token', 'ours'],
    ])
  })

  test.each([
    ['with the token and a verifier', { oauth_token: 'ours', oauth_verifier: 'v' }, { verifier: 'v' }],
    ['with the token of another sign-in', { oauth_token: 'theirs', oauth_verifier: 'v' }, { problem: 'foreign' }],
    ['with a token that only begins alike', { oauth_token: 'our', oauth_verifier: 'v' }, { problem: 'foreign' }],
    ['without a token', { oauth_verifier: 'v' }, { problem: 'incomplete' }],
    ['with an empty token', { oauth_token: '', oauth_verifier: 'v' }, { problem: 'incomplete' }],
    ['without a verifier', { oauth_token: 'ours' }, { problem: 'incomplete' }],
    ['with an empty verifier', { oauth_token: 'ours', oauth_verifier: '' }, { problem: 'incomplete' }],
    ['with an endless verifier', { oauth_token: 'ours', oauth_verifier: 'v'.repeat(1025) }, { problem: 'incomplete' }],
    ['having said no', { denied: 'ours' }, { problem: 'denied' }],
    ['having said no to somebody else', { denied: 'theirs' }, { problem: 'foreign' }],
    ['having said no and yes', { denied: 'ours', oauth_token: 'ours', oauth_verifier: 'v' }, { problem: 'denied' }],
    ['with nothing', {}, { problem: 'incomplete' }],
  ])('somebody comes back %s', (_, callback, outcome) => expect(readReturn(callback, 'ours')).toEqual(outcome))
})

describe('an access token', () => {
  const answer = 'oauth_token=nnch734d00sl2jdk&oauth_token_secret=pfkkdhi9sl3r4s00&user_id=6253282&screen_name=twitterapi'

  test('is asked for with the request token and the verifier', async () => {
    const { client, fake } = await clientOf({ text: answer, headers: { 'content-type': 'text/html;charset=utf-8' } })
    const pair = await accessToken({ ...client, ...finish })
    expect([pair.token, pair.secret.reveal()]).toEqual(['nnch734d00sl2jdk', 'pfkkdhi9sl3r4s00'])
    const { method, path, headers } = await fake.request()
    expect([method, path]).toEqual(['POST', '/token'])
    expect(headers.authorization).toContain('oauth_token="hh5s93j4hdidpola", oauth_verifier="hfdp7dh39dks9884"')
  })

  test.each([
    ['no token', answer.slice(29), 'without oauth_token'],
    ['no secret', answer.replace('_secret=', '_sec='), 'without oauth_token_secret'],
    ['two tokens', `${answer}&oauth_token=other`, 'with oauth_token more than once'],
    ['bytes', '\u0000\ufffd%%%', 'without oauth_token'],
  ])('%s in the answer is a trouble in words', async (_, text, what) => {
    const { client } = await clientOf({ text })
    const trouble = await accessToken({ ...client, ...finish }).catch((problem: unknown) => problem)
    expect(trouble).toMatchObject({ kind: 'nonsense', message: `photos: POST /token answered 200 ${what}` })
  })

  test('cannot be had where the provider refuses', async () => {
    const { client } = await clientOf({ status: 401, text: 'Invalid request token hh5s93j4hdidpola' })
    await expect(accessToken({ ...client, ...finish })).rejects.toThrow(/^photos: POST \/token answered 401$/)
  })
})

describe('asking in the name of somebody', () => {
  test('answers with what the provider tells', async () => {
    const { client, fake } = await clientOf({ json: { id: 7 } })
    const get: Asking['get'] = (url) => signedGet({ ...client, accessToken: held, url })
    expect(await photos.profile({ api: fake.origin, get })).toEqual({ subject: '7', emails: [] })
  })

  test.each([
    ['a list', { json: [] }, 'answered 200 with JSON that is no object'],
    ['null', { json: null }, 'answered 200 with JSON that is no object'],
    ['a text', { json: 'pfkkdhi9sl3r4s00' }, 'answered 200 with JSON that is no object'],
    ['no JSON', { text: 'pfkkdhi9sl3r4s00' }, 'answered 200 with something that is not JSON'],
    ['half of it', 'cut in the middle', 'broke off'],
    ['a refusal', { status: 429, json: { errors: [{ code: 88 }] } }, 'answered 429'],
    ['far too much', { text: `"${'x'.repeat(1_048_576)}"` }, 'answered 200 with more than 1048576 bytes'],
  ] satisfies [string, FakeAnswer, string][])('%s for an answer is a trouble in words', async (_, answered, what) => {
    const { client, fake } = await clientOf(answered)
    const url = `${fake.origin}/me?token=pfkkdhi9sl3r4s00`
    const trouble = await signedGet({ ...client, accessToken: held, url }).catch((problem: unknown) => problem)
    expect((trouble as OutsideTrouble).message).toMatch(/^photos: GET \/me /)
    expect((trouble as OutsideTrouble).message).toContain(what)
    expect(inspect(trouble)).not.toMatch(/nnch734d00sl2jdk|pfkkdhi9sl3r4s00|kd94hf93k423kf44/)
  })
})
