/** What a merchant pays. `rate` is a fraction as a decimal text: 0.025 is 2.5 %. */
export type Price = { rate: string; flat: Sum; dispute: Sum }

type Sum = { currency: string; amount: number }

/** What a capture leaves: all in minor units of the funding currency. */
export type CaptureFees = { flat: number; rate: number; balance: number }

export function captureFees(gross: number, { rate, flat }: { rate: string; flat: number }): CaptureFees {
  const share = rateShare(gross, rate)
  return { flat, rate: share, balance: gross - flat - share }
}

/** What came in and went back so far, in the transaction's currency and, as "gross", in the merchant's. */
export type Standing = {
  captured: number
  capturedGross: number
  capturedRateFee: number
  returned: number
  returnedGross: number
  returnedRateFee: number
  /** How much of what was returned is disputed, by disputes that are open or lost. */
  disputed: number
}

export type ReturnFees = {
  /** What goes back of the merchant's side. */
  gross: number
  /** What of the percentage is given back, as a positive number. */
  rate: number
  /** By how much the parts above differ from what the rule alone would give for this amount: the remainders of rounding. */
  rounding: { gross: number; rate: number }
}

/**
 * What a part of a captured amount takes along when it goes back. What is left is divided, not the whole: whoever gives back all of it in
 * any number of parts gives back exactly what came in.
 */
export function returnFees(standing: Standing, amount: number, rate: string): ReturnFees {
  const { captured, capturedGross, capturedRateFee, returned, returnedGross, returnedRateFee, disputed } = standing
  const plain = divide(BigInt(capturedGross) * BigInt(amount), BigInt(captured))
  const left = captured - returned
  // A dispute can be about more than is left, when the customer had been refunded already.
  const leftGross = Math.max(0, capturedGross - returnedGross)
  const gross = amount <= left ? divide(BigInt(leftGross) * BigInt(amount), BigInt(left)) : plain
  const plainShare = rateShare(gross, rate)
  const leftShare = capturedRateFee - returnedRateFee
  // What is disputed keeps its percentage: there is a last part, which gets what is left of it, only when nothing is.
  const share = amount === left && disputed === 0 ? leftShare : Math.min(plainShare, leftShare)
  return { gross, rate: share, rounding: { gross: gross - plain, rate: share - plainShare } }
}

const scale = 100_000_000n

/** The percentage of an amount, rounded to a minor unit. */
export function rateShare(gross: number, rate: string): number {
  return divide(BigInt(gross) * scaled(rate), scale)
}

function scaled(rate: string): bigint {
  const [whole = '0', fraction = ''] = rate.split('.')
  return BigInt(whole + fraction.slice(0, 8).padEnd(8, '0'))
}

/** Half is rounded up; neither side is negative here. */
function divide(numerator: bigint, denominator: bigint): number {
  return Number((2n * numerator + denominator) / (2n * denominator))
}
