import { Moment, settle } from '@tollgate/kit/shape'
import Type from 'typebox'
import { endpoint } from '../app.ts'
import { identified } from '../callers.ts'
import { unfit } from '../errors.ts'
import { seeMerchant } from '../operations/see-merchant.ts'
import { readBalance } from '../operations/sum-lines.ts'
import { parseMoment } from '../rules/moment.ts'
import { Currency, Id } from '../shapes.ts'

const At = settle(Type.String({ format: 'date-time', description: 'As of when; now, unless it is given' }), parseMoment)

export const merchantsBalance = endpoint({
  method: 'GET',
  path: '/merchants/{merchant_id}/balance',
  summary: 'Tell the balance of a merchant, now or at a moment of the past',
  description:
    'The sum of the `balance` of all lines that were created until then, in minor units of the currency of the merchant.',
  tag: 'Lines',
  caller: identified,
  params: Type.Object({ merchant_id: Id }),
  query: Type.Object({ at: Type.Optional(At) }),
  reply: { 200: Type.Object({ balance: Type.Object({ currency: Currency, amount: Type.Integer(), at: Moment }) }) },
  fails: ['not_found', 'validation_failed'],
  subject: seeMerchant,

  async run(app, { subject: merchant, query }) {
    const now = app.now()
    const at = query.at ?? now
    if (at > now) throw unfit('at', 'Must not be in the future')
    return { balance: { currency: merchant.currency, amount: await readBalance(app, merchant.id, at), at } }
  },
})
