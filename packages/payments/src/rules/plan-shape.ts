import { settle } from '@tollgate/kit/shape'
import Type, { type Static } from 'typebox'
import { parseMoment } from './moment.ts'
import { MoneyShape } from './money-shape.ts'

const PlanDate = settle(
  Type.String({ format: 'date-time', maxLength: 64, description: 'RFC 3339; without a time zone it is in UTC' }),
  // Some phones send none.
  (text) => parseMoment(/T[\d:.]+$/.test(text) ? `${text}Z` : text),
)

const units = ['day', 'week', 'month', 'year'] as const

const Repeat = Type.Object({
  first: Type.Optional(PlanDate),
  count: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 10_000, description: 'How often; only the last component may go on for ever' }),
  ),
  interval: Type.Object({
    unit: Type.Enum([...units]),
    value: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: '1 when not given' })),
  }),
})

/** The payments to come that a payer agrees to: each component is either scheduled once or repeated. */
export const PlanShape = Type.Array(
  Type.Object({ amount: MoneyShape, scheduled: Type.Optional(PlanDate), repeat: Type.Optional(Repeat) }),
  { minItems: 1, maxItems: 100 },
)

/** A plan as it was announced. */
export type Plan = readonly Static<typeof PlanShape>[number][]

export type IntervalUnit = (typeof units)[number]
