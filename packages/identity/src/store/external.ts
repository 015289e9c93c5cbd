import { Json, type Tx } from '@tollgate/kit/db'
import type { Metadata } from './users.ts'

/** Whose identity it is. */
export async function findIdentityOwner(tx: Tx, provider: string, subject: string): Promise<string | undefined> {
  const [owner] = await tx<{ userId: string }>`
    select user_id as "userId" from auth.identities where provider = ${provider} and provider_id = ${subject}`
  return owner?.userId
}

/**
 * Whose accounts some addresses are: by the address of the account, or by one that another provider vouches for. An address that was only
 * typed is nobody's, unless nothing else about the account is proved either: then it is whoever's address it is.
 */
export async function listAddressOwners(tx: Tx, emails: readonly string[], aud: string): Promise<string[]> {
  if (emails.length === 0) return []
  const owners = await tx<{ id: string }>`
    select u.id from auth.users u
    where u.email = any(${emails}) and (u.email_confirmed_at is not null or u.confirmed_at is null)
      and u.aud = ${aud} and not u.is_sso_user and u.deleted_at is null
    union
    select u.id from auth.identities i join auth.users u on u.id = i.user_id
    where i.email = any(${emails}) and (i.identity_data ->> 'email_verified')::boolean and i.provider not like 'sso:%'
      and u.aud = ${aud} and not u.is_sso_user and u.deleted_at is null`
  return owners.map(({ id }) => id)
}

type KeptIdentity = { provider: string; subject: string; userId: string; data: Metadata; now: Date }

/** An identity that is known, as the provider tells it today. */
export async function setIdentity(tx: Tx, { provider, subject, userId, data, now }: KeptIdentity): Promise<void> {
  await tx`
    update auth.identities set identity_data = ${new Json(data)}, last_sign_in_at = ${now}, updated_at = ${now}
    where provider = ${provider} and provider_id = ${subject} and user_id = ${userId}`
}

/**
 * Takes away what somebody may have laid into an account before its owner came: whoever signed up with another's address and never proved
 * it must not get in once the owner has.
 */
export async function clearUnproved(tx: Tx, userId: string, except: { provider: string; subject: string }): Promise<void> {
  await tx`
    with identity as (
      delete from auth.identities where user_id = ${userId} and not (provider = ${except.provider} and provider_id = ${except.subject})
    ), session as (
      delete from auth.sessions where user_id = ${userId}
    ), code as (
      delete from auth.one_time_tokens where user_id = ${userId}
    ), flow as (
      delete from auth.flow_state where user_id = ${userId}
    )
    update auth.users set encrypted_password = null, raw_user_meta_data = '{}', phone = null, phone_confirmed_at = null, phone_change = '',
      email_change = '', email_change_confirm_status = 0
    where id = ${userId}`
}
