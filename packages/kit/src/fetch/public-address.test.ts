import { isIP } from 'node:net'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isPublic } from './public-address.ts'

const inside = [
  ...['0.0.0.0', '0.1.2.3', '10.0.0.1', '10.255.255.255', '100.64.0.1', '100.100.100.200', '100.127.255.255', '127.0.0.1'],
  ...['127.255.255.254', '168.63.129.16', '169.254.0.1', '169.254.169.254', '169.254.170.2', '172.16.0.1', '172.31.255.255'],
  ...['192.0.0.8', '192.0.0.192', '192.0.2.1', '192.88.99.1', '192.168.0.1', '192.168.255.255', '198.18.0.1', '198.19.255.255'],
  ...['198.51.100.7', '203.0.113.9', '224.0.0.1', '239.255.255.250', '240.0.0.1', '255.255.255.255'],
]

const outside = [
  ...['1.1.1.1', '8.8.8.8', '9.255.255.255', '11.0.0.1', '100.63.255.255', '100.128.0.1', '126.255.255.255', '128.0.0.1'],
  ...['168.63.129.15', '169.253.255.255', '169.255.0.1', '172.15.255.255', '172.32.0.1', '192.0.1.1', '192.167.255.255'],
  ...['192.169.0.1', '198.17.255.255', '198.20.0.1', '223.255.255.255'],
]

describe('IPv4', () => {
  test.each(inside)('%s is not public, in whatever clothes', (address) => {
    for (const spelt of [address, `::ffff:${address}`, `64:ff9b::${address}`])
      expect([spelt, isPublic(spelt)]).toEqual([spelt, false])
  })

  test.each(outside)('%s is public, mapped and translated too', (address) => {
    for (const spelt of [address, `::ffff:${address}`, `64:ff9b::${address}`])
      expect([spelt, isPublic(spelt)]).toEqual([spelt, true])
  })

  test('the clothes never change the verdict', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        expect(isPublic(`::ffff:${address}`)).toBe(isPublic(address))
        expect(isPublic(`64:ff9b::${address}`)).toBe(isPublic(address))
      }),
    )
  })
})

describe('IPv6', () => {
  test.each([
    ...[
      '::',
      '::1',
      '0:0:0:0:0:0:0:1',
      '::7f00:1',
      '::127.0.0.1',
      '::8.8.8.8',
      '::ffff:7f00:1',
      '::ffff:a9fe:a9fe',
      '::ffff:0:127.0.0.1',
    ],
    ...[
      '64:ff9b::7f00:1',
      '64:ff9b::a9fe:a9fe',
      '64:ff9b:1::8.8.8.8',
      '100::1',
      '2001::1',
      '2001:10::1',
      '2001:20::1',
      '2001:db8::1',
    ],
    ...[
      '2002:7f00:1::',
      '2002:808:808::1',
      '3fff::1',
      '4000::1',
      '5f00::1',
      'fc00::1',
      'fd00::1',
      'fd00:ec2::254',
      'fdff:ffff::1',
    ],
    ...[
      'fe80::1',
      'fe80::1%eth0',
      '2606:4700::1111%lo',
      'febf::1',
      'fec0::1',
      'ff00::1',
      'ff02::1',
      'ff0e::1',
      'FE80::1',
      'FD00::1',
    ],
  ])('%s is not public', (address) => {
    expect(isPublic(address)).toBe(false)
  })

  test.each(['2606:4700:4700::1111', '2001:4860:4860::8888', '2a00:1450:4001::200e', '2620:fe::fe', '2001:200::1'])(
    '%s is public',
    (address) => {
      expect(isPublic(address)).toBe(true)
    },
  )

  test('nothing outside of 2000::/3 and the two wrappers is public', () => {
    fc.assert(
      fc.property(fc.ipV6(), (address) => {
        fc.pre(isIP(address) === 6)
        const { hostname } = new URL(`http://[${address}]`)
        if (isPublic(address)) expect(hostname).toMatch(/^\[([23][0-9a-f]{3}:|::ffff:|64:ff9b::)/)
      }),
    )
  })
})
