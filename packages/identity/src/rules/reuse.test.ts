import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { reuse, type Verdict } from './reuse.ts'

const revokedAt = new Date('2030-01-02T03:04:05.678Z')
const after = (seconds: number) => new Date(revokedAt.getTime() + seconds * 1000)

const tokens = {
  valid: { revoked: false, childIsActive: false, revokedAt },
  previous: { revoked: true, childIsActive: true, revokedAt },
  older: { revoked: true, childIsActive: false, revokedAt },
}

type Row = [token: keyof typeof tokens, seconds: number, verdict: Verdict]

describe('with rotation and an interval of 10 seconds', () => {
  test.each<Row>([
    ['valid', 0, 'rotate'],
    ['valid', 1e9, 'rotate'],
    ['previous', -3, 'return-child'],
    ['previous', 0, 'return-child'],
    ['previous', 5, 'return-child'],
    ['previous', 10, 'return-child'],
    ['previous', 10.001, 'attack'],
    ['previous', 86_400, 'attack'],
    ['older', 0, 'attack'],
    ['older', 5, 'attack'],
    ['older', 10.001, 'attack'],
    ['older', 86_400, 'attack'],
  ])('a token that is %s, %d seconds after: %s', (token, seconds, verdict) => {
    expect(reuse({ ...tokens[token], rotation: true, interval: 10, now: after(seconds) })).toBe(verdict)
  })
})

describe('with rotation and no interval', () => {
  test.each<Row>([
    ['valid', 0, 'rotate'],
    ['previous', 0, 'return-child'],
    ['previous', 0.001, 'attack'],
    ['older', 0, 'attack'],
  ])('a token that is %s, %d seconds after: %s', (token, seconds, verdict) => {
    expect(reuse({ ...tokens[token], rotation: true, interval: 0, now: after(seconds) })).toBe(verdict)
  })
})

describe('without rotation', () => {
  test.each<Row>([
    ['valid', 0, 'rotate'],
    ['previous', 5, 'return-child'],
    ['previous', 86_400, 'return-child'],
    ['older', 5, 'refuse'],
    ['older', 86_400, 'refuse'],
  ])('a token that is %s, %d seconds after: %s', (token, seconds, verdict) => {
    expect(reuse({ ...tokens[token], rotation: false, interval: 10, now: after(seconds) })).toBe(verdict)
  })
})

test('a valid token and no other rotates, only the previous one leads to its child, nothing is an attack without rotation', () => {
  const token = fc.constantFrom(...Object.values(tokens))
  fc.assert(
    fc.property(
      token,
      fc.boolean(),
      fc.nat(100),
      fc.integer({ min: -100, max: 1000 }),
      (presented, rotation, interval, seconds) => {
        const verdict = reuse({ ...presented, rotation, interval, now: after(seconds) })
        expect(verdict === 'rotate').toBe(!presented.revoked)
        if (verdict === 'return-child') expect(presented).toBe(tokens.previous)
        expect(verdict === 'attack' && !rotation).toBe(false)
      },
    ),
  )
})
