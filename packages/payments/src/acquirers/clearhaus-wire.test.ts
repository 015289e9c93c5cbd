import { Secret } from '@tollgate/kit/secret'
import { describe, expect, test } from 'vitest'
import { amountThere, declineOf, listIn, resultIn, speakable, statement } from './clearhaus-wire.ts'

test.each<[string, number, object]>([
  ['EUR', 1999, { amount: 1999 }],
  ['JPY', 1999, { amount: 1999 }],
  ['KWD', 1999, { amount: 1999 }],
  ['HUF', 1999, { amount: 1999 }],
  ['EUR', 0, { amount: 0 }],
  ['ISK', 199_900, { amount: 1999 }],
  ['ISK', 199_950, { refused: 14 }],
  ['ISK', 99_999_999_900, { amount: 999_999_999 }],
  ['ISK', 100_000_000_000, { refused: 22 }],
  ['EUR', 999_999_999, { amount: 999_999_999 }],
  ['EUR', 1_000_000_000, { refused: 22 }],
  ['EUR', Number.MAX_SAFE_INTEGER, { refused: 22 }],
  ['BYR', 100, { refused: 1 }],
  ['XXX', 100, { refused: 1 }],
  ['constructor', 100, { refused: 1 }],
])('%s %i is told as %j', (currency, amount, expected) => {
  expect(amountThere(currency, amount)).toEqual(expected)
})

describe('statements', () => {
  test.each(['Coffee shop', 'ab1', 'aab', 'A1', '12a', 'ox', `${'x'.repeat(21)}y`, '12345 '])('%j is told', (text) => {
    expect(statement(text)).toEqual({ text_on_statement: text })
  })

  test.each([
    undefined,
    '',
    'a',
    '1',
    '42',
    '1234567897891234',
    'aa',
    '    ',
    '!!!!',
    'abc',
    'hi',
    'XYZ',
    'cba',
    'é!',
    'a\nb',
    'ok'.repeat(12),
  ])('%j is left out', (text) => {
    expect(statement(text)).toEqual({})
  })
})

test('a status that nobody knows refuses when it looks like a refusal, and else says nothing', () => {
  expect([40499, 50001, 59999].map(declineOf)).toEqual([12, 12, 12])
  for (const status of [0, 200, 20000, 20001, 39999, 60000, 40410.5, Number.NaN]) expect(declineOf(status)).toBeUndefined()
})

test('a result is a number with an id beside it, and nothing else is', () => {
  const id = '84412a34-fa29-4369-a098-0165a80e8fda'
  expect(resultIn({ id, status: { code: 20000, message: 'fine' }, amount: 5 })).toEqual({
    id,
    code: 20000,
    message: 'fine',
    amount: 5,
  })
  expect(resultIn({ id: `${id}/voids`, status: { code: 1, message: {} }, amount: '5' })).toEqual({ code: 1 })
  for (const body of [undefined, null, 5, 'x', [], {}, { status: null }, { status: 5 }, { status: { code: '20000' } }])
    expect(resultIn(body)).toBeUndefined()
})

test('a list is whole, and of results alone', () => {
  const one = { status: { code: 20000 } }
  expect(listIn({ _embedded: { voids: [] } }, 'voids')).toEqual([])
  expect(listIn({ _embedded: { voids: [one] } }, 'voids')).toHaveLength(1)
  for (const body of [
    ...[
      undefined,
      {},
      { _embedded: null },
      { _embedded: 'voids' },
      { _embedded: { captures: [] } },
      { _embedded: { voids: {} } },
    ],
    ...[{ _embedded: { voids: [one, {}] } }, { _embedded: { voids: [one] }, _links: { next: { href: '/more' } } }],
  ])
    expect(listIn(body as object | undefined, 'voids')).toBeUndefined()
})

test('words are passed on without numbers, keys and line breaks', () => {
  const key = new Secret('some-key')
  expect(speakable("parameter 'amount' is required", [key])).toBe("parameter 'amount' is required")
  expect(speakable('not (fully 3dsecure)\nor so', [key])).toBe('not (fully 3dsecure) or so')
  expect(speakable('x'.repeat(500), [key])).toHaveLength(200)
  for (const words of [undefined, 'card 4111111111111111', '123', '1 2 3', '1-2-3', 'it was some-key'])
    expect(speakable(words, [key])).toBeUndefined()
})
