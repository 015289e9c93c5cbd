import fc from 'fast-check'

export type FuzzRequest = {
  method: string
  path: string
  headers: [name: string, value: string][]
  body: Buffer
  length: 'right' | 'chunked' | 'too large' | 'missing'
}

const method = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('GET', 'POST') },
  { weight: 2, arbitrary: fc.constantFrom('PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS') },
  { weight: 1, arbitrary: fc.constantFrom('TRACE', 'PROPFIND', 'CONNECT', 'FROB', 'get', 'G T', '') },
)

const known = fc.constantFrom('/health', '/settings', '/me', '/apps', '/openapi.json', '/docs', '/apps/', '//apps', '/apps/../me')
const segment = fc.oneof(
  fc.constantFrom(
    '..',
    '.',
    '%2e%2e',
    '%2f',
    '%00',
    '%ff',
    '%',
    '%zz',
    '%u0041',
    '{id}',
    '__proto__',
    'constructor',
    '%ed%a0%80',
    '',
  ),
  fc.webSegment(),
  fc.string({ unit: 'binary' }),
)
const path = fc.oneof(
  { weight: 8, arbitrary: known },
  { weight: 4, arbitrary: fc.array(segment, { maxLength: 6 }).map((segments) => `/${segments.join('/')}`) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('*', '', 'apps', 'http://x/apps', 'https://', 'ftp://x/me', '/\u0000', `/${'a'.repeat(9_000)}`),
  },
  { weight: 1, arbitrary: fc.constant(`/${'a/'.repeat(20_000)}`) },
)
const query = fc.oneof(
  { weight: 6, arbitrary: fc.constant('') },
  { weight: 1, arbitrary: fc.webQueryParameters().map((text) => `?${text}`) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '?limit=%ff',
      '?limit=1e9',
      '?limit',
      '?a[b][c]=1',
      '?__proto__[x]=1',
      '?limit=1&limit=2',
      `?${'a&'.repeat(2000)}`,
      '?%00',
    ),
  },
)

const types = [
  ...['application/json', 'application/json; charset=utf-8', 'application/vnd.api+json', 'APPLICATION/JSON', 'text/json'],
  ...['application/x-www-form-urlencoded', 'application/x-www-form-urlencoded;charset=x', 'multipart/form-data; boundary=x'],
  ...['text/plain', 'application/octet-stream', '', ';', 'json', 'application/json, text/plain', '\u00e9'],
]
const accepts = [
  '*/*',
  'application/json',
  'application/vnd.api+json',
  'text/html',
  'application/json;q=0',
  '',
  ',',
  'application/*;q=0.1',
  '\u00ff',
]
const versions = ['2024-01-01', '2024-01-01', '2023-01-01', '2024-02-31', 'latest', '', '2024-01-01 ']
const keys = ['Basic Og==', 'Basic', 'basic \u00ff', `Basic ${'A'.repeat(9_000)}`, 'Bearer x.y.z', 'Basic Ojw+', '']

const usual = fc.oneof(
  fc.tuple(fc.constantFrom('Content-Type', 'content-type'), fc.constantFrom(...types)),
  fc.tuple(fc.constantFrom('Accept', 'ACCEPT'), fc.constantFrom(...accepts)),
  fc.tuple(fc.constant('X-Supabase-Api-Version'), fc.constantFrom(...versions)),
  fc.tuple(fc.constant('Authorization'), fc.constantFrom(...keys)),
  fc.tuple(fc.constant('Origin'), fc.constantFrom('https://page.test', 'null', '\u00e9', 'x'.repeat(3_000))),
)
const unusual = fc.oneof(
  fc.tuple(fc.constant('Content-Encoding'), fc.constantFrom('gzip', 'identity', 'br, gzip', '', 'x'.repeat(5_000))),
  fc.tuple(fc.constant('Expect'), fc.constantFrom('100-continue', 'a miracle')),
  fc.tuple(
    fc.constantFrom('Upgrade', 'Connection', 'Host', 'Traceparent', 'X-Request-Id', '__proto__', 'Cookie'),
    fc.string({ maxLength: 40 }),
  ),
  fc.tuple(fc.stringMatching(/^[A-Za-z-]{1,20}$/), fc.string({ unit: 'binary', maxLength: 60 })),
  fc.tuple(
    fc.constant('X-Long'),
    fc.integer({ min: 0, max: 40_000 }).map((length) => 'x'.repeat(length)),
  ),
)

const jsonTexts = [
  ...[
    '{',
    '[',
    '"',
    '{"name":',
    '{"name":"a"}}',
    'nul',
    '\uFEFF{}',
    '{"name":"\\ud800"}',
    '{"name":"\\u0000"}',
    '{"name":"a\u0000"}',
  ],
  ...[
    '{"__proto__":{"name":1}}',
    '{"constructor":{"prototype":{}}}',
    '{"name":1e999}',
    '{"list":[1e308,9007199254740993,-0,0.1]}',
  ],
  ...[
    '{"NAME":"a","name":"b"}',
    '{"name":false}',
    'null',
    '7',
    '"text"',
    '[]',
    '{"data":{"__proto__":1,"a":"\\udfff"}}',
    '{}',
    '',
  ],
  ...['['.repeat(100_000), '{"a":'.repeat(50_000), `{"name":"${'n'.repeat(300)}"}`, `{"list":[${'1,'.repeat(2000)}1]}`],
]
const forms = [
  ...[
    'name=Shop',
    'name',
    '=',
    '&&&',
    'name=%ff',
    'name=%',
    'name[a]=1',
    'name[]=1&name[]=2',
    'name[a][b][c][d][e][f][g][h][i][j][k]=1',
  ],
  ...[
    '__proto__[name]=x',
    'name=%00',
    'name=%ED%A0%80',
    'name=a&name[b]=c',
    `name${'[a]'.repeat(5_000)}=1`,
    'a=1&'.repeat(3_000),
    'list[]=1e3',
  ],
]
const body = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...jsonTexts).map(Buffer.from) },
  { weight: 4, arbitrary: fc.constantFrom(...forms).map(Buffer.from) },
  { weight: 3, arbitrary: fc.json().map((text) => Buffer.from(`{"name":${text},"data":${text},"list":${text}}`)) },
  { weight: 3, arbitrary: fc.uint8Array({ maxLength: 200 }).map(Buffer.from) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(Buffer.alloc(2_000_000, ' '), Buffer.alloc(1_048_577, '1'), Buffer.from([0xff, 0xfe, 0x7b])),
  },
)

const length = fc.oneof(
  { weight: 8, arbitrary: fc.constant('right' as const) },
  { weight: 2, arbitrary: fc.constant('chunked' as const) },
  { weight: 1, arbitrary: fc.constantFrom('too large' as const, 'missing' as const) },
)

/** With a head that is fine, so that the body gets its turn. */
const wellHeaded = fc
  .record({
    place: fc.constantFrom('POST /apps', 'POST /apps', 'POST /apps', 'POST /apps/', 'GET /me', 'PUT /apps', 'POST /nothing'),
    query,
    headers: fc.array(usual, { maxLength: 4 }),
    body,
    length,
  })
  .map(({ place, query, ...rest }): FuzzRequest => {
    const [method = '', path = ''] = place.split(' ')
    return { method, path: path + query, ...rest }
  })

const ill = fc.record({
  method,
  path: fc.tuple(path, query).map((parts) => parts.join('')),
  headers: fc.array(fc.oneof(usual, unusual), { maxLength: 6 }),
  body,
  length,
})

/** Requests of every kind that people, broken clients and attackers send. */
export const anyRequest: fc.Arbitrary<FuzzRequest> = fc.oneof(wellHeaded, ill)

/** The request as bytes, and whether it is all that its head promises. */
export function wireOf({ method, path, headers, body, length }: FuzzRequest): { bytes: Buffer; whole: boolean } {
  const bodiless = length === 'missing' || (body.length === 0 && length !== 'chunked')
  const announced = length === 'too large' ? body.length + 10 : body.length
  const own = bodiless ? [] : [length === 'chunked' ? ['Transfer-Encoding', 'chunked'] : ['Content-Length', String(announced)]]
  const lines = [...headers, ...own, ['Host', 'x'], ['Connection', 'close']].map(([name, value]) => `${name}: ${value}\r\n`)
  const head = Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1')
  const content = bodiless ? Buffer.alloc(0) : length === 'chunked' ? chunked(body) : body
  return { bytes: Buffer.concat([head, content]), whole: bodiless || length !== 'too large' }
}

function chunked(body: Buffer): Buffer {
  const size = body.length === 0 ? [] : [Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n')]
  return Buffer.concat([...size, Buffer.from('0\r\n\r\n')])
}

/** What node:http makes of a header that came several times, or not at all. */
export function valuesOf({ headers }: FuzzRequest, name: string): string | undefined {
  const values = headers.filter(([each]) => each.toLowerCase() === name).map(([, value]) => value.trim())
  return values.length === 0 ? undefined : values.join(', ')
}

/** Whole requests with bytes changed, cut or mixed, and plain noise. */
export const anyBytes: fc.Arbitrary<Buffer> = fc.oneof(
  fc.uint8Array({ maxLength: 500 }).map(Buffer.from),
  fc.tuple(anyRequest, fc.array(fc.tuple(fc.nat(300), fc.nat(255)), { minLength: 1, maxLength: 5 })).map(([request, changes]) => {
    const { bytes } = wireOf(request)
    for (const [place, value] of changes) if (place < bytes.length) bytes[place] = value
    return bytes
  }),
  fc.tuple(anyRequest, fc.nat(200)).map(([request, end]) => wireOf(request).bytes.subarray(0, end)),
)
