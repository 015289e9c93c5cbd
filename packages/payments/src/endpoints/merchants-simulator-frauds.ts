import { randomUUID } from 'node:crypto'
import { Moment, settle } from '@tollgate/kit/shape'
import Type from 'typebox'
import { endpoint } from '../app.ts'
import { identified } from '../callers.ts'
import { once, onceFails } from '../operations/once.ts'
import { readClaim } from '../operations/read-claim.ts'
import { recordFraud } from '../operations/record-fraud.ts'
import { seeTestMerchant } from '../operations/see-test-merchant.ts'
import { parseMoment } from '../rules/moment.ts'
import { Id, idempotencyNote } from '../shapes.ts'

const Reported = settle(
  Type.String({ format: 'date-time', description: 'When the bank of the cardholder was told; left out where that is not known' }),
  parseMoment,
)

const Fraud = Type.Object({
  id: Id,
  merchantId: Id,
  transactionId: Id,
  created: Moment,
  reported: Type.Optional(Moment),
  reason: Type.Optional(Type.Integer()),
})

export const simulatorFrauds = endpoint({
  method: 'POST',
  path: '/merchants/{merchant_id}/simulator/frauds',
  summary: 'Raise a fraud alert about a payment to a test merchant, as the bank of a cardholder would',
  description: `For test merchants alone. No money moves. ${idempotencyNote}`,
  tag: 'Simulator',
  caller: identified,
  params: Type.Object({ merchant_id: Id }),
  body: Type.Object({
    transactionId: Id,
    reason: Type.Optional(Type.Integer({ minimum: 0, maximum: 8, description: 'As `GET /frauds` tells it' })),
    reported: Type.Optional(Reported),
  }),
  reply: { 201: Type.Object({ fraud: Fraud }) },
  fails: ['not_found', 'validation_failed', ...onceFails],
  subject: seeTestMerchant,

  run(app, { who, subject: merchant, body, request }) {
    const claim = readClaim({ who, request, body })
    const notice = { ...body, merchantId: merchant.id, acquirerReference: `simulated ${randomUUID()}` }
    return once(app, claim, async (tx) => ({ fraud: await recordFraud({ ...app, db: tx }, notice) }))
  },
})
