import { inspect } from 'node:util'
import { compileInput, type Problem } from '@tollgate/kit/shape'
import Type from 'typebox'
import { expect, test } from 'vitest'
import {
  gatewayCardFields,
  readGatewayAmount,
  readGatewayCard,
  readGatewayCurrency,
  readGatewayDescriptor,
} from './gateway-order.ts'

/** As the server reads what is sent. */
const settle = compileInput(Type.Object(gatewayCardFields), {
  absent: (value) => value === null || value === false || value === '',
  convertJson: true,
  caseInsensitive: false,
  emptyLists: 'objects',
})

function read(sent: object) {
  const problems: Problem[] = []
  const card = settle(sent, 'json', problems)
  expect(problems).toEqual([])
  return readGatewayCard(card)
}

const good = { number: '4100 0000 0000 0000', expiry: { month: 8, year: 2031 }, code: '012' }

test('a card is read, without the spaces in its number', () => {
  const card = read(good)
  if ('refused' in card) throw new Error(`refused with ${card.refused}`)
  expect([card.number.reveal(), card.code.reveal(), card.month, card.year]).toEqual(['4100000000000000', '012', 8, 2031])
  expect(inspect(card) + JSON.stringify(card)).not.toMatch(/4100|012/)
})

test('texts of forms, and numbers where texts belong, will do', () => {
  const card = read({ number: 4100000000000000, expiry: { month: '08', year: '2031' }, code: 123 })
  if ('refused' in card) throw new Error(`refused with ${card.refused}`)
  expect([card.number.reveal(), card.code.reveal(), card.month, card.year]).toEqual(['4100000000000000', '123', 8, 2031])
})

test.each([
  ['no number', { ...good, number: undefined }, 17],
  ['an empty number', { ...good, number: '' }, 17],
  ['nothing at all', {}, 17],
  ['no expiry', { ...good, expiry: undefined }, 18],
  ['an empty list for an expiry, as PHP writes it', { ...good, expiry: [] }, 18],
  ['no month', { ...good, expiry: { year: 2031 } }, 18],
  ['no year', { ...good, expiry: { month: 8 } }, 19],
  ['no code', { ...good, code: null }, 20],
  ['a number of 11 digits', { ...good, number: '41000000000' }, 3],
  ['a number of 20 digits', { ...good, number: '4'.repeat(20) }, 3],
  ['letters', { ...good, number: '4100 0000 0000 000x' }, 3],
  ['digits of another alphabet', { ...good, number: '٤١٠٠٠٠٠٠٠٠٠٠٠٠٠٠' }, 3],
  ['a number that was rounded on its way', { ...good, number: 41000000000000000000 }, 3],
  ['a list for a number', { ...good, number: ['4100000000000000'] }, 3],
  ['an object for a number', { ...good, number: { $ne: 1 } }, 3],
  ['spaces for a number', { ...good, number: '   ' }, 3],
  ['month 0', { ...good, expiry: { month: 0, year: 2031 } }, 5],
  ['month 13', { ...good, expiry: { month: 13, year: 2031 } }, 5],
  ['half a month', { ...good, expiry: { month: 1.5, year: 2031 } }, 5],
  ['a year of two digits', { ...good, expiry: { month: 8, year: 31 } }, 5],
  ['a year far away', { ...good, expiry: { month: 8, year: 2100 } }, 5],
  ['words for a month', { ...good, expiry: { month: 'August', year: 2031 } }, 5],
  ['a list for a year', { ...good, expiry: { month: 8, year: [2031] } }, 5],
  ['a code of two digits', { ...good, code: '12' }, 4],
  ['a code of four digits', { ...good, code: '1234' }, 4],
  ['letters for a code', { ...good, code: 'abc' }, 4],
  ['a code with a line break behind it', { ...good, code: '123\n' }, 4],
])('%s', (_, sent, code) => {
  expect(read(sent)).toEqual({ refused: code })
})

test.each([
  [1, { amount: 1 }],
  ['1499', { amount: 1499 }],
  ['1499.0', { amount: 1499 }],
  [Number.MAX_SAFE_INTEGER, { amount: Number.MAX_SAFE_INTEGER }],
  [undefined, { refused: 15 }],
  [0, { refused: 14 }],
  [-5, { refused: 14 }],
  ['-5', { refused: 14 }],
  [1998.9999999999998, { refused: 14 }],
  ['1e3', { refused: 14 }],
  [' 5', { refused: 14 }],
  ['0x10', { refused: 14 }],
  [Number.NaN, { refused: 14 }],
  [Number.POSITIVE_INFINITY, { refused: 14 }],
  [true, { refused: 14 }],
  [[5], { refused: 14 }],
  [{}, { refused: 14 }],
  [2 ** 53, { refused: 22 }],
  ['99999999999999999999', { refused: 22 }],
])('an amount of %j: %j', (sent, read) => {
  expect(readGatewayAmount(sent)).toEqual(read)
})

test.each([
  ['EUR', { currency: 'EUR' }],
  [undefined, { refused: 16 }],
  ['eur', { refused: 1 }],
  ['HRK', { refused: 1 }],
  ['XXX', { refused: 1 }],
  [['EUR'], { refused: 1 }],
])('the currency %j: %j', (sent, read) => {
  expect(readGatewayCurrency(sent)).toEqual(read)
})

test.each([
  [undefined, { descriptor: undefined }],
  ['Coffee & John', { descriptor: 'Coffee & John' }],
  ['x'.repeat(22), { descriptor: 'x'.repeat(22) }],
  ['x'.repeat(23), { refused: 13 }],
  ['Smørrebrød', { refused: 13 }],
  ['two\nlines', { refused: 13 }],
  [7, { refused: 13 }],
])('the descriptor %j: %j', (sent, read) => {
  expect(readGatewayDescriptor(sent)).toEqual(read)
})
