import type { Tx } from '@tollgate/kit/db'
import type { PlanState } from '../plans.ts'
import type { Transaction } from '../transactions.ts'
import type { PageOf } from './place.ts'

type OfTransaction = {
  merchantId: string
  transactionId: string
  created: Date
  /** Of the payment that it was made together with; null where there is none of this merchant. */
  transactionState: Transaction['state'] | null
}

export type AgreementFacts = OfTransaction & {
  /** Whether payments were announced. */
  isPlanned: boolean
  planExists: boolean
  unplannedMerchant: boolean
  unplannedCustomer: boolean
}

export async function readAgreements(tx: Tx, { after: [merchantId, transactionId], limit }: PageOf): Promise<AgreementFacts[]> {
  return await tx<AgreementFacts>`
    select it.merchant_id as "merchantId", it.transaction_id as "transactionId", it.created, transactions.state as "transactionState",
      it.plan is not null as "isPlanned",
      exists (select from pay.plans where plans.merchant_id = it.merchant_id and plans.transaction_id = it.transaction_id) as "planExists",
      unplanned_merchant as "unplannedMerchant", unplanned_customer as "unplannedCustomer"
    from (
      select * from pay.agreements where (merchant_id, transaction_id) > (${merchantId}, ${transactionId})
      order by merchant_id, transaction_id limit ${limit}
    ) it
    left join pay.transactions on transactions.merchant_id = it.merchant_id and transactions.id = it.transaction_id
    order by it.merchant_id, it.transaction_id`
}

export type PlanFacts = OfTransaction & {
  agreementExists: boolean
  state: PlanState
  parts: number
  component: number
  occurrence: number
  tries: number
  made: number
  /** Payments of its own that were approved. */
  approved: number
  /** The hash of the key that the newest of them was made under. */
  newest: string | null
  lastTransactionId: string | null
  lastExists: boolean
}

export async function readPlans(tx: Tx, { after: [merchantId, transactionId], limit }: PageOf): Promise<PlanFacts[]> {
  return await tx<PlanFacts>`
    with it as (
      select * from pay.plans where (merchant_id, transaction_id) > (${merchantId}, ${transactionId})
      order by merchant_id, transaction_id limit ${limit}
    ), charges as (
      -- For all of a page at once: nothing leads from a path to the keys that were used there.
      select owner_id, path, count(*) as approved, (array_agg(key_hash order by transactions.id desc))[1] as newest
      from pay.idempotency
      join pay.transactions on transactions.merchant_id = idempotency.merchant_id and transactions.id = idempotency.transaction_id
      where owner_id in (select merchant_id from it) and method = 'PLAN' and entry_id is null and transactions.state = 'approved'
      group by owner_id, path
    )
    select it.merchant_id as "merchantId", it.transaction_id as "transactionId", it.created, transactions.state as "transactionState",
      exists (
        select from pay.agreements
        where agreements.merchant_id = it.merchant_id and agreements.transaction_id = it.transaction_id and agreements.plan is not null
      ) as "agreementExists",
      it.state, json_array_length(parts) as parts, component, occurrence, tries, made, coalesce(approved, 0) as approved, newest,
      last_transaction_id as "lastTransactionId",
      exists (
        select from pay.transactions last
        where last.merchant_id = it.merchant_id and last.id = last_transaction_id and last.source_id = it.transaction_id
      ) as "lastExists"
    from it
    left join pay.transactions on transactions.merchant_id = it.merchant_id and transactions.id = it.transaction_id
    left join charges on charges.owner_id = it.merchant_id and charges.path = '/merchants/' || it.merchant_id || '/plans/' || it.transaction_id
    order by it.merchant_id, it.transaction_id`
}

export type CodeFacts = { id: string; expires: Date }

export async function readSecurityCodes(tx: Tx, { after: [id], limit }: PageOf): Promise<CodeFacts[]> {
  return await tx<CodeFacts>`
    select encode(id, 'hex') as id, expires from pay.security_codes where id > decode(${id}, 'hex') order by id limit ${limit}`
}
