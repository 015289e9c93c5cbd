import { Moment } from '@tollgate/kit/shape'
import Type, { type Static } from 'typebox'
import type { Price } from '../rules/fees.ts'
import { Currency, Id } from '../shapes.ts'
import type { Merchant } from '../store/merchants.ts'

const Sum = Type.Object({ currency: Currency, amount: Type.Integer({ description: 'In minor units' }) })

const pricing = { rate: Type.Number({ description: 'A fraction: 0.025 is 2.5 %' }), flat: Sum, dispute: Sum }

/** A merchant as all calls tell it. */
export const MerchantReply = Type.Object({
  id: Id,
  key: Type.String({ description: 'The public key, for transactions and links' }),
  name: Type.Union([Type.String(), Type.Null()]),
  currency: Currency,
  test: Type.Boolean(),
  email: Type.String(),
  website: Type.String(),
  descriptor: Type.String(),
  created: Moment,
  company: Type.Object({ country: Type.String(), number: Type.Optional(Type.String()) }),
  bank: Type.Object({ iban: Type.Optional(Type.String()) }),
  balance: Type.Integer({ description: 'In minor units of the funding currency: the sum of the lines' }),
  claim: Type.Object({
    canChargeCard: Type.Boolean(),
    canSaveCard: Type.Boolean(),
    canTransferToCard: Type.Boolean(),
    canCapture: Type.Boolean(),
    canRefund: Type.Boolean(),
    canVoid: Type.Boolean(),
  }),
  pricing: Type.Object({ ...pricing, transfer: Type.Object({ toCard: Type.Object(pricing) }) }),
  tds: Type.Object({ mode: Type.String({ description: 'attempt or full: what is demanded of 3-D Secure' }) }),
  plans: Type.String({ description: 'record, authorize or capture: what is done about plans when their payments are due' }),
  accent: Type.Union([Type.String(), Type.Null()], { description: 'The colour of its page as #rrggbb' }),
})

type Told = Static<typeof MerchantReply>

export function tellMerchant(merchant: Merchant): Told {
  const { id, key, name, currency, test, email, website, descriptor, created, balance, price } = merchant
  const { companyCountry, companyNumber, bankIban, tdsMode, plans, accent } = merchant
  const { canChargeCard, canSaveCard, canTransferToCard, canCapture, canRefund, canVoid } = merchant
  return {
    ...{ id, key, name, currency, test, email, website, descriptor, created },
    company: { country: companyCountry, ...(companyNumber === null ? {} : { number: companyNumber }) },
    bank: bankIban === null ? {} : { iban: bankIban },
    balance,
    claim: { canChargeCard, canSaveCard, canTransferToCard, canCapture, canRefund, canVoid },
    // Transfers to cards have no price list of their own.
    pricing: { ...tellPrice(price), transfer: { toCard: tellPrice(price) } },
    tds: { mode: tdsMode },
    ...{ plans, accent },
  }
}

function tellPrice({ rate, flat, dispute }: Price) {
  return { rate: Number(rate), flat, dispute }
}
