import type { Sql } from '@tollgate/kit/db'
import type { CardFacts, Simulation } from '../acquirers/acquirer.ts'
import type { Transaction } from './transactions.ts'

/** What a customer is charged again with: an earlier transaction, or a saved card and the transaction that it was saved from. */
export type Source = {
  id: string
  state: Transaction['state']
  card: CardFacts
  acquirerReference: string | undefined
  simulation: Simulation | undefined
}

export type ChargingMerchant = { id: string; test: boolean; currency: string; descriptor: string; canChargeCard: boolean }

type Asked = { identityId: string; merchantId: string; transactionId: string | undefined; cardId: string | undefined }

type Row = ChargingMerchant & {
  sourceId: string | null
  state: Transaction['state']
  bin: string
  last4: string
  expiry: Date
  scheme: CardFacts['scheme']
  acquirerReference: string | null
  simulation: Simulation | null
}

/** A merchant of this identity, and the transaction that is named by its own id or by the card that was saved from it. */
export async function findSource(
  sql: Sql,
  { identityId, merchantId, transactionId, cardId }: Asked,
): Promise<{ merchant: ChargingMerchant; source: Source | undefined } | undefined> {
  const [row] = await sql<Row>`
    select merchants.id, merchants.test, merchants.currency, merchants.descriptor, can_charge_card as "canChargeCard",
      source.id as "sourceId", source.state, source.card_bin as bin, source.card_last4 as last4, source.card_expiry as expiry,
      source.card_scheme as scheme, source.acquirer_reference as "acquirerReference", source.simulation
    from pay.merchants
    left join lateral (
      -- The limit keeps the planner from reading all that the merchant has.
      select * from pay.transactions
      where transactions.merchant_id = ${merchantId} and transactions.id = coalesce(${transactionId ?? null},
        (select transaction_id from pay.cards where cards.merchant_id = ${merchantId} and cards.id = ${cardId ?? null} and deleted is null))
      limit 1
    ) source on true
    where merchants.id = ${merchantId} and exists (
      select from pay.members where members.merchant_id = merchants.id and identity_id = ${identityId}
    )`
  if (!row) return undefined
  const { id, test, currency, descriptor, canChargeCard, sourceId, state, bin, last4, expiry, scheme } = row
  const merchant = { id, test, currency, descriptor, canChargeCard }
  if (sourceId === null) return { merchant, source: undefined }
  // A server has no security code to send.
  const card = { bin, last4, expiry, scheme, codePresent: false }
  const acquirerReference = row.acquirerReference ?? undefined
  return { merchant, source: { id: sourceId, state, card, acquirerReference, simulation: row.simulation ?? undefined } }
}
