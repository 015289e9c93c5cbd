import fc from 'fast-check'
import { expect, test } from 'vitest'
import { clientAddress, networkOf } from './client-address.ts'

const from = (forwarded: string | undefined, peer = '10.9.8.7') =>
  clientAddress({ headers: { 'x-forwarded-for': forwarded }, peer })

test.each([
  ['203.0.113.5', '203.0.113.5'],
  ['203.0.113.5, 10.0.0.1, 10.0.0.2', '203.0.113.5'],
  [' 203.0.113.5 ,10.0.0.1', '203.0.113.5'],
  ['unknown, 203.0.113.5', '203.0.113.5'],
  [',, 203.0.113.5', '203.0.113.5'],
  ['203.0.113.5:4711, 198.51.100.1', '198.51.100.1'],
  ['2001:DB8::1', '2001:db8::1'],
  ['2001:0db8:0000:0000:0000:0000:0000:0001', '2001:db8::1'],
  ['::ffff:203.0.113.5', '203.0.113.5'],
  ['::FFFF:cb00:7105', '203.0.113.5'],
  ['0:0:0:0:0:ffff:203.0.113.5', '203.0.113.5'],
  ['::1', '::1'],
])('forwarded for %s is %s', (forwarded, address) => {
  expect(from(forwarded)).toBe(address)
})

test.each([
  ...[
    undefined,
    '',
    ' ',
    'unknown',
    'example.com',
    '256.1.1.1',
    '1.2.3',
    '01.2.3.4',
    '0x7f.0.0.1',
    '2130706433',
    '[::1]',
    'fe80::1%eth0',
  ],
  ...['1.2.3.4/24', "1.2.3.4'; drop table x", '::1]@evil', 'for=1.2.3.4', '_hidden', '\u0661.2.3.4'],
])('forwarded for %j, the peer counts', (forwarded) => {
  expect(from(forwarded)).toBe('10.9.8.7')
})

test.each([
  ['::ffff:127.0.0.1', '127.0.0.1'],
  ['::1', '::1'],
  ['fe80::1%eth0', 'fe80::1'],
  ['', undefined],
  ['/run/tollgate.sock', undefined],
])('the peer %j is %s', (peer, address) => {
  expect(from(undefined, peer)).toBe(address)
})

test('every address has one spelling, however it came', () => {
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (text) => {
      const address = from(text)
      expect(address).toBe(from(undefined, text))
      expect(from(address)).toBe(address)
    }),
  )
  fc.assert(fc.property(fc.ipV4(), (text) => void expect(from(`::ffff:${text}`)).toBe(text)))
})

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8::6', '2001:db8:0:0'],
  ['::1', '0:0:0:0'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  ['', ''],
])('%s counts for %s', (address, network) => {
  expect(networkOf(address)).toBe(network)
})
