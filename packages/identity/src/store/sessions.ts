import type { Sql, Tx } from '@tollgate/kit/db'

export type NewSession = {
  id: string
  userId: string
  /** How it was entered: password, otp, oauth, anonymous … */
  method: string
  tokenHash: string
  userAgent: string
  address: string | null
  now: Date
}

/** A session, how it was entered and its first refresh token, in one statement; the account remembers when. */
export async function insertSession(sql: Sql, session: NewSession): Promise<void> {
  const { id, userId, method, tokenHash, userAgent, address, now } = session
  await sql`
    with session as (
      insert into auth.sessions (id, user_id, created_at, updated_at, aal, user_agent, ip)
      values (${id}, ${userId}, ${now}, ${now}, 'aal1', ${userAgent}, ${address})
      returning id, user_id
    ), claim as (
      insert into auth.mfa_amr_claims (session_id, created_at, updated_at, authentication_method)
      select id, ${now}, ${now}, ${method} from session
    ), token as (
      insert into auth.refresh_tokens (token, user_id, session_id, created_at, updated_at)
      select ${tokenHash}, user_id::text, id, ${now}, ${now} from session
    )
    update auth.users u set last_sign_in_at = ${now} from session where u.id = session.user_id`
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
