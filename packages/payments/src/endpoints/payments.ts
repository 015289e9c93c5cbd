import { Failure } from '@tollgate/kit/failure'
import Type from 'typebox'
import { type App, endpoint } from '../app.ts'
import { device } from '../callers.ts'
import { findPaid } from '../operations/pay-order.ts'
import { readHints } from '../operations/read-hints.ts'
import { type OrderBody, OrderShape, orderFails, printsOf, readOrder } from '../operations/read-order.ts'
import { challengeNames, nextChallenges } from '../rules/challenges.ts'
import { declineCodes } from '../rules/device-codes.ts'
import { Id } from '../shapes.ts'

const ChallengeShape = Type.Object({
  name: Type.Enum(challengeNames),
  type: Type.Enum(['fetch', 'iframe', 'background-iframe']),
  path: Type.String({ description: 'Where to send the same order for it' }),
})

export const payments = endpoint({
  method: 'POST',
  path: '/payments',
  summary: 'Pay: tell which step comes next, or what was made',
  description:
    'Called by the device of a customer, with the public key of the merchant and tokens of the vault. The answer names the steps that can ' +
    'be taken next, the best first: send the same order to the path of one, add the hints that it gives to `hints`, and ask here again, ' +
    'until there is an `authorizationId`, which is the id of the transaction. One order is paid once, however often it is sent.',
  tag: 'Customers',
  caller: device(1),
  body: OrderShape,
  reply: {
    200: Type.Object({
      challenges: Type.Optional(Type.Array(ChallengeShape)),
      authorizationId: Type.Optional(Id),
    }),
  },
  fails: [...orderFails, ...declineCodes, 'PAYMENT_CHALLENGE_UNAVAILABLE', 'idempotency_running'],

  async run(app, { body }) {
    try {
      return await tellNext(app, body)
    } catch (problem) {
      // What was made stays made, though the device comes back for it when it can take no step any more.
      const paid = isTooLate(problem) ? await findPaid(app, body) : undefined
      if (!paid) throw problem
      return { authorizationId: paid.id }
    }
  },
})

async function tellNext(app: App, body: OrderBody) {
  const hints = readHints(app, printsOf(body).hash, body.hints ?? [])
  const paid = hints.find(({ proof }) => proof === 'authorize')
  if (paid) return { authorizationId: paid.transactionId }
  const { course } = await readOrder(app, body)
  return { challenges: nextChallenges(new Set(hints.map(({ proof }) => proof)), course) }
}

function isTooLate(problem: unknown): boolean {
  return problem instanceof Failure && (problem.code === 'TOKEN_INVALID' || problem.code === 'PAYMENT_CHALLENGE_UNAVAILABLE')
}
