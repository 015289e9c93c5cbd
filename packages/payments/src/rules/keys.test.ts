import { expect, test } from 'vitest'
import { hashKey } from './keys.ts'

test('a key is kept as its SHA-256', () => {
  expect(hashKey('abc').toString('hex')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
})

test('keys that differ in case alone have different hashes', () => {
  expect(hashKey('ABC')).not.toEqual(hashKey('abc'))
})
