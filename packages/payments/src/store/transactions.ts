import { Json, type Sql } from '@tollgate/kit/db'
import type { CardFacts, Decided, Simulation } from '../acquirers/acquirer.ts'
import type { Price } from '../rules/fees.ts'
import type { Page } from '../rules/page.ts'
import type { ProcessingCode } from '../rules/processing-errors.ts'
import type { Claim } from './idempotency.ts'
import { type RawEntry, type TrailEntry, toEntry } from './trail-entry.ts'

export type Transaction = {
  merchantId: string
  id: string
  created: Date
  test: boolean
  state: 'pending' | 'approved' | 'declined'
  errorCode: ProcessingCode | null
  currency: string
  amount: number
  captured: number
  refunded: number
  voided: number
  disputed: number
  capturable: number
  refundable: number
  capturedGross: number
  capturedRateFee: number
  returned: number
  returnedGross: number
  returnedRateFee: number
  descriptor: string
  custom: unknown
  recurring: boolean
  tds: 'none' | 'attempt' | 'full'
  card: CardFacts
  sourceId: string | null
  acquirer: string
  acquirerReference: string | null
  simulation: Simulation | null
  /** Everything that was done to it, oldest first. */
  trail: TrailEntry[]
}

/** The merchant of a transaction, as far as moving its money needs it. */
export type MovingMerchant = { currency: string; canCapture: boolean; canRefund: boolean; canVoid: boolean; price: Price }

type RawTransaction = {
  merchant_id: string
  id: string
  created: Date
  test: boolean
  state: Transaction['state']
  error_code: ProcessingCode | null
  currency: string
  amount: number
  captured: number
  refunded: number
  voided: number
  disputed: number
  capturable: number
  refundable: number
  captured_gross: number
  captured_rate_fee: number
  returned: number
  returned_gross: number
  returned_rate_fee: number
  entries: number
  descriptor: string
  custom: unknown
  recurring: boolean
  tds: Transaction['tds']
  card_bin: string
  card_last4: string
  card_expiry: Date
  card_scheme: CardFacts['scheme']
  card_code_present: boolean
  source_id: string | null
  acquirer: string
  acquirer_reference: string | null
  simulation: Simulation | null
  trail: RawEntry[] | null
}

function toTransaction(row: RawTransaction): Transaction {
  return {
    merchantId: row.merchant_id,
    id: row.id,
    created: row.created,
    test: row.test,
    state: row.state,
    errorCode: row.error_code,
    currency: row.currency,
    amount: row.amount,
    captured: row.captured,
    refunded: row.refunded,
    voided: row.voided,
    disputed: row.disputed,
    capturable: row.capturable,
    refundable: row.refundable,
    capturedGross: row.captured_gross,
    capturedRateFee: row.captured_rate_fee,
    returned: row.returned,
    returnedGross: row.returned_gross,
    returnedRateFee: row.returned_rate_fee,
    descriptor: row.descriptor,
    custom: row.custom,
    recurring: row.recurring,
    tds: row.tds,
    card: {
      bin: row.card_bin,
      last4: row.card_last4,
      expiry: row.card_expiry,
      scheme: row.card_scheme,
      codePresent: row.card_code_present,
    },
    sourceId: row.source_id,
    acquirer: row.acquirer,
    acquirerReference: row.acquirer_reference,
    simulation: row.simulation,
    trail: (row.trail ?? []).map(toEntry).toSorted((one, other) => one.position - other.position),
  }
}

export type FoundTransaction = { transaction: Transaction; merchant: MovingMerchant }

type RawFound = RawTransaction & {
  funding: string
  can_capture: boolean
  can_refund: boolean
  can_void: boolean
  rate: string
  flat_currency: string
  flat_amount: number
  dispute_currency: string
  dispute_amount: number
}

function toFound(row: RawFound): FoundTransaction {
  return {
    transaction: toTransaction(row),
    merchant: {
      currency: row.funding,
      canCapture: row.can_capture,
      canRefund: row.can_refund,
      canVoid: row.can_void,
      price: {
        rate: row.rate,
        flat: { currency: row.flat_currency, amount: row.flat_amount },
        dispute: { currency: row.dispute_currency, amount: row.dispute_amount },
      },
    },
  }
}

/** A transaction of a merchant that this identity is a member of, with all that moving its money takes. */
export async function findOwnTransaction(sql: Sql, id: string, identityId: string): Promise<FoundTransaction | undefined> {
  const [row] = await sql<RawFound>`
    select * from pay.movable_transactions
    where id = ${id} and exists (
      select from pay.members where members.merchant_id = movable_transactions.merchant_id and identity_id = ${identityId}
    )`
  return row && toFound(row)
}

export async function findTransaction(sql: Sql, merchantId: string, id: string): Promise<FoundTransaction | undefined> {
  const [row] = await sql<RawFound>`select * from pay.movable_transactions where merchant_id = ${merchantId} and id = ${id}`
  return row && toFound(row)
}

/**
 * Nobody else moves its money until the transaction of the database ends; its merchant is left alone. Comes without the trail, which may
 * grow while this waits.
 */
export async function lockTransaction(tx: Sql, merchantId: string, id: string): Promise<FoundTransaction | undefined> {
  const [row] = await tx<RawFound>`
    select transactions.*, merchants.currency as funding, can_capture, can_refund, can_void,
      rate, flat_currency, flat_amount, dispute_currency, dispute_amount, null as trail
    from pay.transactions
    join pay.merchants on merchants.id = transactions.merchant_id
    cross join lateral (
      select * from pay.prices where prices.merchant_id = transactions.merchant_id order by since desc limit 1
    ) price
    where transactions.merchant_id = ${merchantId} and transactions.id = ${id}
    for update of transactions`
  return row && toFound(row)
}

export type TransactionFilter = {
  test?: boolean
  currency?: string
  amount?: number
  successful?: boolean
  recurring?: boolean
  tds?: string
  descriptor?: string
}

export async function listTransactions(
  sql: Sql,
  merchantId: string,
  { limit, before, after, ascending }: Page,
  filter: TransactionFilter = {},
): Promise<Transaction[]> {
  const { test = null, currency = null, amount = null, successful = null, recurring = null, tds = null } = filter
  const { descriptor = null } = filter
  const rows = await sql<RawTransaction>`
    with page as (
      (select * from pay.transactions
       where merchant_id = ${merchantId} and id < ${before} and id > ${after} and not ${ascending}::boolean
         and (${test}::boolean is null or test = ${test})
         and (${currency}::text is null or currency = ${currency})
         and (${amount}::bigint is null or amount = ${amount})
         and (${successful}::boolean is null or (state = 'approved') = ${successful})
         and (${recurring}::boolean is null or recurring = ${recurring})
         and (${tds}::text is null or tds = ${tds})
         and (${descriptor}::text is null or descriptor = ${descriptor})
       order by id desc limit ${limit})
      union all
      (select * from pay.transactions
       where merchant_id = ${merchantId} and id < ${before} and id > ${after} and ${ascending}::boolean
         and (${test}::boolean is null or test = ${test})
         and (${currency}::text is null or currency = ${currency})
         and (${amount}::bigint is null or amount = ${amount})
         and (${successful}::boolean is null or (state = 'approved') = ${successful})
         and (${recurring}::boolean is null or recurring = ${recurring})
         and (${tds}::text is null or tds = ${tds})
         and (${descriptor}::text is null or descriptor = ${descriptor})
       order by id limit ${limit})
    )
    select page.*, case when entries > 0 then (
      select json_agg(trail) from pay.trail where trail.merchant_id = page.merchant_id and transaction_id = page.id
    ) end as trail
    from page
    order by case when ${ascending}::boolean then id end, id desc`
  return rows.map(toTransaction)
}

export type NewTransaction = Pick<
  Transaction,
  | 'merchantId'
  | 'id'
  | 'created'
  | 'test'
  | 'currency'
  | 'amount'
  | 'descriptor'
  | 'recurring'
  | 'tds'
  | 'card'
  | 'sourceId'
  | 'acquirer'
> & { custom: object | null; cardId: string | null; simulation: Simulation | null }

/**
 * Writes an authorization: with the acquirer's decision where that is known already, together with the simulator's own record of it; as
 * pending otherwise. A key that was used before is a unique violation, and nothing is written.
 */
export async function insertTransaction(
  sql: Sql,
  transaction: NewTransaction,
  decided: Decided | undefined,
  claim: Claim | undefined,
): Promise<void> {
  const { merchantId, id, created, test, currency, amount, descriptor, custom, recurring, tds, card } = transaction
  const { sourceId, cardId, acquirer, simulation } = transaction
  const state = decided?.kind ?? 'pending'
  const code = decided?.kind === 'declined' ? decided.code : null
  const reference = decided?.kind === 'approved' ? (decided.acquirerReference ?? null) : null
  await sql`
    with made as (
      insert into pay.transactions (merchant_id, id, created, test, state, error_code, currency, amount, capturable, descriptor, custom,
        recurring, tds, card_bin, card_last4, card_expiry, card_scheme, card_code_present, source_id, card_id, acquirer,
        acquirer_reference, simulation)
      values (${merchantId}, ${id}, ${created}, ${test}, ${state}, ${code}, ${currency}, ${amount},
        ${state === 'approved' ? amount : 0}, ${descriptor}, ${custom ? new Json(custom) : null}, ${recurring}, ${tds}, ${card.bin},
        ${card.last4}, ${card.expiry}, ${card.scheme}, ${card.codePresent}, ${sourceId}, ${cardId}, ${acquirer}, ${reference},
        ${simulation ? new Json(simulation) : null})
    ), simulated as (
      insert into pay.simulator_operations (merchant_id, reference, authorization_reference, kind, amount, currency, approved, code, created)
      select ${merchantId}, ${id}, ${id}, 'authorize', ${amount}, ${currency}, ${state === 'approved'}, ${code}, ${created}
      where ${decided !== undefined && acquirer === 'simulator'}::boolean
    )
    insert into pay.idempotency (owner_id, key_hash, fingerprint, method, path, created, merchant_id, transaction_id)
    select ${claim?.ownerId ?? null}, ${claim?.keyHash ?? null}, ${claim?.fingerprint ?? null}::bytea, ${claim?.method ?? null},
      ${claim?.path ?? null}, ${created}, ${merchantId}, ${id}
    where ${claim !== undefined}::boolean`
}

/** Writes down what the acquirer decided about a pending authorization; false when somebody else has. */
export async function settleAuthorization(
  sql: Sql,
  { merchantId, id }: { merchantId: string; id: string },
  decided: Decided,
): Promise<boolean> {
  const approved = decided.kind === 'approved'
  const { count } = await sql`
    with forgotten as (
      -- Nothing follows a payment that failed, so that there is no reason to keep the card.
      delete from pay.agreements where merchant_id = ${merchantId} and transaction_id = ${id} and not ${approved}
    ), unplanned as (
      delete from pay.plans where merchant_id = ${merchantId} and transaction_id = ${id} and not ${approved}
    )
    update pay.transactions set state = ${decided.kind}, error_code = ${approved ? null : decided.code},
      acquirer_reference = ${(approved && decided.acquirerReference) || null},
      capturable = case when ${approved} then amount else 0 end
    where merchant_id = ${merchantId} and id = ${id} and state = 'pending'`
  return count === 1
}

/** Authorizations of some time that still hold money, in the order of their ids. */
export async function listUncaptured(
  sql: Sql,
  { from, through, after, limit }: { from: Date; through: Date; after: string; limit: number },
): Promise<{ merchantId: string; id: string; capturable: number }[]> {
  return await sql<{ merchantId: string; id: string; capturable: number }>`
    select merchant_id as "merchantId", id, capturable from pay.transactions
    where created > ${from} and created <= ${through} and capturable > 0 and id > ${after}
    order by id limit ${limit}`
}
