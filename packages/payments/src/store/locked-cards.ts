import type { Sql } from '@tollgate/kit/db'

/** The card of an agreement, as the vault has locked it. */
export type LockedCard = { merchantId: string; transactionId: string; card: Buffer }

/** In the order of their ids, from behind the one that is named. */
export function listLockedCards(
  sql: Sql,
  { after, limit }: { after: Pick<LockedCard, 'merchantId' | 'transactionId'>; limit: number },
): Promise<LockedCard[]> {
  return sql<LockedCard>`
    select merchant_id as "merchantId", transaction_id as "transactionId", card from pay.agreements
    where card is not null and (merchant_id, transaction_id) > (${after.merchantId}, ${after.transactionId})
    order by merchant_id, transaction_id limit ${limit}`
}

/** Puts each in the place of what it was made from, and leaves alone what has become another one meanwhile. Tells how many. */
export async function replaceLockedCards(sql: Sql, cards: readonly (LockedCard & { anew: Buffer })[]): Promise<number> {
  const hex = (bytes: Buffer) => bytes.toString('hex')
  const { count } = await sql`
    update pay.agreements set card = decode(changed.anew, 'hex')
    from unnest(${cards.map(({ merchantId }) => merchantId)}::text[], ${cards.map(({ transactionId }) => transactionId)}::text[],
      ${cards.map(({ card }) => hex(card))}::text[], ${cards.map(({ anew }) => hex(anew))}::text[])
      as changed (merchant_id, transaction_id, card, anew)
    where agreements.merchant_id = changed.merchant_id and agreements.transaction_id = changed.transaction_id
      and agreements.card = decode(changed.card, 'hex')`
  return count
}

/** How many cards are locked with which key: its id stands behind its length, as the vault's envelope has it. */
export function countLockedCards(sql: Sql): Promise<{ keyId: string; cards: number }[]> {
  return sql<{ keyId: string; cards: number }>`
    select encode(substring(card from 3 for get_byte(card, 1)), 'escape') as "keyId", count(*) as cards
    from pay.agreements where length(card) > 2
    group by 1 order by 1`
}
