import { Json, type Sql } from '@tollgate/kit/db'
import type { Claim } from './idempotency.ts'

export type PlainCharge = {
  identityId: string
  merchantId: string
  /** The earlier transaction. */
  sourceId: string
  id: string
  created: Date
  amount: number
  currency: string
  /** Instead of the merchant's own. */
  descriptor: string | undefined
  custom: object | null
  /** First six and last four digits of the cards that the simulator may have something against. */
  oddCards: readonly string[]
  claim: Claim | undefined
}

/**
 * Charges a customer again in one statement: who may, from what, the authorization and the simulator's record of it. Plain is what the
 * simulator would approve without a second thought: a test merchant's own currency and a card that it has nothing against and that has
 * not expired. False for everything else, and for what has to be refused: nothing was written then.
 */
export async function insertPlainCharge(sql: Sql, charge: PlainCharge): Promise<boolean> {
  const { identityId, merchantId, sourceId, id, created, amount, currency, descriptor = null, custom, oddCards, claim } = charge
  const rows = await sql`
    with made as (
      insert into pay.transactions (merchant_id, id, created, test, state, currency, amount, capturable, descriptor, custom, recurring,
        card_bin, card_last4, card_expiry, card_scheme, card_code_present, source_id, acquirer, acquirer_reference)
      select merchants.id, ${id}, ${created}, true, 'approved', ${currency}, ${amount}, ${amount},
        coalesce(${descriptor}, merchants.descriptor), ${custom ? new Json(custom) : null}::json, true,
        card_bin, card_last4, card_expiry, card_scheme, false, source.id, 'simulator', ${id}
      from pay.merchants
      join pay.transactions source on source.merchant_id = ${merchantId} and source.id = ${sourceId}
      where merchants.id = ${merchantId} and merchants.test and can_charge_card and merchants.currency = ${currency}
        and source.state = 'approved' and source.acquirer = 'simulator' and source.simulation is null
        and card_expiry > ${created} and card_bin || card_last4 <> all(${oddCards}::text[])
        and exists (
          select from pay.members where members.merchant_id = merchants.id and identity_id = ${identityId}
        )
      returning merchant_id
    ), simulated as (
      insert into pay.simulator_operations (merchant_id, reference, authorization_reference, kind, amount, currency, approved, created)
      select merchant_id, ${id}, ${id}, 'authorize', ${amount}, ${currency}, true, ${created} from made
    ), claimed as (
      insert into pay.idempotency (owner_id, key_hash, fingerprint, method, path, created, merchant_id, transaction_id)
      select ${claim?.ownerId ?? null}, ${claim?.keyHash ?? null}, ${claim?.fingerprint ?? null}::bytea, ${claim?.method ?? null},
        ${claim?.path ?? null}, ${created}, merchant_id, ${id}
      from made where ${claim !== undefined}::boolean
    )
    select from made`
  return rows.length === 1
}
