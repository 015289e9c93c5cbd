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

/** What an endpoint says about its input, as far as requests are made from it. */
export type Called = {
  method: string
  path: string
  caller: { security: { name: string } | undefined }
  query?: unknown
  body?: unknown
  params?: unknown
}

/** A request whose head is fine and that comes with what the endpoint asks for, or something like it. */
export type FuzzCall = {
  method: string
  /** With its query. */
  path: string
  headers: Record<string, string>
  /** Undefined for none; a text is sent as it is. */
  body: Record<string, unknown> | string | undefined
}

type Shape = {
  type?: string
  properties?: Record<string, Shape>
  items?: Shape
  anyOf?: Shape[]
  const?: unknown
}

/**
 * What only a running service can give: `$refresh:7` stands for the seventh of the refresh tokens that were heard of so far. Whoever sends
 * the request puts them in.
 */
const heard = (kind: string) => fc.nat(50).map((number) => `$${kind}:${number}`)
export const heardOf = /^\$(\w+):(\d+)$/

/** What is good gets a request on its way; what is bad is then bad in one place. */
const mostly = <T>(good: fc.Arbitrary<T>, bad: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 12, arbitrary: good }, { weight: 1, arbitrary: bad })
const texts = (...given: string[]) => fc.constantFrom(...given)

const uuid = mostly(heard('user'), fc.oneof(fc.uuid(), texts('00000000-0000-0000-0000-000000000000', 'me', '1')))
const account = fc.nat(14)
const emails = fc.oneof(
  { weight: 24, arbitrary: account.map((number) => `fuzz-${number}@site.test`) },
  { weight: 2, arbitrary: fc.stringMatching(/^[a-z]{12}$/).map((name) => `${name}@site.test`) },
  { weight: 1, arbitrary: account.map((number) => ` FUZZ-${number}@Site.Test `) },
  { weight: 2, arbitrary: fc.emailAddress() },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '@',
      'a@',
      '@b',
      'a@b@c',
      'a b@site.test',
      '"a b"@site.test',
      `${'a'.repeat(64)}@${'b'.repeat(190)}.test`,
      `${'a'.repeat(300)}@site.test`,
      'a\u0000@site.test',
      'a\r\nBcc: b@site.test',
      'é@bücher.test',
      'İ@site.test',
      '\ud800@site.test',
    ),
  },
)
const phones = fc.oneof(
  { weight: 24, arbitrary: account.map((number) => String(4_520_000_000 + number)) },
  { weight: 1, arbitrary: account.map((number) => `+${4_520_000_000 + number}`) },
  {
    weight: 2,
    arbitrary: fc.constantFrom('+', '0', '+0', '00452', '4'.repeat(16), '+45 20 00 00 00', '４５２００００００', '45\u0000'),
  },
)
/** Not too many that are good enough to be hashed: that is slow on purpose. */
const passwords = fc.oneof(
  { weight: 1, arbitrary: texts('correct horse', 'battery staple', '🐴🔋📎🐴🔋📎') },
  { weight: 6, arbitrary: texts('', 'five5', 'x'.repeat(73), 'é'.repeat(37), 'a\u0000') },
)
const urls = fc.constantFrom(
  'https://site.test/welcome',
  'https://elsewhere.test',
  'javascript:alert(1)',
  '//elsewhere.test',
  'https://site.test@elsewhere.test',
  'http://[',
  'https://site.test/\r\nx: y',
  'https://site.test/#a?b',
  '/',
  'app://',
)
const durations = mostly(
  texts('24h', 'none', '1h30m'),
  texts('-1h', '0', '999999999999h', '1e9h', '1ns', '292277026596h', '2540400h', 'h', '5'),
)
const numbers = mostly(
  texts('1', '2', '50'),
  texts(
    '0',
    '-1',
    '1e9',
    '1.5',
    '9007199254740993',
    '99999999999999999999',
    'x',
    '',
    '0x10',
    ' 1',
    '9223372036854775807',
    '2147483648',
  ),
)
const roles = mostly(texts('authenticated', 'service_role', 'anon'), texts('', 'r'.repeat(300), 'a\u0000'))
const verifications = fc.constantFrom(
  ...['signup', 'invite', 'recovery', 'magiclink', 'email', 'email_change', 'email_change_current', 'email_change_new'],
  ...['sms', 'phone_change', 'reauthentication', '', '__proto__', 'constructor'],
)
const deep = fc.constantFrom(50, 3_000, 20_000).map((depth) => ({ $raw: `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}` }))
const metadata = fc.oneof(
  { weight: 40, arbitrary: fc.dictionary(fc.string({ maxLength: 8 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 }) },
  { weight: 2, arbitrary: fc.dictionary(fc.string({ unit: 'binary', maxLength: 8 }), fc.constant(null), { maxKeys: 4 }) },
  {
    weight: 3,
    arbitrary: fc.constantFrom<unknown>(
      { provider: 7, providers: 'x', full_name: { a: 1 }, email: 1, sub: null },
      { a: '\u0000' },
      { a: '\ud800' },
      { '\u0000': 1 },
      { a: 1e308, b: -0, c: 5e-324 },
      { $raw: '{"__proto__":{"a":1},"a":1,"a":2}' },
      { big: 'x'.repeat(2_000) },
    ),
  },
  { weight: 1, arbitrary: deep },
)
const hashes = fc.constantFrom(
  '$2b$04$abcdefghijklmnopqrstuuXqGVvvQv1CLmEqzLy3yWmGGlUyxPZUe',
  '$2b$31$abcdefghijklmnopqrstuuXqGVvvQv1CLmEqzLy3yWmGGlUyxPZUe',
  '$argon2id$v=19$m=8,t=1,p=1$YWJjZGVmZ2g$YWJjZGVmZ2hhYmNkZWZnaA',
  '$argon2id$v=19$m=4294967295,t=9,p=1$YWJjZGVmZ2g$YWJjZGVmZ2hhYmNkZWZnaA',
  '$fbscrypt$v=1,n=99,r=8,p=1,ss=x,sk=y$a$b',
  'plain',
  '',
)
const moments = fc.constantFrom(
  '2030-01-01T00:00:00Z',
  '0001-01-01T00:00:00Z',
  '+275760-09-13T00:00:00Z',
  '2030-02-31',
  'now',
  '',
)

/** By the names that fields, parameters and placeholders go by. */
const byName: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  email: emails,
  new_email: emails,
  phone: phones,
  password: passwords,
  current_password: passwords,
  password_hash: hashes,
  data: metadata,
  user_metadata: metadata,
  app_metadata: metadata,
  token: mostly(fc.oneof(heard('code'), heard('link')), texts('123456', '', '0'.repeat(5_000), 'pkce_x', 'a\u0000')),
  token_hash: mostly(heard('link'), fc.oneof(fc.stringMatching(/^[0-9a-f]{56}$/), texts('', 'pkce_', 'a\u0000'))),
  refresh_token: mostly(heard('refresh'), fc.oneof(fc.stringMatching(/^[A-Za-z0-9_-]{12,40}$/), texts('', 'x', 'é'.repeat(20)))),
  auth_code: mostly(heard('flow'), fc.oneof(fc.uuid(), texts('', 'a\u0000', 'x'.repeat(5_000)))),
  code_verifier: mostly(texts('a'.repeat(43)), texts('b'.repeat(43), '', 'a\u0000', 'é')),
  code_challenge: mostly(texts('a'.repeat(43)), texts('a'.repeat(128), 'a'.repeat(129), '', '!', 'a'.repeat(42))),
  code_challenge_method: mostly(texts('s256', 'S256', 'plain'), texts('', 'md5')),
  nonce: mostly(heard('code'), texts('123456', '', 'a\u0000')),
  type: verifications,
  channel: mostly(texts('sms', ''), texts('whatsapp', 'pigeon')),
  // The one that hashes is asked for seldom.
  grant_type: fc.oneof(
    { weight: 1, arbitrary: fc.constant('password') },
    { weight: 5, arbitrary: texts('refresh_token', 'refresh_token', 'refresh_token', 'pkce') },
    { weight: 1, arbitrary: texts('id_token', '', '__proto__', 'toString') },
  ),
  scope: mostly(texts('global', 'local', 'others'), texts('', 'everything')),
  redirect_to: urls,
  ban_duration: durations,
  page: numbers,
  per_page: numbers,
  limit: numbers,
  cursor: mostly(heard('cursor'), fc.oneof(fc.base64String(), texts('', 'x', 'a\u0000'))),
  sort: mostly(texts('created_at', 'created_at asc', 'created_at desc'), texts('', 'id; drop table', 'created_at asc, id')),
  filter: fc.constantFrom('fuzz', '%', '_', '\\', '\u0000', '', "' or 1=1 --", 'x'.repeat(3_000), '\ud800'),
  query: fc.constantFrom('action:login', 'author:fuzz', 'ip', ':', 'action:', 'x'.repeat(3_000), '\u0000', '%:%'),
  id: uuid,
  user_id: uuid,
  identity_id: uuid,
  aud: mostly(texts('authenticated'), texts('', 'elsewhere', 'a'.repeat(300), 'a\u0000')),
  role: roles,
  from: moments,
  to: moments,
}

function rarely<T>(arbitrary: fc.Arbitrary<T>, otherwise: T): fc.Arbitrary<T> {
  return fc.oneof({ weight: 12, arbitrary: fc.constant(otherwise) }, { weight: 1, arbitrary })
}

const hostile = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, 0, -1, 1e308, '', ' ', '\u0000', '\ud800', 'x'.repeat(300), [], [[]], {}),
  fc.constantFrom<unknown>('%00', "' or 1=1 --", '../..', '#{7*7}', '{{ .Token }}', '<script>', ['a'], { a: 1 }),
  fc.jsonValue({ maxDepth: 2 }),
)

function oneFor(name: string, shape: Shape): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 60, arbitrary: byName[name] ?? ofShape(shape) }, { weight: 1, arbitrary: hostile })
}

function ofShape(shape: Shape): fc.Arbitrary<unknown> {
  if ('const' in shape) return fc.constant(shape.const)
  if (shape.anyOf) return fc.oneof(...shape.anyOf.map(ofShape))
  switch (shape.type) {
    case 'boolean':
      return fc.boolean()
    case 'integer':
      return fc.oneof(fc.integer({ min: -2, max: 100 }), fc.maxSafeInteger())
    case 'number':
      return fc.double()
    case 'array':
      return fc.array(ofShape(shape.items ?? {}), { maxLength: 3 })
    case 'string':
      return fc.oneof(fc.string({ maxLength: 20 }), fc.string({ unit: 'binary', maxLength: 20 }))
    case 'object':
      return shape.properties ? fieldsOf(shape) : metadata
    default:
      return fc.jsonValue({ maxDepth: 2 })
  }
}

/** What few requests come with, or what does not go together with the rest. */
const seldom = new Set([
  ...['captcha_token', 'gotrue_meta_security', 'code_challenge', 'code_challenge_method', 'channel', 'nonce', 'password_hash'],
  ...['ban_duration', 'id', 'limit', 'cursor', 'sort', 'filter', 'redirect_to', 'token_hash', 'aud'],
])

/** Each of them is there or not. */
function fieldsOf(shape: Shape | undefined): fc.Arbitrary<Record<string, unknown>> {
  const fields = Object.entries(shape?.properties ?? {}).map(([name, each]) => {
    const value = oneFor(name, each).map((value) => [[name, value]])
    const [there, missing] = seldom.has(name) ? [1, 5] : [3, 1]
    return fc.oneof({ weight: there, arbitrary: value }, { weight: missing, arbitrary: fc.constant([]) })
  })
  const more = fc.dictionary(texts('extra', '__proto__', 'constructor', 'EMAIL', 'Password'), hostile, { maxKeys: 1 })
  return fc.tuple(fc.tuple(...fields), fc.nat(20), rarely(more, {})).map(([pairs, chance, others]) => {
    const all: Record<string, unknown> = { ...Object.fromEntries(pairs.flat()), ...others }
    // Who says both says too much, nearly everywhere; and half a challenge is none.
    if ('email' in all && 'phone' in all && chance > 0) delete all[chance % 3 === 0 ? 'email' : 'phone']
    if (('code_challenge' in all || 'code_challenge_method' in all) && chance > 0)
      Object.assign(all, { code_challenge: 'a'.repeat(43), code_challenge_method: 's256' })
    return all
  })
}

/** How people ask: signed in or not, with a key of the operator's or something that only looks like one. */
const authorizationFor = (usual: string) =>
  fc.oneof(
    { weight: 20, arbitrary: heard(usual) },
    { weight: 1, arbitrary: fc.oneof(heard('access'), heard('admin'), heard('forged')) },
    { weight: 1, arbitrary: texts('', 'Bearer', 'Bearer x', 'Bearer a.b.c', 'Basic eDp5', `Bearer ${'a'.repeat(4_000)}`) },
  )
/** What node:http lets a client say. */
const sayable = fc.stringMatching(/^[\x21-\x7e\xa1-\xff]{0,30}$/)
const besides = fc.record(
  {
    'x-jwt-aud': fc.constantFrom('authenticated', 'elsewhere', '', 'a'.repeat(300)),
    'x-supabase-api-version': fc.constantFrom('2024-01-01', '2024-02-31', 'x'),
    'x-forwarded-for': fc.constantFrom('192.0.2.1', '192.0.2.1, 10.0.0.1', '::1', 'fe80::1%eth0', 'unknown', ','),
    'x-forwarded-host': fc.constantFrom('auth.site.test', 'elsewhere.test', '[', ','),
    'user-agent': fc.oneof(sayable, fc.constant('x'.repeat(3_000))),
    referer: urls.filter((url) => !/[\r\n]/.test(url)),
    redirect_to: urls.filter((url) => !/[\r\n]/.test(url)),
    'sec-purpose': fc.constantFrom('prefetch', 'x'),
    'x-use-cookie': sayable,
  },
  { requiredKeys: [] },
)
/** Requests to one endpoint, made from what it says it takes. */
export function anyCallOf({ method, path, caller, params, query, body }: Called): fc.Arbitrary<FuzzCall> {
  const placeholders = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const places = fc.record(
    Object.fromEntries(
      placeholders.map((name) => [name, oneFor(name, (params as Shape)?.properties?.[name] ?? { type: 'string' })]),
    ),
  )
  const broken = fc.constantFrom('{', '[]', 'null', '"x"', '', '{"email":}', '7')
  return fc
    .record({
      places,
      query: fieldsOf(query as Shape | undefined),
      headers: rarely(besides, {}),
      authorization: authorizationFor(caller.security?.name === 'adminToken' ? 'admin' : 'access'),
      body: body
        ? fc.oneof({ weight: 30, arbitrary: fieldsOf(body as Shape) }, { weight: 1, arbitrary: broken })
        : fc.constant(undefined),
    })
    .map(({ places, query, headers, authorization, body }) => ({
      method,
      path: `${path}${queryOf(query)}`,
      headers: { ...headers, authorization },
      body,
      places,
    }))
    .map(({ places, ...call }) => ({
      ...call,
      path: call.path.replace(/\{(\w+)\}/g, (_, name: string) => inUrl(places[name])),
    }))
}

const queryOf = (query: Record<string, unknown>) => {
  const pairs = Object.entries(query).map(([name, value]) => `${encodeURIComponent(name)}=${inUrl(value)}`)
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`
}

/** Halves of characters have no place in a URL. */
function inUrl(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  return text.match(heardOf) ? text : encodeURIComponent(text.toWellFormed())
}

/** The body as it is sent, with what `$raw` holds put in as it is: some of it no program would write. */
export function textOf(body: FuzzCall['body']): string | undefined {
  if (body === undefined || typeof body === 'string') return body
  const raws: string[] = []
  const text = JSON.stringify(body, (_, value) => {
    if (typeof value?.$raw !== 'string') return value
    raws.push(value.$raw)
    return `$raw ${raws.length - 1}`
  })
  return text.replace(/"\$raw (\d+)"/g, (_, index) => raws[Number(index)] ?? '')
}
