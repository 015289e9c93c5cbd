import { Json, type Tx } from '@tollgate/kit/db'
import type { Metadata } from './users.ts'

/** What somebody who signed up for an existing account was told first; they are told the same ever after. */
export async function putDecoy(
  tx: Tx,
  decoy: { userId: string; address: string; userMetadata: Metadata; now: Date },
): Promise<{ createdAt: Date; userMetadata: Metadata }> {
  const [kept] = await tx<{ createdAt: Date; userMetadata: Metadata }>`
    insert into auth.decoys as d (user_id, address, user_metadata, created_at)
    values (${decoy.userId}, ${decoy.address}, ${new Json(decoy.userMetadata)}, ${decoy.now})
    on conflict (user_id, address) do update set created_at = d.created_at
    returning created_at as "createdAt", user_metadata as "userMetadata"`
  return kept as { createdAt: Date; userMetadata: Metadata }
}
