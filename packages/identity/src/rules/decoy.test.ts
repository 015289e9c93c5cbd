import { createSecretKey } from 'node:crypto'
import { Secret } from '@tollgate/kit/secret'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decoyId } from './decoy.ts'

const secret = new Secret(createSecretKey(Buffer.from('a secret of the test')))
const address = 'ada@example.com'

test('an address has the same id every time, and another has another', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (one, other) => {
      expect(decoyId(secret, one)).toBe(decoyId(new Secret(secret.reveal()), one))
      expect(decoyId(secret, one) === decoyId(secret, other)).toBe(one === other)
    }),
  )
})

test('it looks like a random UUID', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(decoyId(secret, text)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    }),
  )
})

test('every free bit of it is set half of the time', () => {
  const total = 4000
  const counts = new Array<number>(128).fill(0)
  for (let number = 0; number < total; number++) {
    const bits = BigInt(`0x${decoyId(secret, `user${number}@example.com`).replaceAll('-', '')}`)
    for (let bit = 0; bit < 128; bit++) if ((bits >> BigInt(bit)) & 1n) counts[127 - bit] = (counts[127 - bit] ?? 0) + 1
  }
  // Version and variant: 0100 at 48, 10 at 64.
  const fixed = new Map([48, 49, 50, 51, 64, 65].map((bit) => [bit, bit === 49 || bit === 64 ? total : 0]))
  for (const [bit, count] of counts.entries()) {
    if (fixed.has(bit)) expect([bit, count]).toEqual([bit, fixed.get(bit)])
    else expect(Math.abs(count - total / 2)).toBeLessThan(total * 0.05)
  }
})

test('another secret gives another id, and so does another part', () => {
  const ids = [
    decoyId(secret, address),
    decoyId(new Secret(createSecretKey(Buffer.from('another'))), address),
    decoyId(secret, address, 'identity'),
  ]
  expect(new Set(ids).size).toBe(3)
})
