/** The accounts of the books: see the migration that makes them. */
export type Account = 'merchant' | 'acquirer' | 'fees' | 'exchange' | 'reserve' | 'payouts' | 'rounding'

/** Takes an amount from one account and gives it to another: no set of them can fail to sum to zero. */
export type Posting = { debit: Account; credit: Account; currency: string; amount: number }

/** A sum in the transaction's currency and what it is in the merchant's. */
type Exchanged = { amount: number; currency: string; gross: number; funding: string }

export function capturePostings(sum: Exchanged, fees: { flat: number; rate: number }): Posting[] {
  const { funding } = sum
  return [...fromAcquirer(sum, 'merchant', 0), ...post('merchant', 'fees', funding, fees.flat + fees.rate)]
}

/** `rate` is what is given back of the percentage; `rounding` by how much each part was adjusted so that all parts add up. */
export function refundPostings(sum: Exchanged, returned: { rate: number; rounding: { gross: number; rate: number } }): Posting[] {
  const { rate, rounding } = returned
  return [
    ...toAcquirer(sum, 'merchant', rounding.gross),
    ...post('fees', 'merchant', sum.funding, rate),
    // The fees give what the rule says; what the merchant gets besides is a remainder.
    ...post('rounding', 'fees', sum.funding, rounding.rate),
  ]
}

/** The disputed amount is set aside until somebody decides, and the fee of disputes is charged. */
export function disputePostings(gross: number, fee: number, funding: string): Posting[] {
  return [...post('merchant', 'reserve', funding, gross), ...post('merchant', 'fees', funding, fee)]
}

/** What was set aside comes back, and the fee with it. */
export function disputeWonPostings(gross: number, fee: number, funding: string): Posting[] {
  return [...post('reserve', 'merchant', funding, gross), ...post('fees', 'merchant', funding, fee)]
}

/** What was set aside goes to the cardholder's bank. */
export function disputeLostPostings(sum: Exchanged): Posting[] {
  return toAcquirer(sum, 'reserve', 0)
}

export function payoutPostings(amount: number, funding: string): Posting[] {
  return post('merchant', 'payouts', funding, amount)
}

function fromAcquirer({ amount, currency, gross, funding }: Exchanged, account: Account, rounding: number): Posting[] {
  if (currency === funding) return post('acquirer', account, currency, amount)
  return [
    ...post('acquirer', 'exchange', currency, amount),
    ...post('exchange', account, funding, gross - rounding),
    ...post('rounding', account, funding, rounding),
  ]
}

function toAcquirer(sum: Exchanged, account: Account, rounding: number): Posting[] {
  return fromAcquirer(sum, account, rounding).map(({ debit, credit, ...rest }) => ({ debit: credit, credit: debit, ...rest }))
}

/** Nothing moves where nothing is due; what is due the other way round is posted the other way round. */
function post(debit: Account, credit: Account, currency: string, amount: number): Posting[] {
  if (amount === 0) return []
  return amount > 0 ? [{ debit, credit, currency, amount }] : [{ debit: credit, credit: debit, currency, amount: -amount }]
}
