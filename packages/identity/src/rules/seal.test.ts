import { createSecretKey, randomBytes } from 'node:crypto'
import { Secret } from '@tollgate/kit/secret'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { seal, unseal } from './seal.ts'

const key = new Secret(createSecretKey(randomBytes(32)))

test('what was sealed can be read again, with the same key and in the same place', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.jsonValue(), (place, value) => {
      const sealed = seal(key, place, value)
      expect(unseal(key, place, sealed)).toEqual(JSON.parse(JSON.stringify(value)))
      expect(unseal(key, place, new Uint8Array(sealed))).toEqual(JSON.parse(JSON.stringify(value)))
    }),
  )
})

test('not with another key', () => {
  const sealed = seal(key, 'here', { code: '123456' })
  expect(() => unseal(new Secret(createSecretKey(randomBytes(32))), 'here', sealed)).toThrow()
})

test('not in another place', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (one, other) => {
      fc.pre(one !== other)
      const sealed = seal(key, one, 'value')
      expect(() => unseal(key, other, sealed)).toThrow()
    }),
  )
})

test('not when a single bit was changed, wherever it is', () => {
  const sealed = seal(key, 'here', { code: '123456' })
  for (let bit = 0; bit < sealed.length * 8; bit++) {
    const touched = Buffer.from(sealed)
    touched[bit >> 3] = (touched[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    expect(() => unseal(key, 'here', touched)).toThrow()
  }
})

test('not when some of it is missing, or more was put to it', () => {
  const sealed = seal(key, 'here', { code: '123456' })
  for (let length = 0; length < sealed.length; length++) {
    expect(() => unseal(key, 'here', sealed.subarray(0, length))).toThrow()
  }
  expect(() => unseal(key, 'here', Buffer.concat([sealed, Buffer.alloc(1)]))).toThrow()
})

test('the same thing looks different every time, and says nothing of what it is', () => {
  const value = { code: '123456', to: 'ann@people.test' }
  const all = Array.from({ length: 200 }, () => seal(key, 'here', value))
  expect(new Set(all.map((sealed) => sealed.toString('hex'))).size).toBe(200)
  expect(new Set(all.map((sealed) => sealed.subarray(0, 12).toString('hex'))).size).toBe(200)
  for (const sealed of all) expect(sealed.toString('latin1')).not.toMatch(/123456|people/)
})
