import Type from 'typebox'
import { endpoint } from '../app.ts'
import { identified } from '../callers.ts'
import { fail } from '../errors.ts'
import { writeDecision } from '../operations/decide-dispute.ts'
import { once, onceFails } from '../operations/once.ts'
import { readClaim } from '../operations/read-claim.ts'
import { seeTestMerchant } from '../operations/see-test-merchant.ts'
import { EndedDispute, tellEndedDispute } from '../operations/tell-dispute.ts'
import { Id, idempotencyNote } from '../shapes.ts'
import { findOwnDispute } from '../store/disputes.ts'

export const simulatorDisputesDecisions = endpoint({
  method: 'POST',
  path: '/merchants/{merchant_id}/simulator/disputes/{dispute_id}/decisions',
  summary: 'Let a test merchant win or lose a dispute',
  description: `For test merchants alone. A dispute is decided once; deciding it again the same way changes nothing. ${idempotencyNote}`,
  tag: 'Simulator',
  caller: identified,
  params: Type.Object({ merchant_id: Id, dispute_id: Id }),
  body: Type.Object({ won: Type.Boolean({ description: 'Whether the merchant keeps the money' }) }),
  reply: { 201: Type.Object({ dispute: EndedDispute }) },
  fails: ['not_found', 'validation_failed', ...onceFails],

  async subject(app, asked) {
    const merchant = await seeTestMerchant(app, asked)
    const dispute = await findOwnDispute(app.db, asked.who.id, asked.params.dispute_id)
    if (dispute?.merchantId !== merchant.id) throw fail('not_found')
    return dispute
  },

  run(app, { who, subject: { merchantId, id: disputeId }, body, request }) {
    const claim = readClaim({ who, request, body })
    const decision = { merchantId, disputeId, won: body.won }
    return app.inTurn(disputeId, () =>
      once(app, claim, async (tx) => ({ dispute: tellEndedDispute(await writeDecision(app, tx, decision)) })),
    )
  },
})
