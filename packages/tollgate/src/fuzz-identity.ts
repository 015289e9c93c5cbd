import fc from 'fast-check'
import { type Called, callMaker, deep, type FuzzCall, heard, rarely, raw, sayable, texts, usually } from './fuzz-calls.ts'

const mostly = usually(12)

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
      raw('{"__proto__":{"a":1},"a":1,"a":2}'),
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
  provider: mostly(texts('github'), texts('', 'GitHub', 'gitlab', 'nobody', '__proto__', 'a\u0000')),
  scopes: mostly(texts('repo', 'repo,gist'), texts('', ',', 'a b', '\u0000', 's'.repeat(3_000))),
  skip_http_redirect: mostly(texts('false', 'true'), texts('', 'yes')),
  state: mostly(heard('state'), fc.oneof(texts('', 'x', 'a\u0000', 's'.repeat(5_000)), fc.uuid())),
  // Whom the provider knows by it; and some whom it has trouble with.
  '/callback code': mostly(
    fc.nat(40).map((number) => `person-${number}`),
    texts('', 'broken', 'slow', 'nobody', 'nameless', 'a\u0000', '\ud800'),
  ),
  error: texts('access_denied', '', 'server_error', '\u0000', 'x'.repeat(300)),
  error_description: texts('They said no', '', '<script>', '\u202e'),
}

/** How people ask: signed in or not, with a key of the operator's or something that only looks like one. */
const authorizationFor = (usual: string) =>
  fc.oneof(
    { weight: 20, arbitrary: heard(usual) },
    { weight: 1, arbitrary: fc.oneof(heard('access'), heard('admin'), heard('forged')) },
    { weight: 1, arbitrary: texts('', 'Bearer', 'Bearer x', 'Bearer a.b.c', 'Basic eDp5', `Bearer ${'a'.repeat(4_000)}`) },
  )

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

/** Requests to an endpoint of the identity service. */
export function identityCallOf(called: Called): fc.Arbitrary<FuzzCall> {
  const fit = fitting[`${called.method} ${called.path}`]
  const any = callOf(calledAs(called))
  if (!fit) return any
  const drawn = fc.record({ number: fc.nat(50), way: fc.nat(8), fresh: fc.uuid({ version: 4 }) })
  return fc
    .tuple(any, drawn, fc.boolean())
    .map(([call, { number, way, fresh }, fits]) => (fits ? { ...call, ...fit(call, { number, way, fresh }) } : call))
}

/** As a provider sends people back, who says more than the endpoint names. */
function calledAs(called: Called): Called {
  if (called.path !== '/callback') return called
  const names = ['state', 'code', 'error', 'error_description']
  const properties = Object.fromEntries(names.map((name) => [name, { type: 'string' }]))
  const brought = { type: 'object', properties, required: ['state', 'code'] }
  return called.method === 'GET' ? { ...called, query: brought } : { ...called, body: brought }
}

type Drawn = { number: number; way: number; fresh: string }

/**
 * What only goes together: a code with the address that it was sent to, a session with who is in it. Half of the requests to these have it
 * so; what was heard of together has the same number.
 */
const fitting: Record<string, (call: FuzzCall, drawn: Drawn) => Partial<FuzzCall>> = {
  'POST /verify': (_, { number, way }) => ({ encoding: 'json', body: proofOf(number, way) }),
  'GET /verify': ({ path }, { number }) => {
    const more = new URLSearchParams(path.slice(path.indexOf('?') + 1))
    const redirect = more.get('redirect_to')
    const wanted = `/verify?type=$mailType:${number}&token=$mailLink:${number}`
    return { path: redirect ? `${wanted}&redirect_to=${encodeURIComponent(redirect)}` : wanted }
  },
  'PUT /user': calm,
  'POST /admin/users': (call, { fresh }) => withFields(calm(call), { email: `${fresh}@site.test` }),
  'POST /admin/users/{user_id}': (call, { fresh }) => ({
    ...withFields(calm(call), { email: `${fresh}@site.test` }),
    path: `/admin/users/${fresh}`,
  }),
  'PUT /admin/users/{user_id}': (call, { number }) => ({ ...calm(call), path: `/admin/users/$account:${number}` }),
  'DELETE /user/sessions/{session_id}': (call, { number }) => ({
    path: `/user/sessions/$sessionId:${number}`,
    headers: { ...call.headers, authorization: `$sessionAccess:${number}` },
  }),
  'DELETE /user/identities/{identity_id}': (call, { number }) => ({
    path: `/user/identities/$linkedIdentity:${number}`,
    headers: { ...call.headers, authorization: `$linkedAccess:${number}` },
  }),
}

/** Of what an account can be changed to, what never stands in somebody's way. */
function calm({ body }: FuzzCall): Partial<FuzzCall> {
  if (typeof body !== 'object' || Buffer.isBuffer(body)) return {}
  const harmless = new Set(['data', 'user_metadata', 'app_metadata', 'email_confirm', 'phone_confirm'])
  return { body: Object.fromEntries(Object.entries(body).filter(([name]) => harmless.has(name))) }
}

function withFields(call: Partial<FuzzCall>, fields: Record<string, unknown>): Partial<FuzzCall> {
  return typeof call.body === 'object' ? { ...call, body: { ...call.body, ...fields } } : call
}

function proofOf(number: number, way: number): Record<string, unknown> {
  const mailed = (what: string) => `$mail${what}:${number}`
  if (way === 0) return { type: mailed('Type'), email: mailed('To'), token: mailed('Code'), password: 'correct horse' }
  if (way < 4) return { type: mailed('Type'), email: mailed('To'), token: mailed('Code') }
  if (way < 6) return { type: mailed('Type'), token_hash: mailed('Link') }
  return { type: way === 6 ? 'phone_change' : 'sms', phone: `$smsTo:${number}`, token: `$smsCode:${number}` }
}

const callOf = callMaker({
  byName,
  seldom: new Set([
    ...['captcha_token', 'gotrue_meta_security', 'code_challenge', 'code_challenge_method', 'channel', 'nonce', 'password_hash'],
    ...['ban_duration', 'id', 'limit', 'cursor', 'sort', 'filter', 'redirect_to', 'token_hash', 'aud', 'invite_token', 'scopes'],
    ...['error', 'error_description'],
  ]),
  strangeNames: ['extra', '__proto__', 'constructor', 'EMAIL', 'Password'],
  objects: metadata,
  tidy(fields, chance) {
    // Who says both says too much, nearly everywhere; and half a challenge is none.
    if ('email' in fields && 'phone' in fields && chance > 0) delete fields[chance % 3 === 0 ? 'email' : 'phone']
    if (('code_challenge' in fields || 'code_challenge_method' in fields) && chance > 0)
      Object.assign(fields, { code_challenge: 'a'.repeat(43), code_challenge_method: 's256' })
  },
  authorization: ({ caller }) => authorizationFor(caller.security?.name === 'adminToken' ? 'admin' : 'access'),
  headers: rarely(besides, {}),
  broken: fc.constantFrom('{', '[]', 'null', '"x"', '', '{"email":}', '7'),
  encoding: ({ path }) => fc.constantFrom(...(path === '/callback' ? (['form', 'form', 'json'] as const) : (['json'] as const))),
})
