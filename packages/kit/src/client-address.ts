import { isIP } from 'node:net'
import type { Incoming } from './endpoint.ts'

/** Where a request comes from: the first address that proxies name in X-Forwarded-For, or else whoever connected to us. */
export function clientAddress({ headers, peer }: Pick<Incoming, 'headers' | 'peer'>): string | undefined {
  const forwarded = headers['x-forwarded-for']
  const named = (Array.isArray(forwarded) ? forwarded.join() : (forwarded ?? '')).split(',')
  for (const text of named) {
    const address = normalise(text.trim())
    if (address !== undefined) return address
  }
  // The zone of a link-local peer is the name of one of our network cards, and nothing about the caller.
  return normalise(peer.replace(/%.*$/, ''))
}

/** One spelling an address, and plain IPv4 where that is what is meant; undefined for what is no address. */
function normalise(text: string): string | undefined {
  const version = isIP(text)
  if (version === 4) return text
  if (version === 0 || text.includes('%')) return undefined
  const address = new URL(`http://[${text}]`).hostname.slice(1, -1)
  const [, high, low] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(address) ?? []
  if (high === undefined || low === undefined) return address
  return [high, low].flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]).join('.')
}

/** Whom an address counts for: whoever has one of IPv6 usually has the 2^64 beside it, too. */
export function networkOf(address: string): string {
  const plain = normalise(address.replace(/%.*$/, '')) ?? address
  if (isIP(plain) !== 6) return plain
  const [head = '', tail] = plain.split('::')
  const groups = head === '' ? [] : head.split(':')
  const rest = tail === undefined || tail === '' ? [] : tail.split(':')
  const gap = tail === undefined ? 0 : 8 - groups.length - rest.length
  return [...groups, ...new Array<string>(gap).fill('0'), ...rest].slice(0, 4).join(':')
}
