import { Json, type Sql, type Tx } from '@tollgate/kit/db'
import type { AuditPayload } from './audit.ts'
import type { Metadata } from './users.ts'

type Taken = { id: boolean; email: boolean; phone: boolean }

/** What of a new account somebody has already. */
export async function findTaken(
  sql: Sql,
  { id, email, phone }: { id: string; email: string | null; phone: string | null },
): Promise<Taken> {
  const [taken] = await sql<Taken>`
    select exists (select from auth.users where id = ${id}) as id,
      exists (select from auth.users where email = ${email} and not is_sso_user) as email,
      exists (select from auth.users where phone = ${phone}) as phone`
  return taken ?? { id: false, email: false, phone: false }
}

/** Null leaves as it is. */
type AccountChange = {
  role: string | null
  email: string | null
  phone: string | null
  confirmEmail: boolean
  confirmPhone: boolean
  passwordHash: string | null
  /** Until when, or `none` for the end of a ban. */
  ban: Date | 'none' | null
  userMetadata: Metadata
  appMetadata: Metadata
  audits: readonly AuditPayload[]
  address: string | null
  now: Date
}

/**
 * All that an operator changes in an account, in one statement. A new password ends all sessions and whatever was under way under the old
 * one. Throws a unique violation when somebody else has the address or number.
 */
export async function changeAccount(tx: Tx, id: string, change: AccountChange): Promise<void> {
  const { role, email, phone, confirmEmail, confirmPhone, passwordHash, ban, audits, address, now } = change
  const userMetadata = {
    ...(confirmEmail ? { email_verified: true } : {}),
    ...(confirmPhone ? { phone_verified: true } : {}),
    ...change.userMetadata,
  }
  await tx`
    with account as (
      update auth.users set updated_at = ${now},
        role = coalesce(${role}, role),
        email = coalesce(${email}, email), phone = coalesce(${phone}, phone),
        email_confirmed_at = case when ${confirmEmail} then coalesce(email_confirmed_at, ${now}) else email_confirmed_at end,
        phone_confirmed_at = case when ${confirmPhone} then coalesce(phone_confirmed_at, ${now}) else phone_confirmed_at end,
        is_anonymous = is_anonymous and not ${confirmEmail || confirmPhone},
        encrypted_password = coalesce(${passwordHash}, encrypted_password),
        email_change = case when ${email !== null || passwordHash !== null} then '' else email_change end,
        email_change_confirm_status = case when ${email !== null || passwordHash !== null} then 0 else email_change_confirm_status end,
        phone_change = case when ${phone !== null || passwordHash !== null} then '' else phone_change end,
        banned_until = case when ${ban !== null} then ${ban === 'none' ? null : ban}::timestamptz else banned_until end,
        raw_user_meta_data =
          (coalesce(raw_user_meta_data, '{}') || ${new Json(userMetadata)}) - ${nullKeys(userMetadata)}::text[],
        raw_app_meta_data =
          (coalesce(raw_app_meta_data, '{}') || ${new Json(change.appMetadata)}) - ${nullKeys(change.appMetadata)}::text[]
      where id = ${id} returning id, email
    ), given as (
      select * from jsonb_to_recordset(${new Json(ownIdentities(id, change))}) as identity (provider text, data jsonb)
    ), own as (
      insert into auth.identities as i (provider_id, user_id, provider, identity_data, last_sign_in_at, created_at, updated_at)
      select account.id::text, account.id, given.provider, given.data, ${now}, ${now}, ${now} from account, given
      on conflict (provider_id, provider) do update set identity_data = i.identity_data || excluded.identity_data, updated_at = ${now}
    ), proved as (
      update auth.identities i set updated_at = ${now}, identity_data = i.identity_data || case i.provider
        when 'phone' then '{"phone_verified": true}'::jsonb else '{"email_verified": true}'::jsonb end
      from account
      where i.user_id = account.id and not exists (select from given where given.provider = i.provider)
        and ((${confirmEmail} and i.email = account.email) or (${confirmPhone} and i.provider = 'phone'))
    ), code as (
      delete from auth.one_time_tokens where ${passwordHash !== null} and user_id = ${id}
    ), flow as (
      delete from auth.flow_state where ${passwordHash !== null} and user_id = ${id}
    ), session as (
      delete from auth.sessions where ${passwordHash !== null} and user_id = ${id}
    )
    insert into auth.audit_log_entries (id, payload, created_at, ip_address)
    select gen_random_uuid(), payload, ${now}, coalesce(${address}, '') from jsonb_array_elements(${new Json(audits)}) as payload`
}

/** The identities that an account has by an address or number of its own, as they are to be. */
function ownIdentities(id: string, { email, phone, confirmEmail, confirmPhone }: AccountChange) {
  return [
    ...(email === null ? [] : [{ provider: 'email', data: { sub: id, email, email_verified: confirmEmail } }]),
    ...(phone === null ? [] : [{ provider: 'phone', data: { sub: id, phone, phone_verified: confirmPhone } }]),
  ]
}

function nullKeys(metadata: Metadata): string[] {
  return Object.keys(metadata).filter((key) => metadata[key] === null)
}

/** An account, and all that hangs on it. What it was called, or undefined when there is none. */
export async function deleteUser(sql: Sql, id: string): Promise<{ email: string; phone: string } | undefined> {
  const [gone] = await sql<{ email: string; phone: string }>`
    delete from auth.users where id = ${id} returning coalesce(email, '') as email, coalesce(phone, '') as phone`
  return gone
}

/** What is left of an account that is to be forgotten: empty where there was nothing. */
type Remains = {
  email: string
  phone: string
  newEmail: string
  newPhone: string
  identities: readonly { id: string; providerId: string }[]
  now: Date
}

/** Leaves the row, so that others can go on pointing at it, and nothing in it by which somebody is known or gets in. */
export async function scrambleUser(tx: Tx, id: string, remains: Remains): Promise<void> {
  const { email, phone, newEmail, newPhone, identities, now } = remains
  await tx`
    with identity as (
      update auth.identities i set provider_id = given.provider_id, identity_data = '{}', updated_at = ${now}
      from jsonb_to_recordset(${new Json(identities.map((each) => ({ id: each.id, provider_id: each.providerId })))})
        as given (id uuid, provider_id text)
      where i.id = given.id and i.user_id = ${id}
    ), session as (
      delete from auth.sessions where user_id = ${id}
    ), code as (
      delete from auth.one_time_tokens where user_id = ${id}
    ), flow as (
      delete from auth.flow_state where user_id = ${id}
    )
    update auth.users set deleted_at = ${now}, updated_at = ${now},
      email = nullif(${email}, ''), phone = nullif(${phone}, ''), email_change = ${newEmail}, phone_change = ${newPhone},
      email_change_confirm_status = 0, encrypted_password = null, raw_user_meta_data = '{}', raw_app_meta_data = '{}',
      confirmation_token = '', recovery_token = '', email_change_token_new = '', email_change_token_current = '',
      phone_change_token = '', reauthentication_token = ''
    where id = ${id}`
}
