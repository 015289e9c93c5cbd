import { Json, type Sql, type Tx } from '@tollgate/kit/db'
import type { AuditPayload } from './audit.ts'

export type NewSession = {
  id: string
  userId: string
  /** How it was entered: password, otp, oauth, anonymous … */
  method: string
  tokenHash: string
  userAgent: string
  address: string | null
  /** What is written into the audit log with it. */
  audits: readonly AuditPayload[]
  /** A better hash of the password that was just given, if the stored one is `of` still. */
  /** The hash that a password was proved with: whoever has changed theirs meanwhile is not let in with the old one. */
  provedHash: string | undefined
  /** A better hash of the same password. */
  betterHash: string | undefined
  now: Date
}

/**
 * A session, how it was entered, its first refresh token and its audit entries, in one statement; the account remembers when. False when
 * the account is gone, or has another password by now.
 */
export async function insertSession(sql: Sql, session: NewSession): Promise<boolean> {
  const { id, userId, method, tokenHash, userAgent, address, audits, provedHash = null, betterHash = null, now } = session
  const { count } = await sql`
    with account as (
      select id from auth.users
      where id = ${userId} and deleted_at is null and (${provedHash}::text is null or encrypted_password = ${provedHash})
      for no key update
    ), session as (
      insert into auth.sessions (id, user_id, created_at, updated_at, aal, user_agent, ip)
      select ${id}::uuid, id, ${now}::timestamptz, ${now}::timestamptz, 'aal1'::auth.aal_level, ${userAgent}, ${address}::inet from account
      returning id, user_id
    ), claim as (
      insert into auth.mfa_amr_claims (session_id, created_at, updated_at, authentication_method)
      select id, ${now}, ${now}, ${method} from session
    ), token as (
      insert into auth.refresh_tokens (token, user_id, session_id, created_at, updated_at)
      select ${tokenHash}, user_id::text, id, ${now}, ${now} from session
    ), audit as (
      insert into auth.audit_log_entries (id, payload, created_at, ip_address)
      select gen_random_uuid(), payload, ${now}, coalesce(${address}, '') from session, jsonb_array_elements(${new Json(audits)}) as payload
    )
    update auth.users u set last_sign_in_at = ${now}, encrypted_password = coalesce(${betterHash}, u.encrypted_password)
    from session where u.id = session.user_id`
  return count === 1
}

/** Until this transaction ends nobody else exchanges a token of the session. */
export async function lockSession(tx: Tx, id: string): Promise<void> {
  await tx`select from auth.sessions where id = ${id} for update`
}

/** Ends sessions of an account, with their tokens: one, all but one, or all of them. */
export async function deleteSessions(sql: Sql, userId: string, which: { only?: string; except?: string }): Promise<number> {
  const { only = null, except = null } = which
  const { count } = await sql`
    delete from auth.sessions
    where user_id = ${userId} and (${only}::uuid is null or id = ${only}) and (${except}::uuid is null or id <> ${except})`
  return count
}
