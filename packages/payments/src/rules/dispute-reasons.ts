/** Why a cardholder's bank wants money back: the number that the card scheme gives it, and its name. */
export type DisputeReason = { code: number; title: string }

/** Mastercard's reason codes, and Visa's dispute conditions without their points: 131 is 13.1. */
const titles: ReadonlyMap<number, string> = new Map([
  [104, 'Other Fraud: Card-Absent Environment'],
  [113, 'No Authorization'],
  [125, 'Incorrect Amount'],
  [126, 'Duplicate Processing or Paid by Other Means'],
  [131, 'Merchandise or Services Not Received'],
  [132, 'Cancelled Recurring Transaction'],
  [133, 'Not as Described or Defective'],
  [134, 'Counterfeit Merchandise'],
  [135, 'Misrepresentation'],
  [136, 'Credit Not Processed'],
  [137, 'Cancelled Merchandise or Services'],
  [4808, 'Authorization-Related Chargeback'],
  [4834, 'Point-of-Interaction Error'],
  [4837, 'No Cardholder Authorization'],
  [4853, 'Cardholder Dispute'],
  [4863, 'Cardholder Does Not Recognize'],
])

export const disputeCodes: readonly number[] = [...titles.keys()]

const usual = 4853

/** A reason of which a part, or nothing, is given; undefined for a code that has no title of its own and was given none. */
export function disputeReason({
  code = usual,
  title = titles.get(code),
}: Partial<DisputeReason> = {}): DisputeReason | undefined {
  return title === undefined ? undefined : { code, title }
}

const fortnight = 14 * 24 * 60 * 60 * 1000

/** Until when a merchant may answer, where nobody has told. */
export function usualDue(now: Date): Date {
  return new Date(now.getTime() + fortnight)
}
