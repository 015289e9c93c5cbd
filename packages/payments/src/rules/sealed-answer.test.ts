import { expect, test } from 'vitest'
import { sealAnswer, unsealAnswer } from './sealed-answer.ts'

const claim = { ownerId: '0'.repeat(24), key: 'k-1', keyHash: '', fingerprint: Buffer.alloc(32), method: 'POST', path: '/apps' }

test('an answer comes back with the key that it was sealed with', () => {
  const sealed = sealAnswer(claim, { app: { key: 'swordfish' } })
  expect(sealed.toString('latin1')).not.toContain('swordfish')
  expect(unsealAnswer(claim, sealed)).toEqual({ app: { key: 'swordfish' } })
})

test.each([
  ['another key', { ...claim, key: 'k-2' }],
  ['another owner', { ...claim, ownerId: '1'.repeat(24) }],
])('%s opens nothing', (_, other) => {
  const sealed = sealAnswer(claim, 'x')
  expect(() => unsealAnswer(other, sealed)).toThrow()
})

test('the same answer is never sealed to the same bytes', () => {
  expect(sealAnswer(claim, 'x')).not.toEqual(sealAnswer(claim, 'x'))
})
