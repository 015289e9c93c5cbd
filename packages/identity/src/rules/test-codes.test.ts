import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseTestCodes } from './test-codes.ts'

test.each<[string, Record<string, string>]>([
  ['4512345678:123456', { '4512345678': '123456' }],
  ['4512345678=123456', { '4512345678': '123456' }],
  ['+45 12 34 56 78:123456', { '4512345678': '123456' }],
  ['+1 (555) 0100000 : 000000 , 4587654321: 654321,', { '15550100000': '000000', '4587654321': '654321' }],
  ['4512345678:1234', { '4512345678': '1234' }],
  ['4512345678:1234567890', { '4512345678': '1234567890' }],
  ['4512345678:111111,+4512345678:222222', { '4512345678': '222222' }],
  ['', {}],
  [' , ', {}],
])('%s names %j', (text, codes) => {
  expect(parseTestCodes(text)).toEqual(new Map(Object.entries(codes)))
})

test.each([
  '4512345678',
  '4512345678:',
  ':123456',
  '4512345678:123',
  '4512345678:12345678901',
  '4512345678:abcdef',
  '4512345678:12 34 56',
  '0123456789:123456',
  '4:123456',
  '1234567890123456:123456',
  'ann@site.test:123456',
  '4512345678:123456:7',
  '4512345678:123456;4587654321:654321',
  '4512345678:١٢٣٤٥٦',
  '4512345678:123456,nonsense',
])('%s is refused, and it is said what is wanted', (text) => {
  expect(parseTestCodes(text)).toEqual({ expected: 'pairs of a number and a code of 4 to 10 digits, divided by commas' })
})

test('any pairs of numbers and codes are read, however they are written', () => {
  const phone = fc.stringMatching(/^[1-9]\d{1,14}$/)
  const code = fc.stringMatching(/^\d{4,10}$/)
  fc.assert(
    fc.property(fc.uniqueArray(fc.tuple(phone, code), { selector: ([number]) => number }), (pairs) => {
      const text = pairs.map(([number, word]) => ` +${number} : ${word}`).join(' ,')
      expect(parseTestCodes(text)).toEqual(new Map(pairs))
    }),
  )
})
