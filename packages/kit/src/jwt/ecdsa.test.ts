import { generateKeyPairSync, sign, verify } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fromDer, toDer } from './ecdsa.ts'

describe.each([
  { curve: 'P-256', size: 32 },
  { curve: 'P-521', size: 66 },
])('$curve', ({ curve, size }) => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: curve })
  const data = Buffer.from('data')
  const key = { key: publicKey, dsaEncoding: 'ieee-p1363' as const }

  test('what we make of DER is what Node verifies as r‖s, and the way back leads to the same DER', () => {
    for (let round = 0; round < 50; round++) {
      const der = sign('sha256', data, privateKey)
      const signature = fromDer(der, size)
      expect(verify('sha256', data, key, signature)).toBe(true)
      expect(toDer(signature).equals(der)).toBe(true)
    }
  })

  test('every pair of numbers survives the way there and back, however many zeros or high bits it begins with', () => {
    const number = fc
      .tuple(fc.constantFrom(0, 1, 2, size - 1, size), fc.uint8Array({ minLength: size, maxLength: size }))
      .map(([zeros, digits]) => Buffer.concat([Buffer.alloc(zeros), digits]).subarray(0, size))
    fc.assert(
      fc.property(number, number, (r, s) => {
        const signature = Buffer.concat([r, s])
        expect(fromDer(toDer(signature), size).equals(signature)).toBe(true)
      }),
      { numRuns: 500 },
    )
  })
})
