import { createPublicKey, type JsonWebKey, sign as signBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { stillClock } from '../testing.ts'
import { algorithmNames, base64url, besieged, hmacToken, type Jwk, makeJwk, parts, publicPart, reasonOf } from './testing.ts'

const now = stillClock('2030-01-02T03:04:05.000Z')()
const { claims, admin, jwks, keys, genuine } = besieged(now)

const tokens: [string, string][] = []
const forge = (name: string, token: string) => tokens.push([name, token])

for (const [index, token] of genuine.entries()) {
  const [header, payload, signature] = parts(token)
  const { alg, kid } = JSON.parse(Buffer.from(header, 'base64url').toString())
  const label = `${alg} ${index}`
  forge(`${label}: other claims`, `${header}.${base64url(admin)}.${signature}`)
  forge(`${label}: no signature`, `${header}.${payload}.`)
  forge(`${label}: two segments`, `${header}.${payload}`)
  forge(`${label}: four segments`, `${token}.`)
  forge(`${label}: five segments`, `${token}.${payload}.${signature}`)
  forge(`${label}: a dot in front`, `.${token}`)
  forge(`${label}: padding`, `${token}=`)
  forge(`${label}: a blank after it`, `${token} `)
  forge(`${label}: a line break in it`, `${header}\n.${payload}.${signature}`)
  forge(`${label}: a zero byte after it`, `${token}\0`)
  forge(`${label}: padded claims`, `${header}.${payload}=.${signature}`)
  forge(`${label}: claims in wide letters`, `${header}.${wide(payload)}.${signature}`)
  forge(`${label}: header in wide letters`, `${wide(header)}.${payload}.${signature}`)
  forge(`${label}: signature in wide letters`, `${header}.${payload}.${wide(signature)}`)
  forge(`${label}: signature cut`, `${header}.${payload}.${signature.slice(0, -4)}`)
  forge(`${label}: signature longer`, `${header}.${payload}.${signature}AAAA`)
  forge(
    `${label}: signature of zeros`,
    `${header}.${payload}.${Buffer.alloc(Buffer.from(signature, 'base64url').length).toString('base64url')}`,
  )
  forge(
    `${label}: signature of ones`,
    `${header}.${payload}.${Buffer.alloc(Buffer.from(signature, 'base64url').length, 255).toString('base64url')}`,
  )
  forge(`${label}: zeros in front of both halves of the signature`, `${header}.${payload}.${spread(signature)}`)
  forge(`${label}: header and claims swapped`, `${payload}.${header}.${signature}`)
  for (const other of ['none', 'None', 'nOnE', alg.toLowerCase(), `${alg} `, `${alg}\0`, '', 'HS384', 'PS256', 'constructor']) {
    forge(`${label}: as ${JSON.stringify(other)} without signature`, `${base64url({ alg: other, kid })}.${base64url(admin)}.`)
    forge(`${label}: as ${JSON.stringify(other)}`, `${base64url({ alg: other, kid })}.${payload}.${signature}`)
  }
  for (const other of algorithmNames.filter((name) => name !== alg)) {
    forge(`${label}: as ${other}`, `${base64url({ alg: other, typ: 'JWT', kid })}.${payload}.${signature}`)
  }
  if (Buffer.from(signature, 'base64url').length % 3 !== 0) {
    forge(`${label}: stray bits`, `${header}.${payload}.${signature.slice(0, -1)}${next(signature.at(-1) ?? '')}`)
  }
}

/** The same low bytes in letters beyond Latin-1, which a careless conversion to bytes turns back. */
function wide(text: string): string {
  return String.fromCharCode(text.charCodeAt(0) + 0x100) + text.slice(1)
}

/** The same two numbers, for who takes each half of the bytes for one of them. */
function spread(signature: string): string {
  const bytes = Buffer.from(signature, 'base64url')
  const half = bytes.length / 2
  return Buffer.concat([Buffer.alloc(3), bytes.subarray(0, half), Buffer.alloc(3), bytes.subarray(half)]).toString('base64url')
}

/** The letter whose unused lowest bit is set. */
function next(letter: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  return alphabet[alphabet.indexOf(letter) + 1] ?? 'A'
}

// A public key in all its spellings is not the secret of an HMAC.
for (const jwk of jwks.filter(({ kty }) => kty !== 'oct')) {
  const open = publicPart(jwk)
  const key = createPublicKey({ key: open as JsonWebKey, format: 'jwk' })
  const spellings: [string, string | Buffer][] = [
    ['PEM', key.export({ format: 'pem', type: 'spki' })],
    ['trimmed PEM', String(key.export({ format: 'pem', type: 'spki' })).trim()],
    ['DER', key.export({ format: 'der', type: 'spki' })],
    ['JWK', JSON.stringify(open)],
    ['x', String(open.x ?? open.n)],
    ['bytes of x', Buffer.from(String(open.x ?? open.n), 'base64url')],
  ]
  for (const [spelling, bytes] of spellings) {
    forge(
      `HMAC with the ${spelling} of ${jwk.kid}, under its kid`,
      hmacToken({ alg: 'HS256', typ: 'JWT', kid: jwk.kid }, admin, bytes),
    )
    forge(`HMAC with the ${spelling} of ${jwk.kid}, without kid`, hmacToken({ alg: 'HS256', typ: 'JWT' }, admin, bytes))
  }
}

// A key that the token brings along is not looked at.
const own = makeJwk('ES256', 'own')
const bring = (header: Jwk) => {
  const signed = `${base64url({ alg: 'ES256', typ: 'JWT', ...header })}.${base64url(admin)}`
  const key = { key: own as JsonWebKey, format: 'jwk' as const, dsaEncoding: 'ieee-p1363' as const }
  return `${signed}.${signBytes('sha256', Buffer.from(signed), key).toString('base64url')}`
}
const brought = {
  jwk: publicPart(own),
  jku: 'https://evil.example/jwks.json',
  x5u: 'https://evil.example/x',
  x5c: ['MIIB'],
  x5t: 'a',
}
for (const kid of [undefined, 'own', 'ES256', 'signer', 'main']) {
  for (const [name, value] of Object.entries(brought)) forge(`brings ${name} under kid ${kid}`, bring({ kid, [name]: value }))
}

const injections = [
  '../../dev/null',
  '/dev/null',
  "' or 1=1 --",
  '__proto__',
  'constructor',
  'toString',
  '',
  ' main',
  'MAIN',
  'x\0',
  '\u{1F600}',
]
for (const kid of injections) {
  forge(`kid ${JSON.stringify(kid)} with an empty key`, hmacToken({ alg: 'HS256', kid }, admin, ''))
  forge(`kid ${JSON.stringify(kid)} as ES256`, bring({ kid }))
}

describe(`${tokens.length} forged tokens`, () => {
  test('are enough', () => {
    expect(tokens.length).toBeGreaterThan(200)
    expect(new Set(tokens.map(([, token]) => token)).size).toBeGreaterThan(200)
  })

  test('are refused, every one, also when the genuine ones have been seen, and seen again', () => {
    for (const token of genuine) expect(keys.verify(token, now)).toEqual(claims)
    for (const _ of [1, 2]) expect(tokens.filter(([, token]) => reasonOf(keys, token, now) === 'valid')).toEqual([])
  })
})
