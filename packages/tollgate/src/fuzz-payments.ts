import { testCards } from '@tollgate/payments/rules/test-cards'
import fc from 'fast-check'
import { type Called, callMaker, deep, heard, raw, sayable, texts, usually } from './fuzz-calls.ts'

const mostly = usually(40)

const strangeIds = fc.oneof(
  fc.stringMatching(/^[0-9a-f]{24}$/),
  texts(
    '0'.repeat(24),
    'f'.repeat(24),
    'F'.repeat(24),
    '0'.repeat(23),
    '0'.repeat(25),
    'wrong_id',
    '__proto__',
    'constructor',
    '',
  ),
  texts(`${'0'.repeat(23)}\u0660`, `${'0'.repeat(24)}\n`, '%00', '../me', 'a\u0000'),
)
const ids = (kind: string) => mostly(heard(kind), strangeIds)
/** Most go to one merchant, so that what a request names belongs together. */
const merchants = fc.oneof(
  { weight: 40, arbitrary: heard('main') },
  { weight: 3, arbitrary: heard('merchant') },
  { weight: 1, arbitrary: heard('foreign') },
  { weight: 1, arbitrary: strangeIds },
)
const transactions = fc.oneof(
  { weight: 30, arbitrary: heard('transaction') },
  { weight: 1, arbitrary: heard('strangersTransaction') },
  { weight: 1, arbitrary: strangeIds },
)

const edges = fc.constantFrom<unknown>(
  ...[0, -0, -1, 1, 2, 2 ** 31, 2 ** 53 - 1, 2 ** 53 - 2, 10 ** 12, 10 ** 15, 2 ** 53, 0.1, 1.5, 1998.9999999999998],
  ...[
    '1',
    '12',
    '012',
    '1e3',
    '1E3',
    '٣',
    '３',
    ' 7',
    '7 ',
    '+5',
    '-5',
    '0x10',
    '1_000',
    '1,5',
    '1.0',
    '1.5',
    'NaN',
    'Infinity',
    '',
  ],
  ...['9007199254740991', '9007199254740992', '9007199254740993', '9'.repeat(400), true, false, null, [1], { amount: 1 }],
  ...['1e400', '-0', '-0.0', '1499.0', '9007199254740993', '1e15', '12345678901234567890', '1E-1', '01', '.5', '1.'].map(raw),
)
const amounts = fc.oneof(
  { weight: 16, arbitrary: fc.integer({ min: 1, max: 300 }) },
  { weight: 3, arbitrary: fc.constantFrom(1, 1000, 20_000, 40_413, 100_000, 10 ** 9) },
  { weight: 3, arbitrary: edges },
  { weight: 2, arbitrary: heard('amount') },
)

/** Of every number of decimals that there is, known to the exchange or not. */
const currencies = fc.oneof(
  { weight: 14, arbitrary: texts('EUR', 'EUR', 'DKK', 'USD', 'HUF') },
  { weight: 7, arbitrary: texts('JPY', 'KRW', 'KWD', 'BHD', 'VND', 'IDR') },
  { weight: 1, arbitrary: texts('CLP', 'TND', 'ISK', 'XAF', 'MRU') },
  {
    weight: 1,
    arbitrary: texts('HRK', 'VES', 'BGN', 'XXX', 'XTS', 'eur', 'EU', 'EURO', '', 'ＥＵＲ', 'E\u0000R', '__proto__', 'toString'),
  },
)
const printable = fc.stringMatching(/^[\x20-\x7e]{1,22}$/)
const descriptors = mostly(printable, texts('', 'x'.repeat(23), 'é', '\u0000', 'tab\t', '1234567897891234', ' ', '\u007f'))
const emails = mostly(
  fc.nat(12).map((number) => `fuzz-${number}@shop.test`),
  texts(
    '@',
    'a@',
    'a b@shop.test',
    'FUZZ-1@SHOP.TEST',
    'a\r\nBcc: b@shop.test',
    'İ@shop.test',
    `${'a'.repeat(300)}@b.test`,
    'a\u0000@b.test',
  ),
)
const websites = mostly(
  texts('shop.test', 'https://shop.test/a?b#c', 'http://shop.test:8080'),
  texts(
    'javascript:alert(1)',
    'http://[',
    'https://user:pass@shop.test',
    '//',
    ' ',
    'ftp://x',
    `https://${'a'.repeat(2_000)}.test`,
    'b\u0000',
  ),
)
const names = mostly(
  fc.string({ minLength: 1, maxLength: 30 }),
  fc.oneof(fc.string({ unit: 'binary', maxLength: 20 }), texts('', 'x'.repeat(201), 'a\nb', '\u202e', '𐍈'.repeat(200))),
)
const ibans = mostly(
  texts('DK5000400440116243', 'de89 3704 0044 0532 0130 00'),
  texts('', 'DK5000400440116244', 'X'.repeat(99), 'DK50\u0000'),
)
const countries = mostly(texts('DK', 'SE', 'GB', 'FO'), texts('US', 'dk', '', 'DKK', '__proto__'))

const nested = fc
  .tuple(fc.constantFrom(2, 9, 10, 40, 61, 62, 63, 64, 70), fc.constantFrom('{"a":', '['))
  .map(([depth, open]) => raw(`{"a":${open.repeat(depth)}1${(open === '[' ? ']' : '}').repeat(depth)}}`))
const customs = fc.oneof(
  { weight: 20, arbitrary: fc.dictionary(fc.string({ maxLength: 8 }), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 5 }) },
  {
    weight: 3,
    arbitrary: fc.dictionary(fc.string({ unit: 'binary', maxLength: 8 }), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 4 }),
  },
  { weight: 3, arbitrary: nested },
  {
    weight: 4,
    arbitrary: fc.constantFrom<unknown>(
      ...[[], {}, [1], 'text', 7, { a: '\u0000' }, { a: '\ud800' }, { '\u0000': 1 }, { a: 1e308, b: -0, c: 5e-324 }],
      ...[
        { text: 'x'.repeat(49_980) },
        { text: 'x'.repeat(49_995) },
        { text: 'é'.repeat(40_000) },
        { text: '\u0001'.repeat(9_000) },
      ],
      ...['{"__proto__":{"amount":1},"a":1,"a":2}', '{"a":1e999}', '{"a":12345678901234567890}', '{"\\u005f_proto__":1}'].map(
        raw,
      ),
      raw('{"constructor":{"prototype":{"a":1}},"toString":1,"hasOwnProperty":null,"valueOf":"x","toJSON":"y","then":"z"}'),
    ),
  },
  { weight: 1, arbitrary: deep },
)

const cardNumbers = fc.oneof(
  { weight: 6, arbitrary: texts('4100000000000000', '4100 0000 0000 0000', '5100000000000000') },
  { weight: 4, arbitrary: texts(...testCards.map(({ number }) => number)) },
  {
    weight: 1,
    arbitrary: texts('4242424242424242', '', '4100', '٤١٠٠٠٠٠٠٠٠٠٠٠٠٠٠', '41000000000000000', '4100-0000-0000-0000', ' '),
  },
)
const moments = mostly(
  texts('2030-01-01T00:00:00.000Z', '2029-12-31T23:59:59Z', '2030-01-10T00:00:00+02:00', '2020-02-29'),
  texts(
    '0001-01-01T00:00:00Z',
    '+275760-09-13T00:00:00Z',
    '9999-12-31T23:59:59.999Z',
    '10000-01-01T00:00:00Z',
    '2030-02-31',
    'now',
    '-1',
    '0',
  ),
)
const days = mostly(
  texts('2030-01-02', '2030-01-03'),
  texts('2030-02-31', '2030-1-1', '0000-00-00', '9999-12-31', '+10000-01-01', ''),
)
const limits = mostly(
  texts('1', '10', '50', '1000'),
  texts('0', '-1', '1001', '1e2', '1.5', '9007199254740993', 'x', '', '0x10', ' 1', '١', '2147483648'),
)
const cursors = mostly(
  fc.oneof(
    heard('transaction'),
    heard('line'),
    fc.integer({ min: 0, max: 2 ** 32 - 1 }).map((seconds) => `${seconds.toString(16).padStart(8, '0')}${'0'.repeat(16)}`),
  ),
  strangeIds,
)
const flags = mostly(texts('y', 'n', 'yes', 'no', '1', '0', 'TRUE', 'false'), texts('2', '', 'maybe', 'on', '01'))
const mishaps = mostly(texts('lost', 'unanswered', 'late', 'declined'), texts('', 'x', '__proto__'))

/** What is to go wrong, in all its parts, each of which may be missing or no part at all. */
const simulations = fc.record(
  {
    card: fc.record(
      {
        scheme: texts('supported', 'unsupported', 'unknown', 'x'),
        code: texts('valid', 'invalid', ''),
        status: texts('valid', 'invalid', 'expired', 'disabled', 'lost', 'toString'),
        limit: fc.record(
          { currency: currencies, exponent: fc.constantFrom(0, 2, 3, 30, 31, -1), value: amounts },
          { requiredKeys: [] },
        ),
      },
      { requiredKeys: [] },
    ),
    fingerprint: texts('success', 'timeout', ''),
    tds: fc.record(
      { status: texts('authenticated', 'rejected', 'unavailable', 'attempted', ''), challenge: fc.boolean() },
      { requiredKeys: [] },
    ),
    acquirer: fc.record(
      { latency: fc.constantFrom<unknown>(0, 1, 2, 3, -1, 30_001, 0.5, '1'), authorize: mishaps, void: mishaps },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
)
const balances = fc.record({ currency: currencies, exponent: fc.nat(3), value: fc.nat(20_000) })

/** Most of them new, some used before. */
const keys = fc.oneof(
  { weight: 16, arbitrary: fc.nat(10 ** 9).map((number) => `fuzz-key-${number}`) },
  { weight: 2, arbitrary: heard('key') },
  {
    weight: 1,
    arbitrary: fc.constantFrom('k'.repeat(255), 'k'.repeat(256), '"quoted-1"', '""', '"', 'two words', 'a,b', '%00', 'é', ''),
  },
  { weight: 1, arbitrary: fc.oneof(sayable, fc.uuid(), texts('__proto__', '0', 'null', '{}', "' or 1=1 --", '$1')) },
)

const shopKeys = fc.oneof(
  { weight: 40, arbitrary: heard('shopKey') },
  { weight: 2, arbitrary: heard('liveShopKey') },
  { weight: 1, arbitrary: heard('merchant') },
  { weight: 1, arbitrary: texts('', 'x'.repeat(200), 'x'.repeat(201), '__proto__', '\u0000', '\ud800', "' or 1=1 --", 'é𐍈') },
)

/** What the vault gave, and what it never would. */
const tokens = (kind: string) =>
  fc.oneof(
    { weight: 40, arbitrary: heard(kind) },
    { weight: 1, arbitrary: fc.oneof(heard('pcn'), heard('pcsc'), heard('googlepay'), heard('hint'), heard('creq')) },
    {
      weight: 1,
      arbitrary: fc.oneof(
        texts('', 'x', '\u0000', '\ud800', '𐍈', '=', 'AAAA', 'AQ==', `AQ${'A'.repeat(18)}`, '__proto__'),
        texts('A'.repeat(20_000), 'A'.repeat(20_001), 'é'.repeat(20_000), '\n'.repeat(40)),
        fc.uint8Array({ maxLength: 90 }).map((bytes) => Buffer.from(bytes).toString('base64')),
        fc.uint8Array({ minLength: 14_000, maxLength: 14_980 }).map((bytes) => Buffer.from(bytes).toString('base64')),
      ),
    },
  )
const tokenOf = (kind: string) => fc.record({ token: tokens(kind) })

const monies = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      currency: texts('EUR', 'EUR', 'DKK', 'USD', 'JPY', 'KWD', 'HUF'),
      exponent: fc.constantFrom(0, 2, 2, 2, 3),
      value: fc.integer({ min: 1, max: 90_000 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record(
      { currency: currencies, exponent: fc.constantFrom<unknown>(0, 2, 3, 4, 29, 30, 31, -1, 0.5, '2'), value: amounts },
      { requiredKeys: [] },
    ),
  },
)

const borders = texts(
  ...['2030-01-02T03:04:05Z', '2030-01-31T23:59:59.999Z', '2032-02-29T00:00:00Z', '2129-12-31T00:00:00Z', '2130-12-31T00:00:00Z'],
  ...[
    '0000-01-01T00:00:00Z',
    '0001-01-01T00:00:00Z',
    '9999-12-31T23:59:59.999Z',
    '10000-01-01T00:00:00Z',
    '2030-02-29T00:00:00Z',
  ],
  ...[
    '2030-12-31T23:59:60Z',
    '2030-01-01T24:00:00Z',
    '2030-06-30T12:00:00+23:59',
    '2030-06-30T12:00:00-24:00',
    '2030-06-30T12:00:00',
  ],
  ...['2030-06-30', '', '\u0000', '２０３０-01-01T00:00:00Z', `2030-06-30T12:00:00.${'9'.repeat(60)}Z`],
)
const intervals = fc.record(
  {
    unit: texts('day', 'week', 'month', 'year', 'month', 'hour', '__proto__'),
    value: fc.constantFrom<unknown>(1, 2, 31, 1000, 1001, 0),
  },
  { requiredKeys: ['unit'] },
)
const counts = fc.constantFrom<unknown>(1, 2, 12, 10_000, 10_001, 0, -1, 1.5)
const components = fc.oneof(
  fc.record({ amount: monies, scheduled: borders }),
  fc.record({
    amount: monies,
    repeat: fc.record({ first: borders, count: counts, interval: intervals }, { requiredKeys: ['interval'] }),
  }),
)
/** In order, as they have to be. */
const manyComponents = fc.constantFrom(2, 99, 100, 101).map((length) =>
  Array.from({ length }, (_, index) => ({
    amount: { currency: 'EUR', exponent: 2, value: 1 + index },
    scheduled: new Date(Date.UTC(2040, 0, 1 + index)).toISOString(),
  })),
)
const monthly = { amount: { currency: 'EUR', exponent: 2, value: 995 }, repeat: { interval: { unit: 'month' } } }
const plans = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom([monthly], [{ ...monthly, repeat: { ...monthly.repeat, count: 10_000 } }]) },
  { weight: 2, arbitrary: fc.array(components, { maxLength: 4 }) },
  { weight: 1, arbitrary: manyComponents },
)

/** Of another order, for nothing else is known here: whoever goes on with one sends those that it was given. */
const strangeHints = fc.oneof(
  fc.array(heard('hint'), { maxLength: 4 }),
  fc.array(texts('', 'x', 'A'.repeat(4096), 'A'.repeat(4097), '\u0000', '𐍈', '__proto__', 'AQ=='), { maxLength: 4 }),
  fc.constantFrom<unknown>(Array(100).fill('AAAA'), Array(101).fill('AAAA'), {}, { 0: 'x' }, 'x', [[]], [null], [1]),
)

const orders = (route: string): Record<string, fc.Arbitrary<unknown>> =>
  Object.fromEntries(
    Object.entries({
      'integration.key': shopKeys,
      test: fc.oneof({ weight: 6, arbitrary: calmCourses }, { weight: 1, arbitrary: simulations }),
      amount: monies,
      text: mostly(
        fc.string({ unit: 'grapheme', minLength: 2, maxLength: 40 }),
        texts('', 'x', 'x'.repeat(1024), 'x'.repeat(1025), '\u0000'),
      ),
      'card.number': tokenOf('pcn'),
      'card.code': tokenOf('pcsc'),
      applepay: tokenOf('applepay'),
      googlepay: tokenOf('googlepay'),
      mobilepay: fc.constantFrom<unknown>({}, { configurationId: '0'.repeat(32) }, 'x', []),
      plan: plans,
      hints: strangeHints,
    }).map(([name, arbitrary]) => [`${route} ${name}`, arbitrary]),
  )

/** Whether the bank shows itself, and what goes wrong with the acquirer. */
const calmCourses = fc.record(
  {
    tds: fc.record(
      {
        challenge: fc.boolean(),
        fingerprint: texts('success', 'unavailable'),
        status: texts('authenticated', 'attempted', 'rejected'),
      },
      { requiredKeys: [] },
    ),
    acquirer: fc.record({ authorize: texts('lost', 'unanswered', 'late', 'declined') }, { requiredKeys: [] }),
  },
  { requiredKeys: [] },
)

const expiries = mostly(
  fc.record({ month: fc.integer({ min: 1, max: 12 }), year: fc.integer({ min: 2031, max: 2099 }) }),
  fc.constantFrom<unknown>({}, { month: '8', year: '2066' }, { month: 0, year: 2066 }, { month: '١', year: 1e9 }, 'x'),
)

const questions = (kind: string) =>
  mostly(
    heard(kind),
    fc.oneof(heard('hint'), heard('creq'), texts('', 'AAAA', 'x'.repeat(8192), 'x'.repeat(8193), '\u0000', '𐍈')),
  )

const byName: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  ...orders('/payments'),
  ...orders('/payments/challenges/{challenge}'),
  challenge: mostly(
    texts('authorize-integration', 'fingerprint', 'tds-enrolled', 'tds-fingerprint', 'tds-challenge', 'authorize'),
    texts('', 'Authorize', '__proto__', 'constructor', '%00', 'tds-method'),
  ),
  '/merchants/{merchant_id}/plans/{transaction_id} transaction_id': mostly(heard('planned'), transactions),
  '/vault type': mostly(texts('pcn', 'pcsc'), texts('', 'applepay', '__proto__')),
  '/vault value': fc.oneof(
    { weight: 8, arbitrary: texts('123', '000', '4100000000000000', '5100000000000000', '4100000000000007') },
    {
      weight: 1,
      arbitrary: fc.constantFrom<unknown>(
        '',
        '12',
        '1234',
        '١٢٣',
        '1'.repeat(20),
        '9'.repeat(19),
        '1'.repeat(20_000),
        '123\n',
        123,
        4.1e15,
      ),
    },
  ),
  '/applepay/token token': mostly(
    heard('applePayment'),
    fc.oneof(heard('googlePayment'), texts('{}', '', 'null', '[]', '{"a"', '\u0000')),
  ),
  '/googlepay/token token': mostly(
    heard('googlePayment'),
    fc.oneof(heard('applePayment'), texts('{}', '', 'null', '[]', '{"a"', '\ud800')),
  ),
  threeDSMethodData: questions('threeDSMethodData'),
  creq: questions('creq'),
  data: questions('data'),
  '/transactions key': shopKeys,
  '/cards key': shopKeys,
  '/cards number': cardNumbers,
  '/cards code': mostly(fc.constantFrom<unknown>('123', 123), fc.constantFrom<unknown>('', '12', {}, [1, 2, 3])),
  '/transactions card.expiry': expiries,
  '/cards expiry': expiries,
  '/pos key': shopKeys,
  '/pos/popup key': shopKeys,
  '/pos test': mostly(texts('1'), texts('0', 'true', '', 'x')),
  '/pos value': mostly(texts('12.50', '7', '0.01'), texts('', '0', '-1', '1e3', '12,50', '9'.repeat(400), '\u0000', '١')),
  '/pos amount': mostly(texts('1250', '1'), texts('0', '-1', '1.5', '9007199254740993', '9'.repeat(17), 'x')),
  '/pos currency': currencies,
  reference: names,
  '/pos redirect': mostly(
    texts('https://shop.test/thanks?a=b#c', 'http://localhost:3000/'),
    texts(
      'javascript:alert(1)',
      '//evil.test',
      'https://a@b.test',
      'data:text/html,x',
      '\u0000',
      `https://shop.test/${'x'.repeat(3_000)}`,
      '</script>',
    ),
  ),
  '/pos recurring': texts('y', 'n', '', 'yes'),
  locale: mostly(
    texts('da', 'de_AT', 'en-US', 'pt', 'bg'),
    texts('', 'xx', '__proto__', '../..', 'a'.repeat(300), '\u0000', 'de_DE@euro'),
  ),
  redirect: mostly(texts('https://shop.test/thanks'), texts('javascript:alert(1)', '//evil.test', '', 'x'.repeat(3_000))),
  '/merchants/{merchant_id}/links text': mostly(names, texts('x'.repeat(1024), 'x'.repeat(1025))),
  '/merchants/{merchant_id}/links value': mostly(
    fc.constantFrom<unknown>('12.50', 7),
    fc.constantFrom<unknown>('', '0', -1, '1e3', 1e300, '12,50'),
  ),
  'filter.state': texts('active', 'finished', 'stopped', '', 'x'),
  'filter.transactionId': transactions,
  file: mostly(
    heard('asset'),
    texts('', '..', '../page.ts', '%2e%2e%2f', '__proto__', 'x'.repeat(101), 'accent-000000-ffffff-0000000000000000.css'),
  ),
  merchant_id: merchants,
  merchantId: merchants,
  transaction_id: transactions,
  transactionId: transactions,
  authorizationId: transactions,
  card_id: ids('card'),
  cardId: ids('card'),
  line_id: ids('line'),
  lineId: ids('line'),
  dispute_id: ids('dispute'),
  fraud_id: ids('fraud'),
  user_id: ids('user'),
  '/identities/{app_id}/merchants app_id': ids('identity'),
  // Who takes their own access is asked back.
  app_id: fc.oneof({ weight: 1, arbitrary: heard('identity') }, { weight: 20, arbitrary: ids('app') }),
  '/merchants/{merchant_id}/apps/{app_id} app_id': fc.oneof(
    { weight: 1, arbitrary: heard('identity') },
    { weight: 10, arbitrary: ids('mainApp') },
    { weight: 10, arbitrary: ids('app') },
  ),
  appId: ids('app'),
  '/idempotency/{key} key': fc.oneof({ weight: 5, arbitrary: heard('key') }, { weight: 1, arbitrary: keys }),
  amount: amounts,
  currency: currencies,
  descriptor: descriptors,
  custom: customs,
  email: emails,
  website: websites,
  name: names,
  notes: names,
  description: names,
  'company.country': countries,
  'company.number': names,
  iban: ibans,
  accent: mostly(texts('#3a4fd8', '#ffffff'), texts('', 'red', '#fff', '#GGGGGG', 'url(x)', '#3a4fd8\n', '\u0000')),
  'card.number': cardNumbers,
  'card.code': mostly(texts('123', '000'), texts('', '12', '1234', '١٢٣')),
  'card.expiry.month': mostly(fc.integer({ min: 1, max: 12 }), fc.constantFrom(0, 13, -1)),
  'card.expiry.year': mostly(fc.integer({ min: 2029, max: 2099 }), fc.constantFrom(1999, 2000, 2100, 30)),
  '/merchants/{merchant_id}/simulator/payments test': fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({ acquirer: fc.dictionary(texts('authorize', 'capture', 'refund', 'void'), mishaps, { minKeys: 1 }) }),
    },
    { weight: 1, arbitrary: fc.record({ card: fc.record({ balance: balances }) }) },
    { weight: 2, arbitrary: simulations },
  ),
  'reason.code': mostly(fc.constantFrom(4853, 4837, 10.4, 131), fc.constantFrom(0, 1, 99_999, 100_000)),
  limit: limits,
  before: cursors,
  after: cursors,
  at: moments,
  due: moments,
  reported: moments,
  day: days,
  'filter.test': flags,
  'filter.successful': flags,
  'filter.recurring': flags,
  'filter.capture': flags,
  'filter.refund': flags,
  'filter.payout': flags,
  'filter.dispute': flags,
  'filter.tds': texts('none', 'attempt', 'full', '', 'x'),
}

/** The app that most merchants belong to, a person who may see them, and those who may not or are nobody. */
const authorizations = fc.oneof(
  { weight: 30, arbitrary: heard('owner') },
  { weight: 8, arbitrary: heard('person') },
  { weight: 1, arbitrary: heard('stranger') },
  {
    weight: 1,
    arbitrary: texts(
      '',
      'Basic',
      'Basic Og==',
      'basic \u00ff',
      'Bearer',
      'Bearer a.b.c',
      `Basic ${'A'.repeat(4_000)}`,
      'Digest x',
    ),
  },
)

const accepts = fc.oneof(
  { weight: 6, arbitrary: texts('application/json', '*/*', 'application/*', 'text/html, */*;q=0.1') },
  {
    weight: 2,
    arbitrary: texts(
      'application/vnd.api+json',
      'text/html',
      'application/json;q=0',
      '',
      ',',
      '\u00ff',
      'application/json;q=nonsense',
    ),
  },
)
const types = texts(
  ...[
    'application/json; charset=utf-8',
    'application/vnd.api+json',
    'APPLICATION/JSON',
    'text/json',
    'application/json;charset=utf-16',
  ],
  ...['application/x-www-form-urlencoded; charset=utf-8', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'],
  ...['text/plain', '', ';', 'application/octet-stream'],
)
/** Devices say which version they speak, and send JSON, or nothing that they send is looked at. */
function headersFor({ path }: Called): fc.Arbitrary<Record<string, string>> {
  if (!speaksVersions(path)) return fc.constant({})
  const version = path === '/applepay/approve-payment-session' ? '2' : '1'
  return fc.oneof(
    {
      weight: 40,
      arbitrary: fc.record({
        'accept-version': texts(version),
        'content-type': texts('application/json', 'Application/JSON; charset=utf-8'),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        'accept-version': texts('', '0', '1', '2', '01', '1.0', '1, 1', 'x'.repeat(300)),
        'content-type': types,
      }),
    },
    { weight: 1, arbitrary: fc.constant({}) },
  )
}

function speaksVersions(path: string): boolean {
  return /^\/(vault|applepay|googlepay|payments(?!\/fingerprint))/.test(path)
}

/** Each of them by its own chance, in hundredths. */
const headers = fc
  .record({
    'idempotency-key': chance(40, keys),
    accept: chance(85, accepts),
    'content-type': chance(4, types),
    'content-encoding': chance(1, texts('gzip', 'identity', 'br', 'x')),
    'x-client': chance(5, texts('Node 2.0.2', 'PHP 1.0.0', '')),
    'x-request-id': chance(2, sayable),
    traceparent: chance(2, texts('00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', 'x', '')),
  })
  .map((all) => Object.fromEntries(Object.entries(all).filter((pair): pair is [string, string] => pair[1] !== undefined)))

function chance<T>(hundredths: number, arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.oneof({ weight: hundredths, arbitrary }, { weight: 100 - hundredths, arbitrary: fc.constant(undefined) })
}

const gatewayCard = ['number', 'expiry', 'code']

/**
 * As somebody calls an endpoint who has read more than its shapes: the gateway tells whatever is missing in its own words, and payment
 * links are read as they come.
 */
function calledAs(called: Called): Called {
  const { path, body } = called as { path: string; body?: { properties: { card: object } } }
  if (called.method === 'POST' && path === '/cards') return { ...called, body: { ...body, required: ['key', ...gatewayCard] } }
  if (called.method === 'POST' && path === '/transactions') {
    const card = { ...body?.properties.card, required: gatewayCard }
    const required = ['key', 'currency', 'amount', 'card']
    return { ...called, body: { ...body, properties: { ...body?.properties, card }, required } }
  }
  if (path !== '/pos' && path !== '/pos/popup') return called
  const names = ['key', 'test', 'currency', 'value', 'amount', 'reference', 'text', 'redirect', 'locale', 'recurring']
  const properties = Object.fromEntries(names.map((name) => [name, { type: 'string' }]))
  return { ...called, query: { type: 'object', properties, required: ['key', 'test'] } }
}

/** Requests to an endpoint of the payments service. */
export const paymentsCallOf = (called: Called) => callOf(calledAs(called))

const callOf = callMaker({
  byName,
  seldom: new Set([
    ...['currency', 'before', 'after', 'test', 'authorizationId', 'cardId', 'tds', 'due', 'reported', 'reason', 'custom', 'at'],
    ...['applepay', 'googlepay', 'mobilepay', 'plan', 'hints', 'store', 'unplanned', 'text', 'value', 'redirect', 'plans'],
    // What a merchant cannot change.
    ...['id', 'key', 'website', 'created', 'company', 'bank', 'claim', 'pricing'],
  ]),
  strangeNames: ['extra', '__proto__', 'constructor', 'Amount', 'amount[]', 'toString', 'sort', 'skip'],
  objects: customs,
  /** Of the ways to pay one has to be there, and no other; and a test merchant wants a test. */
  tidy(fields, chance) {
    if (!('integration' in fields) || chance === 0) return
    const ways = ['applepay', 'googlepay', 'mobilepay'].filter((name) => name in fields)
    for (const name of ways.slice(1)) delete fields[name]
    if (ways.length > 0) delete fields.card
    // What wallets have in these tests is of this amount.
    if (ways.includes('applepay')) fields.amount = { currency: 'EUR', exponent: 2, value: 1050 }
    fields.test ??= {}
    if (chance > 12) fields.plan ??= [monthly]
    if (chance < 19) delete fields.hints
  },
  authorization: () => authorizations,
  headers,
  headersFor,
  broken: fc.oneof(
    texts(
      '{',
      '[]',
      'null',
      '"x"',
      '',
      '{"amount":}',
      '7',
      '\ufeff{"amount":1}',
      '{"amount":1}{"amount":2}',
      'amount=1',
      'amount=%ff',
      '&=&',
    ),
    fc.constantFrom(
      Buffer.from('{"amount":1,"descriptor":"é"}', 'latin1'),
      Buffer.from('\ufeff{"amount":1}', 'utf16le'),
      Buffer.from([0xff, 0xfe, 0x7b]),
      Buffer.from('{"amount":1,"custom":{"a":"\ud83d"}}', 'utf8'),
      Buffer.alloc(1_048_577, '1'),
    ),
    fc.uint8Array({ maxLength: 60 }).map(Buffer.from),
  ),
  encoding: ({ path }) =>
    fc.oneof(
      { weight: speaksVersions(path) ? 80 : 5, arbitrary: fc.constant('json' as const) },
      { weight: 2, arbitrary: fc.constant('form' as const) },
    ),
})
