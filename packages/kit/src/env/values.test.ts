import { expect, test } from 'vitest'
import {
  Complaint,
  parseAddress,
  parseChoice,
  parseFlag,
  parseList,
  parseNumber,
  parsePairs,
  parseSeconds,
  parseWhole,
} from './values.ts'

const refused = expect.any(Complaint)

test.each<[string, unknown]>([
  ...['true', 'TRUE', 't', '1', 'yes', 'Y', 'on'].map((text): [string, unknown] => [text, true]),
  ...['false', 'False', 'f', '0', 'no', 'N', 'off'].map((text): [string, unknown] => [text, false]),
  ...['2', 'ja', 'truee', 'true false', 'null'].map((text): [string, unknown] => [text, refused]),
])('the flag %s is %s', (text, expected) => {
  expect(parseFlag(text)).toEqual(expected)
})

test.each<[string, unknown]>([
  ['0', 0],
  ['-0', 0],
  ['007', 7],
  ['9007199254740991', Number.MAX_SAFE_INTEGER],
  ...['9007199254740992', '-1', '1.0', '1e3', '0x10', '٣', '1 2', '', 'NaN', 'Infinity'].map((text): [string, unknown] => [
    text,
    refused,
  ]),
])('the whole number %s is %s', (text, expected) => {
  expect(parseWhole(text, {})).toEqual(expected)
})

test('the ends of a range belong to it, and a complaint names them', () => {
  const range = { min: -2, max: 5 }
  expect(['-3', '-2', '5', '6'].map((text) => parseWhole(text, range) instanceof Complaint)).toEqual([true, false, false, true])
  expect(parseWhole('6', range)).toEqual(new Complaint('a whole number from -2 to 5'))
  expect(parseNumber('5.01', range)).toEqual(new Complaint('a number from -2 to 5'))
  expect(parseNumber('-1.5', range)).toBe(-1.5)
  expect(parseSeconds('5m', { min: 1, max: 60 })).toEqual(
    new Complaint('seconds or a duration such as 1h30m, at least 1s, at most 60s'),
  )
})

test('no lifetime is longer than a date can hold', () => {
  expect(parseSeconds('876000h', {})).toBe(876_000 * 3600)
  expect(parseSeconds('999999999999h', {})).toEqual(refused)
})

test('a choice is found whatever its case', () => {
  expect(parseChoice('DEBUG', ['info', 'debug'])).toBe('debug')
  expect(parseChoice('trace', ['info', 'debug'])).toEqual(new Complaint('one of info, debug'))
})

test.each([
  ['a, b,,c ,', ['a', 'b', 'c']],
  [' , ', []],
])('the list "%s" is %j', (text, expected) => {
  expect(parseList(text)).toEqual(expected)
})

test.each<[string, unknown]>([
  ['a:1, b=2', { a: '1', b: '2' }],
  ['url:https://a.test:80/x', { url: 'https://a.test:80/x' }],
  ['a:1,a:2', { a: '2' }],
  ['a:', { a: '' }],
])('the pairs "%s" are %j', (text, expected) => {
  expect({ ...(parsePairs(text) as object) }).toEqual(expected)
})

test.each(['a', ':1', 'a:1,b'])('"%s" are no pairs', (text) => {
  expect(parsePairs(text)).toEqual(refused)
})

test('pairs have only what was set, even under the names of an object', () => {
  const pairs = parsePairs('a:1,__proto__:x') as Record<string, string>
  expect(pairs.constructor).toBeUndefined()
  expect(Object.keys(pairs)).toEqual(['a', '__proto__'])
})

test.each([
  ['https://a.test', true],
  ['HTTP://A.test:8080/path?x=1', true],
  ['http://[::1]:9999', true],
  ['a.test', false],
  ['ftp://a.test', false],
  ['javascript:alert(1)//http://', false],
  ['https://', false],
  ['https://a test', false],
  ['https://a.test/\nx', false],
  ['https://a.test/ x', false],
])('the address %s is taken: %s', (text, taken) => {
  expect(parseAddress(text) instanceof Complaint).toBe(!taken)
})
