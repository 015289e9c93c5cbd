import { Moment } from '@tollgate/kit/shape'
import Type, { type Static } from 'typebox'
import { Currency, Id } from '../shapes.ts'
import type { LineRow } from '../store/lines.ts'

const Mark = Type.Optional(Type.Literal(true))

/** A line as callers see it: one of its marks tells what moved the money. */
export const Line = Type.Object({
  id: Id,
  merchantId: Id,
  test: Type.Boolean(),
  created: Moment,
  balance: Type.Integer({ description: 'What it does to the balance, in minor units of the currency of the merchant' }),
  fee: Type.Integer({ description: 'In minor units of the currency of the merchant' }),
  amount: Type.Object({ currency: Currency, amount: Type.Integer() }, { description: 'In the currency of the transaction' }),
  transactionId: Type.Optional(Id),
  description: Type.Optional(Type.String()),
  bank: Type.Optional(Type.Object({ iban: Type.String() }, { description: 'Where a payout went' })),
  capture: Mark,
  refund: Mark,
  payout: Mark,
  dispute: Mark,
  won: Mark,
  lost: Mark,
})

type Told = Omit<Static<typeof Line>, 'transactionId' | 'description'> & Pick<LineRow, 'transactionId' | 'description'>

export function tellLine({ kind, won, amount, currency, iban, ...line }: LineRow): Told {
  return {
    ...line,
    amount: { currency, amount },
    [kind]: true,
    ...(iban === null ? {} : { bank: { iban } }),
    ...(won === null ? {} : { [won ? 'won' : 'lost']: true }),
  }
}
