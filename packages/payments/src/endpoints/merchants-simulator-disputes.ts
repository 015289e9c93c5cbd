import { randomUUID } from 'node:crypto'
import { settle } from '@tollgate/kit/shape'
import Type, { type Static } from 'typebox'
import { endpoint } from '../app.ts'
import { identified } from '../callers.ts'
import { unfit } from '../errors.ts'
import { once, onceFails } from '../operations/once.ts'
import { readClaim } from '../operations/read-claim.ts'
import { writeDispute } from '../operations/record-dispute.ts'
import { seeTestMerchant } from '../operations/see-test-merchant.ts'
import { EndedDispute, tellEndedDispute } from '../operations/tell-dispute.ts'
import { disputeCodes, disputeReason, usualDue } from '../rules/dispute-reasons.ts'
import { parseMoment } from '../rules/moment.ts'
import { Amount, Id, idempotencyNote } from '../shapes.ts'

const Reason = Type.Object({
  code: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 99_999, description: '4853, a cardholder dispute, unless it is given' }),
  ),
  title: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'That of the code, unless it is given' })),
})

const Due = settle(
  Type.String({ format: 'date-time', description: 'Until when the merchant may answer: two weeks from now, unless it is given' }),
  parseMoment,
)

export const simulatorDisputes = endpoint({
  method: 'POST',
  path: '/merchants/{merchant_id}/simulator/disputes',
  summary: 'Dispute a payment to a test merchant, as the bank of a cardholder would',
  description: `For test merchants alone. Without an amount, it is about everything that was captured and is not disputed yet. ${idempotencyNote}`,
  tag: 'Simulator',
  caller: identified,
  params: Type.Object({ merchant_id: Id }),
  body: Type.Object({
    transactionId: Id,
    amount: Type.Optional(Amount),
    reason: Type.Optional(Reason),
    due: Type.Optional(Due),
  }),
  reply: { 201: Type.Object({ dispute: EndedDispute }) },
  fails: ['not_found', 'validation_failed', 'exchange_unavailable', ...onceFails],
  subject: seeTestMerchant,

  run(app, { who, subject: merchant, body, request }) {
    const claim = readClaim({ who, request, body })
    const { transactionId, amount, due = usualDue(app.now()) } = body
    const reason = readReason(body.reason)
    const notice = { merchantId: merchant.id, transactionId, amount, reason, due, acquirerReference: `simulated ${randomUUID()}` }
    return app.inTurn(transactionId, () =>
      once(app, claim, async (tx) => ({ dispute: tellEndedDispute(await writeDispute(app, tx, notice)) })),
    )
  },
})

function readReason(given: Static<typeof Reason> | undefined) {
  const reason = disputeReason(given)
  if (!reason) throw unfit('reason.title', `Required, unless reason.code is one of ${disputeCodes.join(', ')}`)
  return reason
}
