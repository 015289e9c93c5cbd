import type { Tx } from '@tollgate/kit/db'
import type { PageOf } from './place.ts'

/** What follows sees the database as it is now, whoever writes meanwhile. Nothing may have been asked before. */
export async function holdStill(tx: Tx): Promise<void> {
  await tx`set transaction isolation level repeatable read, read only`
}

export type IdentityFacts = { id: string; created: Date }

export async function readApps(tx: Tx, { after: [id], limit }: PageOf): Promise<IdentityFacts[]> {
  return await tx<IdentityFacts>`select id, created from pay.apps where id > ${id} order by id limit ${limit}`
}

export async function readUsers(tx: Tx, { after: [id], limit }: PageOf): Promise<IdentityFacts[]> {
  return await tx<IdentityFacts>`select id, created from pay.users where id > ${id} order by id limit ${limit}`
}

export type MerchantFacts = { id: string; created: Date; currency: string; prices: number }

export async function readMerchants(tx: Tx, { after: [id], limit }: PageOf): Promise<MerchantFacts[]> {
  return await tx<MerchantFacts>`
    select id, created, currency, (select count(*) from pay.prices where merchant_id = merchants.id) as prices
    from pay.merchants where id > ${id} order by id limit ${limit}`
}

export type PriceFacts = {
  merchantId: string
  since: Date
  place: string
  merchantExists: boolean
  flatCurrency: string
  disputeCurrency: string
}

export async function readPrices(tx: Tx, { after: [merchantId, since], limit }: PageOf): Promise<PriceFacts[]> {
  return await tx<PriceFacts>`
    select merchant_id as "merchantId", since, since::text as place,
      exists (select from pay.merchants where merchants.id = merchant_id) as "merchantExists",
      flat_currency as "flatCurrency", dispute_currency as "disputeCurrency"
    from pay.prices
    where (merchant_id, since) > (${merchantId}, coalesce(nullif(${since}::text, ''), '-infinity')::timestamptz)
    order by merchant_id, since limit ${limit}`
}

export type MemberFacts = {
  merchantId: string
  identityId: string
  kind: 'app' | 'user'
  merchantExists: boolean
  identityExists: boolean
}

export async function readMembers(tx: Tx, { after: [merchantId, identityId], limit }: PageOf): Promise<MemberFacts[]> {
  return await tx<MemberFacts>`
    select merchant_id as "merchantId", identity_id as "identityId", kind,
      exists (select from pay.merchants where merchants.id = merchant_id) as "merchantExists",
      case kind
        when 'app' then exists (select from pay.apps where apps.id = identity_id)
        else exists (select from pay.users where users.id = identity_id)
      end as "identityExists"
    from pay.members
    where (merchant_id, identity_id) > (${merchantId}, ${identityId})
    order by merchant_id, identity_id limit ${limit}`
}

export type ClaimFacts = {
  ownerId: string
  keyHash: string
  created: Date
  ownerExists: boolean
  merchantId: string | null
  transactionId: string | null
  entryId: string | null
  merchantExists: boolean
  transactionExists: boolean
  entryExists: boolean
}

export async function readClaims(tx: Tx, { after: [ownerId, keyHash], limit }: PageOf): Promise<ClaimFacts[]> {
  return await tx<ClaimFacts>`
    select owner_id as "ownerId", key_hash as "keyHash", claim.created, claim.merchant_id as "merchantId", claim.transaction_id as "transactionId",
      entry_id as "entryId",
      exists (select from pay.apps where apps.id = owner_id) or exists (select from pay.users where users.id = owner_id)
        -- What is done for a merchant when nobody asks.
        or exists (select from pay.merchants where merchants.id = owner_id) as "ownerExists",
      exists (select from pay.merchants where merchants.id = claim.merchant_id) as "merchantExists",
      exists (select from pay.transactions
        where transactions.merchant_id = claim.merchant_id and transactions.id = claim.transaction_id) as "transactionExists",
      exists (select from pay.trail
        where trail.merchant_id = claim.merchant_id and trail.transaction_id = claim.transaction_id and trail.id = entry_id) as "entryExists"
    from (
      select owner_id, key_hash, created, merchant_id, transaction_id, entry_id from pay.idempotency
      where (owner_id, key_hash) > (${ownerId}, ${keyHash}) order by owner_id, key_hash limit ${limit}
    ) claim
    order by owner_id, key_hash`
}
