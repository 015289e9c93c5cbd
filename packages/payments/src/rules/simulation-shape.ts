import Type from 'typebox'
import { MoneyOrNoneShape } from './money-shape.ts'
import { longestLatency } from './simulation.ts'

const Mishap = Type.Enum(['lost', 'unanswered', 'late', 'declined'])

/** The `test` object of a payment: everything in it can be left out. */
export const SimulationShape = Type.Object(
  {
    card: Type.Optional(
      Type.Object({
        scheme: Type.Optional(Type.Enum(['supported', 'unsupported', 'unknown'])),
        code: Type.Optional(Type.Enum(['valid', 'invalid'])),
        status: Type.Optional(Type.Enum(['valid', 'invalid', 'expired', 'disabled', 'lost'])),
        limit: Type.Optional(MoneyOrNoneShape),
        balance: Type.Optional(MoneyOrNoneShape),
      }),
    ),
    fingerprint: Type.Optional(Type.Enum(['success', 'timeout'])),
    tds: Type.Optional(
      Type.Object({
        fingerprint: Type.Optional(Type.Enum(['success', 'timeout', 'unavailable'])),
        challenge: Type.Optional(Type.Boolean()),
        status: Type.Optional(Type.Enum(['authenticated', 'rejected', 'unavailable', 'attempted'])),
      }),
    ),
    acquirer: Type.Optional(
      Type.Object(
        {
          latency: Type.Optional(
            Type.Integer({ minimum: 0, maximum: longestLatency, description: 'Milliseconds that every answer takes' }),
          ),
          authorize: Type.Optional(Mishap),
          capture: Type.Optional(Mishap),
          refund: Type.Optional(Mishap),
          void: Type.Optional(Mishap),
        },
        { description: 'What goes wrong between us and the simulator, by operation' },
      ),
    ),
  },
  { description: 'How the simulator is to behave' },
)
