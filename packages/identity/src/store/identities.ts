import { Json, type Sql } from '@tollgate/kit/db'
import type { Metadata } from './users.ts'

export type NewIdentity = { providerId: string; userId: string; provider: string; identityData: Metadata; now: Date }

/** False when the identity belongs to somebody already. */
export async function insertIdentity(sql: Sql, identity: NewIdentity): Promise<boolean> {
  const { providerId, userId, provider, identityData, now } = identity
  const { count } = await sql`
    insert into auth.identities (provider_id, user_id, provider, identity_data, last_sign_in_at, created_at, updated_at)
    values (${providerId}, ${userId}, ${provider}, ${new Json(identityData)}, ${now}, ${now}, ${now})
    on conflict (provider_id, provider) do nothing`
  return count === 1
}
