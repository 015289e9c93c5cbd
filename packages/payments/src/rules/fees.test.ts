import fc from 'fast-check'
import { expect, test } from 'vitest'
import { captureFees, rateShare, returnFees, type Standing } from './fees.ts'

test('the recorded capture: 3662 at 2.5 % and 191 flat leaves 3379', () => {
  expect(captureFees(3662, { rate: '0.025', flat: 191 })).toEqual({ flat: 191, rate: 92, balance: 3379 })
})

const recorded: Standing = {
  captured: 500,
  capturedGross: 3662,
  capturedRateFee: 92,
  returned: 0,
  returnedGross: 0,
  returnedRateFee: 0,
  disputed: 0,
}

test('the recorded refund: 333 of 500 takes 2439 along and gives 61 back', () => {
  expect(returnFees(recorded, 333, '0.025')).toMatchObject({ gross: 2439, rate: 61 })
})

test.each([
  [1000, '0.025', 25],
  [1, '0.025', 0],
  [20, '0.025', 1],
  [19, '0.025', 0],
  [Number.MAX_SAFE_INTEGER, '0.5', 4503599627370496],
  [1000, '0', 0],
  [1000, '0.00000001', 0],
  [100_000_000, '0.00000001', 1],
])('%i at %s is a share of %i', (gross, rate, share) => {
  expect(rateShare(gross, rate)).toBe(share)
})

const sum = fc.integer({ min: 1, max: 1_000_000_000 })
const rate = fc.integer({ min: 0, max: 99_999_999 }).map((value) => `0.${String(value).padStart(8, '0')}`)

test('whoever gives all of it back in any number of parts gives back exactly what came in', () => {
  fc.assert(
    fc.property(
      sum,
      sum,
      rate,
      fc.array(fc.integer({ min: 1, max: 1_000_000 }), { maxLength: 30 }),
      (captured, gross, percent, parts) => {
        const capturedRateFee = rateShare(gross, percent)
        let standing: Standing = {
          captured,
          capturedGross: gross,
          capturedRateFee,
          returned: 0,
          returnedGross: 0,
          returnedRateFee: 0,
          disputed: 0,
        }
        const give = (amount: number) => {
          const part = returnFees(standing, amount, percent)
          expect(part.gross).toBeGreaterThanOrEqual(0)
          expect(part.rate).toBeGreaterThanOrEqual(0)
          standing = {
            ...standing,
            returned: standing.returned + amount,
            returnedGross: standing.returnedGross + part.gross,
            returnedRateFee: standing.returnedRateFee + part.rate,
          }
        }
        for (const part of parts) if (standing.returned + part < captured) give(part)
        give(captured - standing.returned)
        expect(standing).toMatchObject({ returned: captured, returnedGross: gross, returnedRateFee: capturedRateFee })
      },
    ),
  )
})

test('a first refund is what the rule says of its amount alone', () => {
  fc.assert(
    fc.property(sum, sum, fc.double({ min: 0.01, max: 0.99, noNaN: true }), (captured, gross, part) => {
      const amount = Math.max(1, Math.floor(captured * part))
      const standing = {
        captured,
        capturedGross: gross,
        capturedRateFee: rateShare(gross, '0.025'),
        returned: 0,
        returnedGross: 0,
        returnedRateFee: 0,
        disputed: 0,
      }
      const { gross: back, rounding } = returnFees(standing, amount, '0.025')
      expect(back).toBe(Number((2n * BigInt(gross) * BigInt(amount) + BigInt(captured)) / (2n * BigInt(captured))))
      expect(rounding.gross).toBe(0)
    }),
  )
})

test('a percentage that was raised since the capture gives back no more than was charged', () => {
  const standing = { ...recorded, capturedGross: 1000, captured: 1000, capturedRateFee: 10 }
  expect(returnFees(standing, 500, '0.05').rate).toBe(10)
})

test('a dispute about more than is left is valued like the rest', () => {
  const standing = { ...recorded, returned: 500, returnedGross: 3662, returnedRateFee: 92 }
  expect(returnFees(standing, 250, '0.025').gross).toBe(1831)
})

test('after a dispute was lost, a refund of the rest gives back the percentage of the rest alone', () => {
  const standing = {
    ...recorded,
    captured: 1000,
    capturedGross: 1000,
    capturedRateFee: 25,
    returned: 400,
    returnedGross: 400,
    disputed: 400,
  }
  expect(returnFees(standing, 600, '0.025')).toMatchObject({ gross: 600, rate: 15 })
})

test('nothing is worth less than nothing, however badly the rates went', () => {
  const standing = { ...recorded, captured: 200, capturedGross: 1010, returned: 190, returnedGross: 1900 }
  expect(returnFees(standing, 5, '0.025').gross).toBe(0)
})
