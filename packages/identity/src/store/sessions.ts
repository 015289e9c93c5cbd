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

/** Ends one session of an account, or all, and tells whose they were and how many; undefined when there is no such account. */
export async function endSessions(
  tx: Tx,
  userId: string,
  only: string | null = null,
): Promise<{ email: string; phone: string; ended: number } | undefined> {
  const [account] = await tx<{ email: string; phone: string; ended: number }>`
    with ended as (
      delete from auth.sessions where user_id = ${userId} and (${only}::uuid is null or id = ${only}) returning id
    )
    select coalesce(email, '') as email, coalesce(phone, '') as phone, (select count(*) from ended) as ended
    from auth.users where id = ${userId}`
  return account
}

/** A session as its owner, or whoever administers, sees it. */
export type ListedSession = {
  id: string
  createdAt: Date
  updatedAt: Date
  refreshedAt: Date | null
  notAfter: Date | null
  userAgent: string
  address: string
  level: string
  /** How it was entered, newest first. */
  methods: string[]
}

/** What ends sessions by itself, times in seconds. */
export type SessionRules = { timebox: number | undefined; inactivityTimeout: number | undefined; singlePerUser: boolean }

export const mostListedSessions = 100

/** The sessions of an account that are not over, the ones that were used last first: what a refresh would refuse is not among them. */
export async function listSessions(sql: Sql, userId: string, rules: SessionRules, now: Date): Promise<ListedSession[]> {
  const ago = (seconds: number | undefined) => (seconds === undefined ? null : new Date(now.getTime() - seconds * 1000))
  const [begunAfter, refreshedAfter] = [ago(rules.timebox), ago(rules.inactivityTimeout)]
  return sql<ListedSession>`
    select s.id, coalesce(s.created_at, 'epoch') as "createdAt", coalesce(s.updated_at, s.created_at, 'epoch') as "updatedAt",
      s.refreshed_at as "refreshedAt", s.not_after as "notAfter", coalesce(s.user_agent, '') as "userAgent",
      coalesce(host(s.ip), '') as address, coalesce(s.aal, 'aal1') as level, array(
        select c.authentication_method from auth.mfa_amr_claims c where c.session_id = s.id order by c.updated_at desc
      ) as methods
    from auth.sessions s
    where s.user_id = ${userId} and (s.not_after is null or s.not_after >= ${now})
      and (${begunAfter}::timestamptz is null or s.created_at >= ${begunAfter})
      and (${refreshedAfter}::timestamptz is null or coalesce(s.refreshed_at at time zone 'UTC', s.created_at) >= ${refreshedAfter})
      and (not ${rules.singlePerUser}::boolean or not exists (
        select from auth.sessions newer
        where newer.user_id = s.user_id and newer.id <> s.id and newer.tag is not distinct from s.tag
          and (newer.not_after is null or newer.not_after >= ${now})
          and coalesce(newer.refreshed_at at time zone 'UTC', newer.created_at) > coalesce(s.refreshed_at at time zone 'UTC', s.created_at)))
    order by coalesce(s.refreshed_at at time zone 'UTC', s.created_at) desc nulls last, s.id
    limit ${mostListedSessions}`
}
