import { Moment, settle, worded } from '@tollgate/kit/shape'
import Type from 'typebox'
import { invalidDescriptor } from './rules/descriptor.ts'

/** 24 hex digits, the first eight of which are the second in which the thing was made. */
const idPattern = '^[0-9a-f]{24}$'
const noId = 'Must be 24 hex digits'

export const Id = worded(Type.String({ pattern: idPattern, description: '24 hex digits' }), noId)

export const AppName = Type.String({ minLength: 1, maxLength: 200, description: 'Shown instead of the key' })

/** Minor units of a currency. */
export const Amount = Type.Integer({
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'In minor units: 995 is 9.95 EUR',
})

export const Currency = worded(
  Type.String({ pattern: '^[A-Z]{3}$', description: 'ISO 4217 code' }),
  'Must be three capital letters, such as EUR',
)

export const Descriptor = worded(
  Type.String({
    pattern: '^[\\x20-\\x7e]{1,22}$',
    description: 'Text on the bank statement of the customer: at most 22 printable ASCII characters',
  }),
  invalidDescriptor,
)

/** The query of every list. */
export const pageFields = {
  limit: Type.Integer({ minimum: 1, maximum: 1000, description: 'How many elements at most' }),
  before: Type.Optional(worded(Type.String({ pattern: idPattern, description: 'Only what is older than this id' }), noId)),
  after: Type.Optional(
    worded(
      Type.String({ pattern: idPattern, description: 'Only what is newer than this id; alone, it turns the order round' }),
      noId,
    ),
  ),
}

const Marker = Type.Literal(true)

const Sum = Type.Integer({ description: 'In minor units' })

export const ProcessingErrorShape = Type.Object({
  code: Type.Integer({ description: 'Which of the processing errors' }),
  message: Type.String(),
  text: Type.String({ description: 'The same, for clients that look here' }),
  client: Type.Boolean({ description: 'Whether the payer may be at fault' }),
  merchant: Type.Boolean({ description: 'Whether the merchant may be at fault' }),
})

const TrailEntry = Type.Object({
  fee: Type.Object({ flat: Sum, rate: Sum }),
  amount: Sum,
  balance: Type.Integer({ description: 'Effect on the balance of the merchant, in minor units of its currency' }),
  created: Moment,
  capture: Type.Optional(Marker),
  refund: Type.Optional(Marker),
  void: Type.Optional(Marker),
  dispute: Type.Optional(Type.Object({ id: Id, won: Type.Optional(Marker), lost: Type.Optional(Marker) })),
  descriptor: Type.Optional(Type.String()),
  lineId: Type.Optional(Id),
})

/** In the order in which the keys have always come. */
export const TransactionShape = Type.Object({
  id: Id,
  test: Type.Boolean(),
  merchantId: Id,
  created: Moment,
  amount: Sum,
  refundedAmount: Sum,
  capturedAmount: Type.Integer({ description: 'Does not shrink when something is refunded' }),
  voidedAmount: Sum,
  pendingAmount: Type.Integer({ description: 'Available for capture or void' }),
  disputedAmount: Sum,
  card: Type.Object({
    bin: Type.String(),
    last4: Type.String(),
    expiry: Moment,
    code: Type.Object({ present: Type.Boolean() }),
    scheme: Type.String(),
  }),
  tds: Type.String({ description: 'none, attempt or full' }),
  currency: Type.String(),
  custom: Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()]),
  recurring: Type.Boolean({ description: 'Whether it was made by a server, without the customer' }),
  successful: Type.Boolean(),
  error: Type.Union([Type.Literal(false), ProcessingErrorShape]),
  descriptor: Type.String(),
  trail: Type.Array(TrailEntry),
})

/** What a caller wants kept with something: any JSON object. PHP writes an empty one as an empty list. */
export const Custom = worded(
  settle(Type.Unknown({ description: 'A JSON object of at most 50 kB, given back as it came' }), (value) => {
    if (Array.isArray(value) && value.length === 0) return {}
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
    return JSON.stringify(value).length <= 50_000 ? value : undefined
  }),
  'Must be a JSON object of at most 50 kB',
)

/** https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/ */
export const idempotencyNote =
  'With an `Idempotency-Key` header it is done once, however often it is sent: see [Idempotency](guides/idempotency.md).'
