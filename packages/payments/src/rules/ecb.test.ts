import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fundingCurrencies } from './currencies.ts'
import { mostBytes, readReferenceRates } from './ecb.ts'
import { rateBetween } from './exchange.ts'
import { shippedRates } from './shipped-rates.ts'

const head = `<?xml version="1.0" encoding="UTF-8"?>
<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01" xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref">
\t<gesmes:subject>Reference rates</gesmes:subject>
\t<gesmes:Sender>
\t\t<gesmes:name>European Central Bank</gesmes:name>
\t</gesmes:Sender>
\t<Cube>
`
const tail = '\n\t</Cube>\n</gesmes:Envelope>\n'

/** A document as it is published: with single quotes. */
const daily = `${head}\t\t<Cube time='2030-01-02'>
\t\t\t<Cube currency='USD' rate='1.0705'/>
\t\t\t<Cube currency='JPY' rate='171.94'/>
\t\t</Cube>${tail}`

function around(days: string): string {
  return head + days + tail
}

test('the rates of a day are read', () => {
  expect(readReferenceRates(daily, 'ecb')).toEqual([
    {
      source: 'ecb',
      day: '2030-01-02',
      perEuro: new Map([
        ['USD', '1.0705'],
        ['JPY', '171.94'],
      ]),
    },
  ])
})

test('a history, which has double quotes and one line, is read from its newest day', () => {
  const history = around(
    '<Cube time="2030-01-02"><Cube currency="USD" rate="1.07"/></Cube>' +
      '<Cube time="2030-01-04"><Cube currency="USD" rate="1.09"/><Cube currency="SEK" rate="11"/></Cube>' +
      '<Cube time="2030-01-03"><Cube currency="USD" rate="1.08"/></Cube>',
  )
  const sets = readReferenceRates(history, 'ecb')
  expect(sets.map((set) => set.day)).toEqual(['2030-01-04', '2030-01-03', '2030-01-02'])
  expect(sets[0]?.perEuro.get('SEK')).toBe('11')
  expect(sets[2]?.perEuro.get('USD')).toBe('1.07')
})

test('a byte order mark and Windows line ends are no matter', () => {
  expect(readReferenceRates(`\uFEFF${daily.replaceAll('\n', '\r\n')}`, 'ecb')).toHaveLength(1)
})

test.each(
  [
    [
      '0',
      '0.0000',
      '-1.07',
      '+1.07',
      '1e5',
      '1.',
      '.5',
      '1,07',
      ' 1.07',
      '',
      'N/A',
      'NaN',
      'Infinity',
      '1234567890',
      '0x10',
      '1.0705.1',
    ],
  ].flat(),
)('a rate of %j is refused', (rate) => {
  expect(() => readReferenceRates(daily.replace('1.0705', rate), 'ecb')).toThrow(
    '2030-01-02 has a rate of USD that cannot be one',
  )
})

test.each(['usd', 'US', 'USDT', 'EUR', '', '&usd;', 'U D'])('a currency of %j is refused', (currency) => {
  expect(() => readReferenceRates(daily.replace('USD', currency), 'ecb')).toThrow('2030-01-02 has a currency that cannot be one')
})

test.each(['2030-02-30', '2030-13-01', '2030-00-10', '2029-02-29', '0000-00-00'])('%s is not a day', (day) => {
  expect(() => readReferenceRates(daily.replace('2030-01-02', day), 'ecb')).toThrow(`${day} is not a day`)
})

test.each([
  ['nothing', ''],
  ['a page that wants somebody to sign in', '<!doctype html><html><body>Sign in</body></html>'],
  ['a page without a doctype', '<html><body>Sign in</body></html>'],
  ['JSON', '{"rates":{"USD":1.07}}'],
  ['no cube', `${head.replace('<Cube>', '')}</gesmes:Envelope>`],
  ['no days', around('')],
  ['a day without rates', around('<Cube time="2030-01-02"></Cube>')],
  ['a day that does not end', around('<Cube time="2030-01-02"><Cube currency="USD" rate="1.07"/>')],
  ['rates without a day', around('<Cube currency="USD" rate="1.07"/>')],
  ['a date as people write it', daily.replace('2030-01-02', '02.01.2030')],
  ['quotes that do not match', daily.replace("'USD'", `'USD"`)],
  ['no quotes', daily.replace("'USD'", 'USD')],
  ['another element among the rates', daily.replace("<Cube currency='JPY'", "<script/><Cube currency='JPY'")],
  ['text among the rates', daily.replace("<Cube currency='JPY'", "and <Cube currency='JPY'")],
  ['a currency twice', daily.replace('JPY', 'USD')],
  ['a day twice', around('<Cube time="2030-01-02"><Cube currency="USD" rate="1"/></Cube>'.repeat(2))],
  ['an entity', daily.replace('<gesmes:Envelope', '<!DOCTYPE x [<!ENTITY usd "USD">]><gesmes:Envelope')],
  ['a comment', daily.replace('<Cube>', '<Cube><!-- 1.08 -->')],
  ['CDATA', daily.replace('Reference rates', '<![CDATA[<Cube>]]>')],
  ['something after its end', `${daily}<gesmes:Envelope>`],
  ['two documents', daily + daily],
])('a document with %s is refused', (_, text) => {
  expect(() => readReferenceRates(text, 'ecb')).toThrow()
})

test('a document that was cut off anywhere is refused', () => {
  const whole = daily.trimEnd()
  fc.assert(
    fc.property(fc.integer({ min: 0, max: whole.length - 1 }), (length) => {
      expect(() => readReferenceRates(whole.slice(0, length), 'ecb')).toThrow()
    }),
    { numRuns: whole.length },
  )
})

test('whatever is done to a document, it is read rightly or refused', () => {
  const damage = fc.tuple(
    fc.integer({ min: 0, max: daily.length }),
    fc.integer({ min: 0, max: 40 }),
    fc.string({ maxLength: 20 }),
  )
  fc.assert(
    fc.property(damage, ([place, length, instead]) => {
      const sets = readOrRefuse(daily.slice(0, place) + instead + daily.slice(place + length))
      for (const { day, perEuro } of sets) {
        expect(day).toMatch(/^\d{4}-\d\d-\d\d$/)
        expect([...perEuro].every(([currency, rate]) => /^[A-Z]{3}$/.test(currency) && Number(rate) > 0)).toBe(true)
      }
    }),
    { numRuns: 2000 },
  )
})

function readOrRefuse(text: string) {
  try {
    return readReferenceRates(text, 'ecb')
  } catch (problem) {
    expect(problem).toBeInstanceOf(Error)
    return []
  }
}

test('more than ten million bytes are refused before anything is looked for in them', () => {
  expect(() => readReferenceRates(around(' '.repeat(mostBytes)), 'ecb')).toThrow('longer than 10000000 bytes')
})

test.each([
  ['cubes', '<Cube>'],
  ['cube ends', '</Cube>'],
  ['beginnings of days', '<Cube time="2030-01-02">'],
  ['blanks', ' '],
  ['line ends before a cube', `${'\n'.repeat(100)}<Cube `],
])('a document full of %s is refused in no time', (_, part) => {
  const text = around(part.repeat(Math.floor(9_000_000 / part.length)))
  const started = performance.now()
  expect(() => readReferenceRates(text, 'ecb')).toThrow()
  expect(performance.now() - started).toBeLessThan(2000)
})

test('the set that is shipped has a rate for whatever merchants are paid in', () => {
  expect(shippedRates).toMatchObject({ source: 'shipped', day: '2024-06-28' })
  expect(shippedRates.perEuro.size).toBe(30)
  const missing = fundingCurrencies.filter((currency) => rateBetween(shippedRates, 'USD', currency) === undefined)
  expect(missing).toEqual([])
})
