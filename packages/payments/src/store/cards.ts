import type { Sql } from '@tollgate/kit/db'

export type CardRow = {
  id: string
  merchantId: string
  created: Date
  bin: string
  last4: string
  expiry: Date
  scheme: 'visa' | 'mastercard'
  notes: string | null
  deleted: Date | null
}

/**
 * Saves the card of an approved transaction of a merchant, where the merchant is allowed to save cards. Tells whether it is, and whether
 * there was such a transaction.
 */
export async function insertCardOfTransaction(
  sql: Sql,
  card: { merchantId: string; id: string; created: Date; transactionId: string; notes: string | null },
): Promise<{ allowed: boolean; saved: boolean }> {
  const [outcome] = await sql<{ allowed: boolean; saved: boolean }>`
    with merchant as (
      select can_save_card as allowed from pay.merchants where id = ${card.merchantId}
    ), saved as (
      insert into pay.cards (merchant_id, id, created, transaction_id, bin, last4, expiry, scheme, notes)
      select merchant_id, ${card.id}, ${card.created}, id, card_bin, card_last4, card_expiry, card_scheme, ${card.notes}
      from pay.transactions, merchant
      where merchant_id = ${card.merchantId} and id = ${card.transactionId} and state = 'approved' and allowed
      returning id
    )
    select coalesce((select allowed from merchant), false) as allowed, exists (select from saved) as saved`
  return outcome as { allowed: boolean; saved: boolean }
}

/**
 * Saves the card that a payment of nothing has just checked, under the id of that payment: whoever tries again after a crash or a lost
 * answer finds the same card.
 */
export async function insertCheckedCard(sql: Sql, { merchantId, transactionId }: { merchantId: string; transactionId: string }) {
  await sql`
    insert into pay.cards (merchant_id, id, created, transaction_id, bin, last4, expiry, scheme)
    select merchant_id, id, created, id, card_bin, card_last4, card_expiry, card_scheme
    from pay.transactions
    where merchant_id = ${merchantId} and id = ${transactionId} and state = 'approved'
    on conflict (merchant_id, id) do nothing`
}

/** A card, if this identity is a member of its merchant. */
export async function findOwnCard(sql: Sql, identityId: string, id: string): Promise<CardRow | undefined> {
  const [card] = await sql<CardRow>`
    select id, merchant_id as "merchantId", created, bin, last4, expiry, scheme, notes, deleted
    from pay.cards
    where id = ${id} and exists (
      select from pay.members where members.merchant_id = cards.merchant_id and identity_id = ${identityId}
    )`
  return card
}
