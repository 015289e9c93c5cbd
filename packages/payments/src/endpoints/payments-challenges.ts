import type { Incoming } from '@tollgate/kit/endpoint'
import Type from 'typebox'
import { type App, endpoint } from '../app.ts'
import { device } from '../callers.ts'
import { fail } from '../errors.ts'
import { payOrder } from '../operations/pay-order.ts'
import { type Hint, makeHint, readHints } from '../operations/read-hints.ts'
import { type Order, OrderShape, orderFails, readOrder } from '../operations/read-order.ts'
import { sealQuestion } from '../operations/tds-questions.ts'
import { type ChallengeName, challengeNames, nextChallenges } from '../rules/challenges.ts'
import { declineCodes } from '../rules/device-codes.ts'

const Step = Type.Object({
  hints: Type.Optional(Type.Array(Type.String(), { description: 'To add to those of the order' })),
  action: Type.Optional(Type.String({ description: 'What to open in a frame' })),
  method: Type.Optional(Type.Literal('POST')),
  fields: Type.Optional(Type.Record(Type.String(), Type.String(), { description: 'The form to send there' })),
  timeout: Type.Optional(Type.Integer({ description: 'Milliseconds after which to go on without a word from the frame' })),
  width: Type.Optional(Type.Integer()),
  height: Type.Optional(Type.Integer()),
})

export const paymentsChallenges = endpoint({
  method: 'POST',
  path: '/payments/challenges/{challenge}',
  summary: 'Take a step of a payment',
  description:
    'With the same order as `POST /payments`. Answers with hints to add to it, or with what to open in a frame, whose page then tells ' +
    '`{hints}` in a message to its window. Taking a step again gives new hints that are worth the same; the last, `authorize`, pays once.',
  tag: 'Customers',
  caller: device(1),
  params: Type.Object({ challenge: Type.Enum(challengeNames) }),
  body: OrderShape,
  reply: { 200: Step },
  fails: [
    ...orderFails,
    ...declineCodes,
    'not_found',
    'PAYMENT_CHALLENGE_UNAVAILABLE',
    'outcome_unknown',
    'idempotency_running',
    'exchange_unavailable',
    'over_rate_limit',
  ],

  async run(app, { params: { challenge }, body, request }) {
    const order = await readOrder(app, body)
    const hints = readHints(app, order.hash, body.hints ?? [])
    const proofs = new Set(hints.map(({ proof }) => proof))
    const isOffered = nextChallenges(proofs, order.course).some(({ name }) => name === challenge)
    // Whoever lost the answer to a step asks for it again, and may have gone on meanwhile.
    if (!isOffered && !proofs.has(challenge)) throw fail('PAYMENT_CHALLENGE_UNAVAILABLE')
    return takeStep(app, challenge, { order, hints, request })
  },
})

/** How long a frame that nobody sees may take. */
const unseen = 10_000

type Taking = { order: Order; hints: readonly Hint[]; request: Incoming }

async function takeStep(app: App, challenge: ChallengeName, { order, hints, request }: Taking) {
  const { externalUrl } = app.config.customers
  const question = () => sealQuestion(app, order)
  const hint = () => makeHint(app, order.hash, { proof: challenge })
  switch (challenge) {
    case 'fingerprint':
      return {
        action: `${externalUrl}/payments/fingerprint`,
        method: 'POST',
        fields: { data: question() },
        timeout: unseen,
      } as const
    case 'tds-fingerprint':
      return {
        action: `${externalUrl}/3dsecure/v2/method`,
        method: 'POST',
        fields: { threeDSMethodData: question() },
        timeout: unseen,
        hints: [hint()],
      } as const
    case 'tds-challenge':
      return {
        action: `${externalUrl}/3dsecure/v2/challenge`,
        method: 'POST',
        fields: { creq: question() },
        width: 500,
        height: 600,
      } as const
    case 'authorize': {
      const { id } = await payOrder(app, order, { hints, request })
      return { hints: [makeHint(app, order.hash, { proof: 'authorize', transactionId: id })] }
    }
    default:
      return { hints: [hint()] }
  }
}
