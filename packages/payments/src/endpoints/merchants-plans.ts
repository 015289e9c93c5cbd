import { Nothing } from '@tollgate/kit/endpoint'
import { lines, Moment } from '@tollgate/kit/shape'
import Type from 'typebox'
import { endpoint } from '../app.ts'
import { identified } from '../callers.ts'
import { fail } from '../errors.ts'
import { seeMerchant } from '../operations/see-merchant.ts'
import { readPage } from '../rules/page.ts'
import type { PlanPart } from '../rules/plan.ts'
import { processingError } from '../rules/processing-errors.ts'
import { Amount, Currency, Id, ProcessingErrorShape, pageFields } from '../shapes.ts'
import { listPlans, type PlanRow, stopPlan } from '../store/plans.ts'

const State = Type.Enum(['active', 'finished', 'stopped'])

const Count = Type.Integer({ minimum: 0 })

const Component = Type.Object({
  amount: Amount,
  currency: Currency,
  scheduled: Type.Optional(Moment),
  repeat: Type.Optional(
    Type.Object({
      first: Moment,
      count: Type.Optional(Type.Integer({ description: 'Without one it goes on for ever' })),
      interval: Type.Object({ unit: Type.String({ description: 'day, week, month or year' }), value: Type.Integer() }),
    }),
  ),
})

const Next = Type.Object({
  component: Type.Integer({ description: 'Which component of the plan, counted from 0' }),
  occurrence: Type.Integer({ description: 'Which payment of it, counted from 0' }),
  due: Moment,
  amount: Amount,
  currency: Currency,
  tries: Type.Integer({ description: 'How often it has been tried and declined' }),
  tryAt: Type.Unsafe<Date>({ ...Moment, description: 'When it is tried next, where the merchant has plans executed' }),
})

const PlanReply = Type.Object({
  transactionId: Id,
  created: Moment,
  state: State,
  reason: Type.Optional(
    Type.String({
      description:
        'Why it was stopped: asked, final_error, retries_exhausted, or payment_failed, which is about the payment it was agreed to with',
    }),
  ),
  ended: Type.Optional(Moment),
  plan: Type.Array(Component),
  next: Type.Optional(Next),
  made: Type.Unsafe<number>({ ...Count, description: 'How many payments were made' }),
  missed: Type.Unsafe<number>({ ...Count, description: 'How many were left out because their time had passed' }),
  lastTransactionId: Type.Optional(Id),
  error: Type.Union([Type.Literal(false), ProcessingErrorShape], { description: 'Of the last payment that was tried' }),
})

export const merchantsPlans = endpoint({
  method: 'GET',
  path: '/merchants/{merchant_id}/plans',
  summary: 'List the plans that payers have agreed to, newest first',
  description:
    'A plan is known by the transaction that it was agreed to with, and `before` and `after` are ids of such transactions. Whether its ' +
    'payments are made is up to `plans` of the merchant: see [Recurring payments](guides/recurring.md).',
  tag: 'Transactions',
  caller: identified,
  params: Type.Object({ merchant_id: Id }),
  query: Type.Object({
    ...pageFields,
    filter: Type.Optional(Type.Object({ state: Type.Optional(State), transactionId: Type.Optional(Id) })),
  }),
  reply: { 200: lines(PlanReply) },
  fails: ['not_found'],
  subject: seeMerchant,

  async run({ db }, { subject, query }) {
    const plans = await listPlans(db, subject.id, readPage(query), query.filter)
    return plans.map(tellPlan)
  },
})

function tellPlan(row: PlanRow) {
  const { transactionId, created, state, reason, ended, plan, component, occurrence, due, tries, tryAt, made, missed } = row
  const { amount, currency } = plan[component] as PlanPart
  return {
    ...{ transactionId, created, state, made, missed },
    reason: reason ?? undefined,
    ended: ended ?? undefined,
    plan: plan.map(tellComponent),
    next: state === 'active' ? { component, occurrence, due, amount, currency, tries, tryAt } : undefined,
    lastTransactionId: row.lastTransactionId ?? undefined,
    error: row.errorCode === null ? (false as const) : processingError(row.errorCode),
  }
}

function tellComponent({ amount, currency, first, count, every }: PlanPart) {
  if (every === null) return { amount, currency, scheduled: first }
  return { amount, currency, repeat: { first, interval: every, count: count ?? undefined } }
}

export const removeMerchantPlan = endpoint({
  method: 'DELETE',
  path: '/merchants/{merchant_id}/plans/{transaction_id}',
  summary: 'Stop a plan',
  description:
    'Nothing more is charged from now on; what is being charged at this very moment is not undone. A plan that has ended stays as it is.',
  tag: 'Transactions',
  caller: identified,
  params: Type.Object({ merchant_id: Id, transaction_id: Id }),
  reply: { 204: Nothing },
  fails: ['not_found'],
  subject: seeMerchant,

  async run({ db, now, meters }, { subject, params }) {
    const plan = await stopPlan(db, { merchantId: subject.id, transactionId: params.transaction_id, now: now() })
    if (!plan) throw fail('not_found')
    if (plan === 'stopped') meters.planEnded('asked')
  },
})
