import { BlockList, isIPv4 } from 'node:net'

/** https://www.iana.org/assignments/iana-ipv4-special-registry, multicast, the reserved rest, and a metadata service beside them. */
const specialIpv4 = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.31.196.0/24', '192.52.193.0/24', '192.88.99.0/24', '192.168.0.0/16', '192.175.48.0/24'],
  ...['198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4', '168.63.129.16/32'],
]

/** https://www.iana.org/assignments/iana-ipv6-special-registry, as far as it lies in what is otherwise public. */
const specialIpv6 = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20']

/** IPv4 in the clothes of IPv6: mapped, and behind the well-known translator, which leads to wherever the inner address does. */
const wrappers = ['::ffff:', '64:ff9b::']

const ordinary = new BlockList()
ordinary.addSubnet('2000::', 3, 'ipv6')
for (const wrapper of wrappers) ordinary.addSubnet(`${wrapper}0.0.0.0`, 96, 'ipv6')

const special = new BlockList()
for (const [address, bits] of specialIpv4.map(split)) {
  special.addSubnet(address, bits, 'ipv4')
  for (const wrapper of wrappers) special.addSubnet(`${wrapper}${address}`, 96 + bits, 'ipv6')
}
for (const [address, bits] of specialIpv6.map(split)) special.addSubnet(address, bits, 'ipv6')

/** Whether an address, spelt as the system spells addresses, belongs to the public internet. */
export function isPublic(address: string): boolean {
  if (isIPv4(address)) return !special.check(address, 'ipv4')
  // A zone names one of our own network cards.
  if (address.includes('%')) return false
  return ordinary.check(address, 'ipv6') && !special.check(address, 'ipv6')
}

function split(subnet: string): [string, number] {
  const [address = '', bits] = subnet.split('/')
  return [address, Number(bits)]
}
