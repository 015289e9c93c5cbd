import { expect, test } from 'vitest'
import { hashKey, newKey } from './keys.ts'

test('a key is kept as its SHA-256', () => {
  expect(hashKey('abc').toString('hex')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
})

test('keys that differ in case alone have different hashes', () => {
  expect(hashKey('ABC')).not.toEqual(hashKey('abc'))
})

test('a key looks like a UUID, and all of its 128 bits are left to chance', () => {
  const keys = Array.from({ length: 80 }, newKey)
  for (const key of keys) expect(key).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  const bits = keys.map((key) => BigInt(`0x${key.replaceAll('-', '')}`))
  const all = 2n ** 128n - 1n
  expect([bits.reduce((sum, each) => sum | each), bits.reduce((sum, each) => sum & each)]).toEqual([all, 0n])
})
