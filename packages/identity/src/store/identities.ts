import { Json, type Sql, type Tx } from '@tollgate/kit/db'
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

/** The identity that an account has by its own address or number, made or brought up to date. */
export async function putOwnIdentity(
  tx: Tx,
  userId: string,
  { provider, data, now }: { provider: 'email' | 'phone'; data: Metadata; now: Date },
): Promise<void> {
  await tx`
    insert into auth.identities as i (provider_id, user_id, provider, identity_data, last_sign_in_at, created_at, updated_at)
    values (${userId}, ${userId}, ${provider}, ${new Json({ sub: userId, ...data })}, ${now}, ${now}, ${now})
    on conflict (provider_id, provider) do update set identity_data = i.identity_data || excluded.identity_data, updated_at = ${now}`
}

export async function deleteIdentity(tx: Tx, id: string): Promise<void> {
  await tx`delete from auth.identities where id = ${id}`
}

/** Which of the addresses are somebody else's. */
export async function listTakenEmails(sql: Sql, emails: readonly string[], exceptId: string): Promise<string[]> {
  const taken = await sql<{ email: string }>`
    select email from auth.users where email = any(${emails}) and not is_sso_user and id <> ${exceptId}`
  return taken.map(({ email }) => email)
}

/**
 * The address of an account is from now on another identity's, or none; whatever was under way for the old one is over. Throws a unique
 * violation when somebody else has taken it meanwhile.
 */
export async function promoteEmail(
  tx: Tx,
  userId: string,
  { email, verified, confirmed, now }: { email: string | null; verified: boolean; confirmed: boolean; now: Date },
): Promise<void> {
  const told = new Json({ email, email_verified: verified })
  await tx`
    with code as (delete from auth.one_time_tokens where user_id = ${userId})
    update auth.users set email = ${email}, email_confirmed_at = case when ${confirmed} then email_confirmed_at end,
      email_change = '', email_change_confirm_status = 0, phone_change = '', confirmation_sent_at = null, recovery_sent_at = null,
      email_change_sent_at = null, phone_change_sent_at = null, reauthentication_sent_at = null, updated_at = ${now},
      raw_user_meta_data = (coalesce(raw_user_meta_data, '{}') || ${told}) - (case when ${email}::text is null then array['email'] else '{}' end)
    where id = ${userId}`
}

/** An account without its number; whatever was under way is over, because a code for the number may be among it. */
export async function clearPhone(tx: Tx, userId: string, now: Date): Promise<void> {
  await tx`
    with code as (delete from auth.one_time_tokens where user_id = ${userId})
    update auth.users set phone = null, phone_confirmed_at = null, phone_change = '', email_change = '', email_change_confirm_status = 0,
      confirmation_sent_at = null, recovery_sent_at = null, email_change_sent_at = null, phone_change_sent_at = null,
      reauthentication_sent_at = null, updated_at = ${now},
      raw_user_meta_data = (coalesce(raw_user_meta_data, '{}') || '{"phone_verified": false}') - 'phone'
    where id = ${userId}`
}
