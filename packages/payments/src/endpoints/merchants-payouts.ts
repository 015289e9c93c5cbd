import { lines, Moment, settle } from '@tollgate/kit/shape'
import Type from 'typebox'
import { endpoint } from '../app.ts'
import { identified } from '../callers.ts'
import { seeMerchant } from '../operations/see-merchant.ts'
import { readPage } from '../rules/page.ts'
import { parseDay } from '../rules/payout-schedule.ts'
import { Amount, Currency, Id, pageFields } from '../shapes.ts'
import { listPayouts } from '../store/payouts.ts'

const Filter = Type.Object({
  id: Type.Optional(Id),
  day: Type.Optional(settle(Type.String({ format: 'date' }), parseDay)),
  amount: Type.Optional(Amount),
  currency: Type.Optional(Currency),
  lineId: Type.Optional(Id),
})

const Payout = Type.Object({
  id: Id,
  created: Moment,
  day: Type.String({ format: 'date', description: 'For which it was made' }),
  amount: Amount,
  currency: Currency,
  bank: Type.Object({ iban: Type.String() }),
  lineId: Id,
})

export const merchantsPayouts = endpoint({
  method: 'GET',
  path: '/merchants/{merchant_id}/payouts',
  summary: "List what was paid to a merchant's bank account, newest first",
  tag: 'Lines',
  caller: identified,
  params: Type.Object({ merchant_id: Id }),
  query: Type.Object({ ...pageFields, filter: Type.Optional(Filter) }),
  reply: { 200: lines(Payout) },
  fails: ['not_found'],
  subject: seeMerchant,

  async run({ db }, { subject: merchant, query }) {
    const payouts = await listPayouts(db, merchant.id, readPage(query), query.filter)
    return payouts.map(({ iban, ...payout }) => ({ ...payout, bank: { iban } }))
  },
})
