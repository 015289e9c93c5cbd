import { Json, type Sql, type Tx } from '@tollgate/kit/db'
import type { Occurrence } from '../rules/occurrences.ts'
import type { Page } from '../rules/page.ts'
import type { SettledPlan } from '../rules/plan.ts'
import type { ProcessingCode } from '../rules/processing-errors.ts'
import type { PlanSetting } from './merchants.ts'

export type PlanState = 'active' | 'finished' | 'stopped'

/** Why nothing more is charged. */
export type StopReason = 'asked' | 'final_error' | 'retries_exhausted' | 'payment_failed'

export type PlanRow = Occurrence & {
  merchantId: string
  transactionId: string
  created: Date
  plan: SettledPlan
  state: PlanState
  reason: StopReason | null
  ended: Date | null
  tries: number
  firstTried: Date | null
  tryAt: Date
  made: number
  missed: number
  lastTransactionId: string | null
  errorCode: ProcessingCode | null
}

type RawPlan = Omit<PlanRow, 'plan'> & { parts: (Omit<SettledPlan[number], 'first'> & { first: string })[] }

function toPlan<Row extends RawPlan>({ parts, ...row }: Row) {
  return { ...row, plan: parts.map((part) => ({ ...part, first: new Date(part.first) })) }
}

export async function insertPlan(
  tx: Tx,
  {
    merchantId,
    transactionId,
    created,
    plan,
    next,
  }: Pick<PlanRow, 'merchantId' | 'transactionId' | 'created' | 'plan'> & { next: Occurrence },
): Promise<void> {
  await tx`
    insert into pay.plans (merchant_id, transaction_id, created, parts, state, component, occurrence, due, try_at)
    values (${merchantId}, ${transactionId}, ${created}, ${new Json(plan)}, 'active', ${next.component}, ${next.occurrence},
      ${next.due}, ${next.due})`
}

export async function listPlans(
  sql: Sql,
  merchantId: string,
  { limit, before, after, ascending }: Page,
  { state = null, transactionId = null }: { state?: PlanState | null; transactionId?: string | null } = {},
): Promise<PlanRow[]> {
  const rows = await sql<RawPlan>`
    select merchant_id as "merchantId", transaction_id as "transactionId", created, parts, state, reason, ended, component, occurrence, due,
      tries, first_tried as "firstTried", try_at as "tryAt", made, missed, last_transaction_id as "lastTransactionId",
      error_code as "errorCode"
    from (
      (select * from pay.plans
        where merchant_id = ${merchantId} and transaction_id < ${before} and transaction_id > ${after} and not ${ascending}::boolean
          and (${state}::text is null or state = ${state})
          and (${transactionId}::text is null or transaction_id = ${transactionId})
        order by transaction_id desc limit ${limit})
      union all
      (select * from pay.plans
        where merchant_id = ${merchantId} and transaction_id < ${before} and transaction_id > ${after} and ${ascending}::boolean
          and (${state}::text is null or state = ${state})
          and (${transactionId}::text is null or transaction_id = ${transactionId})
        order by transaction_id limit ${limit})
    ) as page
    order by case when ${ascending}::boolean then transaction_id end, transaction_id desc`
  return rows.map(toPlan)
}

/** A plan that is ours until a moment, and what its merchant wants done about it. */
export type HeldPlan = PlanRow & {
  heldUntil: Date
  setting: Exclude<PlanSetting, 'record'>
  since: Date
  funding: string
  canChargeCard: boolean
}

/** Takes plans in hand that have something to be paid and that nobody else is at: those that have waited longest. */
export async function holdDuePlans(
  sql: Sql,
  { now, until, limit }: { now: Date; until: Date; limit: number },
): Promise<HeldPlan[]> {
  const rows = await sql<RawPlan & Pick<HeldPlan, 'heldUntil' | 'setting' | 'since' | 'funding' | 'canChargeCard'>>`
    with due as (
      select plans.merchant_id, transaction_id, merchants.plans as setting, plans_since as since, currency as funding, can_charge_card
      from pay.merchants join pay.plans on plans.merchant_id = merchants.id
      where merchants.plans <> 'record' and state = 'active' and try_at <= ${now}
        and (held_until is null or held_until <= ${now})
      order by try_at limit ${limit}
      for no key update of plans skip locked
    )
    update pay.plans set held_until = ${until}
    from due where plans.merchant_id = due.merchant_id and plans.transaction_id = due.transaction_id
    returning plans.merchant_id as "merchantId", plans.transaction_id as "transactionId", created, parts, state, reason, ended, component,
      occurrence, plans.due, tries, first_tried as "firstTried", try_at as "tryAt", made, missed,
      last_transaction_id as "lastTransactionId", error_code as "errorCode", held_until as "heldUntil", setting, since,
      funding, can_charge_card as "canChargeCard"`
  return rows.map(toPlan)
}

/** A plan of which a payment is being tried. */
export type Trying = HeldPlan & { firstTried: Date }

/** Writes down what is about to be tried, before it is; holds it anew. Undefined when it is not ours any more, or was stopped. */
export async function beginTry(
  sql: Sql,
  held: HeldPlan,
  { next, missed, tries, firstTried, until }: Pick<Progress, 'next' | 'missed' | 'tries'> & { firstTried: Date; until: Date },
): Promise<Trying | undefined> {
  const { count } = await sql`
    update pay.plans set component = ${next.component}, occurrence = ${next.occurrence}, due = ${next.due}, tries = ${tries},
      first_tried = ${firstTried}, try_at = ${next.due}, missed = missed + ${missed}, held_until = ${until}
    where merchant_id = ${held.merchantId} and transaction_id = ${held.transactionId} and state = 'active' and held_until = ${held.heldUntil}`
  return count === 1 ? { ...held, ...next, tries, firstTried, heldUntil: until } : undefined
}

/** What became of an occurrence: what is next and when, or that the plan is at its end. */
export type Progress = {
  next: Occurrence
  tries: number
  firstTried: Date | null
  tryAt: Date
  made: 0 | 1
  missed: number
  transactionId: string | null
  errorCode: ProcessingCode | null
  end: { state: 'finished' } | { state: 'stopped'; reason: StopReason } | undefined
  now: Date
}

/** False when somebody else has written it down. A plan that was stopped meanwhile stays so. */
export async function setProgress(sql: Sql, tried: HeldPlan, progress: Progress): Promise<boolean> {
  const { next, tries, firstTried, tryAt, made, missed, transactionId, errorCode, end, now } = progress
  const { count } = await sql`
    update pay.plans set component = ${next.component}, occurrence = ${next.occurrence}, due = ${next.due}, tries = ${tries},
      first_tried = ${firstTried}, try_at = ${tryAt}, held_until = null, made = made + ${made}, missed = missed + ${missed},
      last_transaction_id = coalesce(${transactionId}, last_transaction_id), error_code = ${errorCode},
      state = case when state = 'active' then ${end?.state ?? 'active'} else state end,
      reason = case when state = 'active' then ${end && 'reason' in end ? end.reason : null} else reason end,
      ended = case when state = 'active' then ${end ? now : null} else ended end
    where merchant_id = ${tried.merchantId} and transaction_id = ${tried.transactionId} and component = ${tried.component}
      and occurrence = ${tried.occurrence} and tries = ${tried.tries}`
  return count === 1
}

/** Looks again at a moment whether it is known what became of a payment. */
export async function awaitOutcome(
  sql: Sql,
  { merchantId, transactionId, heldUntil }: HeldPlan,
  { until, pendingId }: { until: Date; pendingId: string | null },
): Promise<void> {
  await sql`
    update pay.plans set held_until = ${until}, last_transaction_id = coalesce(${pendingId}, last_transaction_id)
    where merchant_id = ${merchantId} and transaction_id = ${transactionId} and held_until = ${heldUntil}`
}

/** Nothing more is charged. One that has ended already stays as it is; undefined when there is no such plan. */
export async function stopPlan(
  sql: Sql,
  { merchantId, transactionId, now }: { merchantId: string; transactionId: string; now: Date },
): Promise<'stopped' | 'ended before' | undefined> {
  const [plan] = await sql<{ stopped: boolean }>`
    with stopped as (
      update pay.plans set state = 'stopped', reason = 'asked', ended = ${now}
      where merchant_id = ${merchantId} and transaction_id = ${transactionId} and state = 'active'
      returning transaction_id
    )
    select exists (select from stopped) as stopped
    from pay.plans where merchant_id = ${merchantId} and transaction_id = ${transactionId}`
  return plan && (plan.stopped ? 'stopped' : 'ended before')
}
