import { createHmac, createPublicKey, type JsonWebKey, sign as signBytes } from 'node:crypto'
import { createAccount, startIdentity } from '@tollgate/identity/testing'
import { base64url, hmacToken, type Jwk, makeJwk, publicPart, retired } from '@tollgate/kit/jwt/testing'
import { stillClock } from '@tollgate/kit/testing'
import { startPayments } from '@tollgate/payments/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'

/** Access tokens that nobody may get in with, shown to both services as anybody would show them. */

const secret = 'a secret that both services know of, 32+'
const signer = makeJwk('ES256', 'signer')
const older = makeJwk('RS256', 'older')
const stranger = makeJwk('ES256', 'stranger')
const issuer = 'https://auth.site.test'

let identity: Awaited<ReturnType<typeof startIdentity>>
let payments: Awaited<ReturnType<typeof startPayments>>
let account: Awaited<ReturnType<typeof createAccount>>

beforeAll(async () => {
  identity = await startIdentity({
    AUTH_JWT_SECRET: secret,
    AUTH_JWT_KEYS: JSON.stringify([signer, retired(older)]),
    AUTH_JWT_ISSUER: issuer,
    AUTH_SECURITY_STRICT_LOGOUT: 'true',
  })
  payments = await startPayments({
    PAY_JWT_SECRET: secret,
    PAY_JWT_KEYS: JSON.stringify([publicPart(signer), publicPart(older)]),
    PAY_JWT_ISSUER: issuer,
  })
  account = await createAccount(identity)
})
afterAll(async () => {
  await identity?.stop()
  await payments?.stop()
})

// Both services have a clock like this one.
const now = Math.floor(stillClock()().getTime() / 1000)

const claimsOf = (more: object = {}) => ({
  ...{ sub: account.userId, session_id: account.sessionId, aud: 'authenticated', role: 'authenticated', iss: issuer },
  ...{ email: `${account.userId}@site.test`, iat: now, exp: now + 3600 },
  ...more,
})

/** A token of any header and claims, with a true signature of a key. */
function signed(header: Jwk, claims: unknown, key: Jwk | string = secret): string {
  if (typeof key === 'string') return hmacToken({ alg: 'HS256', typ: 'JWT', ...header }, claims, key)
  const text = `${base64url({ alg: key.alg, typ: 'JWT', kid: key.kid, ...header })}.${base64url(claims)}`
  const options = { key: key as JsonWebKey, format: 'jwk' as const, dsaEncoding: 'ieee-p1363' as const }
  return `${text}.${signBytes('sha256', Buffer.from(text), options).toString('base64url')}`
}

const statusOf = async (call: typeof identity.call, what: string, token: string) =>
  (await call(what, { headers: { authorization: `Bearer ${token}`, accept: 'application/json' } })).status
const atIdentity = (token: string) => statusOf(identity.call, 'GET /user', token)
const atPayments = (token: string) => statusOf(payments.call, 'GET /me', token)

const genuine = () => [
  account.authorization.slice('Bearer '.length),
  signed({}, claimsOf()),
  signed({}, claimsOf(), signer),
  signed({}, claimsOf(), older),
]

/** Nobody who has no key of ours can make these out of nothing, or out of tokens that they have seen. */
function forged(): [name: string, token: string][] {
  const tokens: [string, string][] = []
  const forge = (name: string, token: string) => tokens.push([name, token])

  for (const [index, token] of genuine().entries()) {
    const [header = '', payload = '', signature = ''] = token.split('.')
    const { alg, kid } = JSON.parse(Buffer.from(header, 'base64url').toString())
    const bytes = Buffer.from(signature, 'base64url')
    const of = (name: string) => `${alg} ${index}: ${name}`
    const admin = base64url(claimsOf({ role: 'service_role' }))
    const other = base64url(claimsOf({ sub: '00000000-0000-4000-8000-000000000001', email: 'somebody.else@site.test' }))
    for (const [who, claims] of [
      ['as an admin', admin],
      ['as somebody else', other],
    ] as const) {
      forge(of(`${who}, old signature`), `${header}.${claims}.${signature}`)
      forge(of(`${who}, no signature`), `${header}.${claims}.`)
      for (const none of ['none', 'None', 'NONE', 'nOnE', ''])
        forge(of(`${who}, alg ${JSON.stringify(none)}`), `${base64url({ alg: none, typ: 'JWT', kid })}.${claims}.`)
    }
    for (const [name, part] of [
      ['two segments', `${header}.${payload}`],
      ['four segments', `${token}.`],
      ['five segments, as encrypted ones have', `${header}.${payload}.${signature}.${payload}.${signature}`],
      ['signature cut by a letter', token.slice(0, -1)],
      [
        'signature cut by a third',
        `${header}.${payload}.${bytes.subarray(0, -Math.ceil(bytes.length / 3)).toString('base64url')}`,
      ],
      ['signature one byte longer', `${header}.${payload}.${Buffer.concat([bytes, Buffer.alloc(1)]).toString('base64url')}`],
      ['signature of zeros', `${header}.${payload}.${Buffer.alloc(bytes.length).toString('base64url')}`],
      ['signature in hex', `${header}.${payload}.${bytes.toString('hex')}`],
      ['signature padded', `${token}=`],
      ['claims padded', `${header}.${payload}=.${signature}`],
      ['header padded', `${header}==.${payload}.${signature}`],
      ['in plain base64', `${header}.${payload}.${bytes.toString('base64').replace(/=*$/, '')}+/`],
      ['a dot in front', `.${token}`],
      ['header and claims swapped', `${payload}.${header}.${signature}`],
      ['a percent sign', `${header}.${payload}.%${signature}`],
    ] as const)
      forge(of(name), part)
    for (const algorithm of [
      'HS256',
      'HS384',
      'HS512',
      'RS256',
      'RS512',
      'PS256',
      'ES256',
      'ES384',
      'ES512',
      'EdDSA',
      'hs256',
      'A256KW',
    ])
      if (algorithm !== alg)
        forge(of(`said to be ${algorithm}`), `${base64url({ alg: algorithm, typ: 'JWT', kid })}.${payload}.${signature}`)
  }

  // A public key is no secret, in none of its spellings.
  for (const jwk of [signer, older]) {
    const open = publicPart(jwk)
    const key = createPublicKey({ key: open as JsonWebKey, format: 'jwk' })
    const spellings: [string, string | Buffer][] = [
      ['PEM', key.export({ format: 'pem', type: 'spki' })],
      ['trimmed PEM', String(key.export({ format: 'pem', type: 'spki' })).trim()],
      ['DER', key.export({ format: 'der', type: 'spki' })],
      ['JWK', JSON.stringify(open)],
      ['published JWK', JSON.stringify({ ...open, use: 'sig' })],
      ['number', String(open.x ?? open.n)],
    ]
    for (const [name, bytes] of spellings)
      for (const kid of [jwk.kid, undefined])
        for (const [alg, hash] of [
          ['HS256', 'sha256'],
          ['HS512', 'sha512'],
        ] as const)
          forge(`${alg} with the ${name} of ${jwk.kid}, kid ${kid}`, hmacToken({ alg, typ: 'JWT', kid }, claimsOf(), bytes, hash))
  }

  // What a token says of keys is nobody's to believe.
  const brought: Jwk = {
    jwk: publicPart(stranger),
    jku: 'https://evil.test/jwks.json',
    x5u: 'https://evil.test/chain.pem',
    x5c: ['MIIB'],
    'x5t#S256': 'AAAA',
  }
  for (const kid of ['stranger', 'signer', 'older', undefined])
    for (const [name, value] of Object.entries(brought))
      forge(`brings ${name} as ${kid}`, signed({ kid, [name]: value }, claimsOf(), stranger))
  const kids = [
    '../../../../dev/null',
    '/dev/null',
    "' union select 'x' --",
    '__proto__',
    'constructor',
    '',
    ' signer',
    'SIGNER',
    '0',
    '*',
    'x'.repeat(4000),
  ]
  for (const kid of kids)
    for (const key of ['', '\0', 'x', kid])
      forge(`kid ${kid.slice(0, 20)} with ${JSON.stringify(key.slice(0, 9))}`, hmacToken({ alg: 'HS256', kid }, claimsOf(), key))
  for (const guess of [
    '',
    'secret',
    'changeme',
    'super-secret-jwt-token-with-at-least-32-characters-long',
    'a secret that only tests know of, 32+',
    secret.slice(0, -1),
    `${secret} `,
    secret.toUpperCase(),
  ])
    forge(`the secret is guessed to be ${guess.slice(0, 12)}`, signed({}, claimsOf(), guess))
  return tokens
}

/** Signed by our own keys, and yet nobody may get in with them: what they say is missing, over, to come, for others or no sense. */
function unfit(): [name: string, token: string][] {
  const tokens: [string, string][] = []
  for (const [name, key] of [
    ['secret', secret],
    ['signer', signer],
  ] as const) {
    const tell = (what: string, claims: unknown, header: Jwk = {}) =>
      tokens.push([`${name}: ${what}`, signed(header, claims, key)])
    for (const exp of [now, now - 1, now - 86_400, 0, -1, '9999999999', 'never', null, true, [now + 60], {}, 1e-9])
      tell(`exp ${JSON.stringify(exp)}`, claimsOf({ exp }))
    for (const nbf of [now + 1, now + 86_400, '0', null, false, [], {}]) tell(`nbf ${JSON.stringify(nbf)}`, claimsOf({ nbf }))
    for (const iat of [now + 301, now + 86_400, 1e300, 'today', null, [], {}])
      tell(`iat ${JSON.stringify(iat)}`, claimsOf({ iat }))
    for (const sub of ['', 'x', 7, null, [], {}, "' or 1=1 --", '00000000-0000-4000-8000-000000000001', `${account.userId}\0`]) {
      const { email: _, ...nameless } = claimsOf({ sub })
      tell(`sub ${JSON.stringify(sub)}`, nameless)
    }
    for (const text of ['exp', 'sub', 'role', 'aud']) {
      const claims = JSON.stringify(claimsOf())
      tell(`${text} twice`, `${claims.slice(0, -1)},${JSON.stringify(text)}:${JSON.stringify((claimsOf() as Jwk)[text])}}`)
    }
    for (const claims of ['', 'x', 'null', '[]', '"text"', '7', '{', '{}x', '\uFEFF{}', `{"exp":1e999}`, '{'.repeat(3000)])
      tell(`claims ${claims.slice(0, 9)}`, claims)
    for (const crit of [['exp'], ['b64'], [], 'exp', null]) tell(`crit ${JSON.stringify(crit)}`, claimsOf(), { crit })
    tell('claims not encoded', claimsOf(), { b64: false, crit: ['b64'] })
    tell('a token inside of a token', signed({}, claimsOf()), { cty: 'JWT' })
    for (const kid of [7, null, [], {}, true]) tell(`kid ${JSON.stringify(kid)}`, claimsOf(), { kid })
    tell('too long', claimsOf({ more: 'x'.repeat(13_000) }))
  }
  // Signed by the right key in a way that it is not for.
  const text = `${base64url({ alg: 'RS512', typ: 'JWT', kid: 'older' })}.${base64url(claimsOf())}`
  tokens.push([
    'RS512 of a key for RS256',
    `${text}.${signBytes('sha512', Buffer.from(text), { key: older as JsonWebKey, format: 'jwk' }).toString('base64url')}`,
  ])
  for (const [alg, hash] of [
    ['HS384', 'sha384'],
    ['HS512', 'sha512'],
  ] as const)
    tokens.push([`${alg} of the secret`, hmacToken({ alg, typ: 'JWT' }, claimsOf(), secret, hash)])
  const unread = `${base64url({ alg: 'HS256', typ: 'JWT' })}.${base64url(claimsOf())}`
  tokens.push([
    'a signature of other letters',
    `${unread}.${createHmac('sha256', secret).update(Buffer.from(unread, 'utf16le')).digest('base64url')}`,
  ])
  return tokens
}

/** Good at home and not for payments, which is told whom to believe, and nothing that does not end. */
function notForPayments(): [name: string, token: string][] {
  const { exp: _, ...endless } = claimsOf()
  const { email: __, ...nameless } = claimsOf()
  const others: [string, object][] = [
    ['without an end', endless],
    ['of another issuer', claimsOf({ iss: 'https://evil.test' })],
    ['of an issuer with a slash more', claimsOf({ iss: `${issuer}/` })],
    ['of a list of issuers', claimsOf({ iss: [issuer] })],
    ['for another audience', claimsOf({ aud: 'elsewhere' })],
    ['for other audiences', claimsOf({ aud: ['elsewhere', 'AUTHENTICATED'] })],
    ['for no audience', claimsOf({ aud: [] })],
    ['of a service', claimsOf({ role: 'service_role' })],
    ['of a role in a list', claimsOf({ role: ['authenticated'] })],
    ['of nobody in particular', claimsOf({ is_anonymous: true })],
    ['of nobody in particular, in words', claimsOf({ is_anonymous: 'yes' })],
    ['without an address', nameless],
    ['with a list of addresses', claimsOf({ email: ['a@site.test'] })],
    ['with an address that is none', claimsOf({ email: 'somebody' })],
  ]
  return others.map(([name, claims]) => [name, signed({}, claims)])
}

/** Which of them got in, or did harm. */
async function letIn(tokens: readonly [string, string][], ask: (token: string) => Promise<number>) {
  const found: [string, number][] = []
  const waiting = [...tokens]
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const [name, token] = next
      const status = await ask(token)
      if (![400, 401, 403, 431].includes(status)) found.push([name, status])
    }
  }
  await Promise.all(Array.from({ length: 8 }, work))
  return found
}

test('those that are genuine open both services', async () => {
  for (const token of genuine()) expect([await atIdentity(token), await atPayments(token)]).toEqual([200, 200])
})

test('more than 250 that are forged open neither, after the genuine ones were seen', async () => {
  const tokens = forged()
  expect(new Set(tokens.map(([, token]) => token)).size).toBeGreaterThan(250)
  expect(tokens.filter(([, token]) => !/^[\x21-\x7e]*$/.test(token))).toEqual([])
  for (const token of genuine()) expect([await atIdentity(token), await atPayments(token)]).toEqual([200, 200])
  expect(await letIn(tokens, atIdentity)).toEqual([])
  expect(await letIn(tokens, atPayments)).toEqual([])
})

test('more than a hundred that our own keys signed open neither, for what they say', async () => {
  const tokens = unfit()
  expect(new Set(tokens.map(([, token]) => token)).size).toBeGreaterThan(100)
  expect(await letIn(tokens, atIdentity)).toEqual([])
  expect(await letIn(tokens, atPayments)).toEqual([])
})

test('payments insists on issuer, audience, role, address and an end', async () => {
  expect(await letIn(notForPayments(), atPayments)).toEqual([])
})

test('a token is shown once, and in one way', async () => {
  const [token = ''] = genuine()
  const ways = [
    `Bearer ${token} ${token}`,
    `Bearer ${token},${token}`,
    `Basic ${token}`,
    `JWT ${token}`,
    token,
    `Bearer "${token}"`,
    'Bearer',
    'Bearer  ',
  ]
  for (const authorization of ways) {
    const statuses = [
      await identity.call('GET /user', { headers: { authorization } }),
      await payments.call('GET /me', { headers: { authorization } }),
    ]
    expect([authorization.slice(0, 12), ...statuses.map(({ status }) => status >= 400 && status < 500)]).toEqual([
      authorization.slice(0, 12),
      true,
      true,
    ])
  }
  for (const place of [`?access_token=${token}`, `?token=${token}&apikey=${token}`, `?jwt=${token}`])
    expect([(await identity.call(`GET /user${place}`)).status, (await payments.call(`GET /me${place}`)).status]).toEqual([
      401, 401,
    ])
})

test('the token of a session that ended opens identity no more, where logging out is strict, though its time has not come', async () => {
  const leaving = await createAccount(identity)
  const token = leaving.authorization.slice('Bearer '.length)
  expect(await atIdentity(token)).toBe(200)
  expect((await identity.call('POST /logout', { headers: { authorization: leaving.authorization } })).status).toBe(204)
  expect(await atIdentity(token)).toBe(403)
})
