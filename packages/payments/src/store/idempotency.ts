import type { Sql } from '@tollgate/kit/db'

/** A caller's Idempotency-Key and what it was sent with. */
export type Claim = { ownerId: string; key: string; keyHash: string; fingerprint: Buffer; method: string; path: string }

export type Claimed = Omit<Claim, 'key'> & {
  created: Date
  merchantId: string | null
  transactionId: string | null
  entryId: string | null
  status: number | null
  answer: Buffer | null
}

export async function findClaimed(
  sql: Sql,
  { ownerId, keyHash }: Pick<Claim, 'ownerId' | 'keyHash'>,
): Promise<Claimed | undefined> {
  const [claimed] = await sql<Claimed>`
    select owner_id as "ownerId", key_hash as "keyHash", fingerprint, method, path, created, merchant_id as "merchantId", transaction_id as "transactionId",
      entry_id as "entryId", status, answer
    from pay.idempotency where owner_id = ${ownerId} and key_hash = ${keyHash}`
  return claimed
}

/** Whether nobody else is at this very key at the moment. Held until the transaction ends. */
export async function holdKey(tx: Sql, { ownerId, keyHash }: Claim): Promise<boolean> {
  const [row] = await tx<{
    held: boolean
  }>`select pg_try_advisory_xact_lock(hashtextextended(${`${ownerId} ${keyHash}`}, 0)) as held`
  return row?.held ?? false
}

/** False when something that has no answer to keep, a movement, has taken the key meanwhile. */
export async function insertAnswered(
  tx: Sql,
  { ownerId, keyHash, fingerprint, method, path }: Claim,
  { created, status, answer }: { created: Date; status: number; answer: Buffer },
): Promise<boolean> {
  const { count } = await tx`
    insert into pay.idempotency (owner_id, key_hash, fingerprint, method, path, created, status, answer)
    values (${ownerId}, ${keyHash}, ${fingerprint}, ${method}, ${path}, ${created}, ${status}, ${answer})
    on conflict (owner_id, key_hash) do nothing`
  return count === 1
}
