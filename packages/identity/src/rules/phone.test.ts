import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parsePhone, stripPhone } from './phone.ts'

test.each([
  ['+15550100123', '15550100123'],
  ['15550100123', '15550100123'],
  ['+1 555 010 0123', '15550100123'],
  [' +1 (555) 010 0123 ', '15550100123'],
  ['(+1) 555 0100123', '15550100123'],
  ['+ 49 30 123456', '4930123456'],
  ['12', '12'],
  ['123456789012345', '123456789012345'],
])('%j is %s', (text, phone) => {
  expect(parsePhone(text)).toBe(phone)
})

test.each([
  ...['', ' ', '+', '()', '1', '+1', '0', '015550100123', '+015550100123', '0015550100123', '1234567890123456', '++15550100123'],
  ...[
    '1+5550100123',
    '15550100123+',
    '1-555-010-0123',
    '1.555.010.0123',
    '1555010012x',
    'phone',
    '+1555#',
    '1555,1556',
    '15550100123\n',
  ],
  ...[
    '\t15550100123',
    '1555\u00a00100',
    '\u0661\u0662\u0663\u0664',
    '\uff11\uff12\uff13',
    '1e10',
    '0x1234',
    '-15550100',
    '[1]555',
  ],
])('%j is no phone number', (text) => {
  expect(parsePhone(text)).toEqual({ message: 'Invalid phone number format (E.164 required)' })
})

test('stripping checks nothing', () => {
  expect(stripPhone('+0 (x) 1')).toBe('0x1')
})

test('however a number is written, it is the same number', () => {
  const number = fc.stringMatching(/^[1-9][0-9]{1,14}$/)
  const decoration = fc.array(fc.constantFrom('', ' ', '(', ')'), { minLength: 16, maxLength: 16 })
  fc.assert(
    fc.property(number, decoration, fc.boolean(), (phone, between, plus) => {
      const written = Array.from(phone, (digit, at) => `${between[at]}${digit}`).join('')
      expect(parsePhone(plus ? `+${written}` : written)).toBe(phone)
    }),
  )
})
