import { testCards } from '@tollgate/payments/rules/test-cards'
import fc from 'fast-check'
import { callMaker, deep, heard, raw, sayable, texts, usually } from './fuzz-calls.ts'

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

const byName: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
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

/** Requests to an endpoint of the payments service. */
export const paymentsCallOf = callMaker({
  byName,
  seldom: new Set([
    ...['currency', 'before', 'after', 'test', 'authorizationId', 'cardId', 'tds', 'due', 'reported', 'reason', 'custom', 'at'],
    // What a merchant cannot change.
    ...['id', 'key', 'website', 'created', 'company', 'bank', 'claim', 'pricing'],
  ]),
  strangeNames: ['extra', '__proto__', 'constructor', 'Amount', 'amount[]', 'toString', 'sort', 'skip'],
  objects: customs,
  tidy() {},
  authorization: () => authorizations,
  headers,
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
  encoding: fc.oneof(
    { weight: 5, arbitrary: fc.constant('json' as const) },
    { weight: 2, arbitrary: fc.constant('form' as const) },
  ),
})
