import type { Sql, Tx } from '@tollgate/kit/db'
import type { Method } from '../rules/claims.ts'
import type { User } from './users.ts'

/** A token that somebody presents, what it would be exchanged for, and from where they ask. */
export type Exchange = { presented: string; child: string; userAgent: string; address: string | null }

/** When and under which rules tokens are exchanged. */
export type ExchangeRules = {
  now: Date
  /** Sessions that began, or were refreshed last, before these moments are over. */
  begunAfter: Date | null
  refreshedAfter: Date | null
  /** Whether somebody's newest session ends their other ones. */
  singlePerUser: boolean
  /** Whether the audit log is kept in the database. */
  audited: boolean
}

/** A session that goes on: whose it is, and how it was entered. */
export type OngoingSession = User & { sessionId: string; methods: Method[] }

/**
 * Exchanges valid tokens for their children and tells whose each is: one statement, so that of any number of requests with the same token
 * exactly one does it. Undefined where there was nothing to exchange; `findToken` tells why.
 */
export async function exchangeTokens(
  sql: Sql,
  exchanges: readonly Exchange[],
  { now, begunAfter, refreshedAfter, singlePerUser, audited }: ExchangeRules,
): Promise<(OngoingSession | undefined)[]> {
  const rows = await sql<OngoingSession & { presented: string }>`
    with asked as not materialized (
      select * from unnest(${exchanges.map(({ presented }) => presented)}::text[], ${exchanges.map(({ child }) => child)}::text[],
          ${exchanges.map(({ userAgent }) => userAgent)}::text[], ${exchanges.map(({ address }) => address)}::text[])
        as asked (presented, child, user_agent, address)
      -- Without it the planner takes every list for one of ten, finds it cheaper to look at each anew, and that takes longer than all the rest.
      limit ${exchanges.length}
    ), token as (
      update auth.refresh_tokens t set revoked = true, updated_at = ${now}
      from asked, auth.sessions s join auth.users u on u.id = s.user_id
      where t.token = presented and not t.revoked and s.id = t.session_id
        and (s.not_after is null or s.not_after >= ${now})
        and (${begunAfter}::timestamptz is null or s.created_at >= ${begunAfter})
        and (${refreshedAfter}::timestamptz is null or coalesce(s.refreshed_at at time zone 'UTC', s.created_at) >= ${refreshedAfter})
        and (u.banned_until is null or u.banned_until <= ${now}) and u.deleted_at is null
        and (not ${singlePerUser}::boolean or not exists (
          select from auth.sessions newer
          where newer.user_id = s.user_id and newer.id <> s.id and newer.tag is not distinct from s.tag
            and (newer.not_after is null or newer.not_after >= ${now})
            and coalesce(newer.refreshed_at at time zone 'UTC', newer.created_at) > coalesce(s.refreshed_at at time zone 'UTC', s.created_at)))
      returning asked.*, s.id as session_id, u.id as user_id
    ), child as (
      insert into auth.refresh_tokens (token, user_id, session_id, parent, created_at, updated_at)
      select child, user_id::text, session_id, presented, ${now}, ${now} from token
    ), session as (
      update auth.sessions s
      set refreshed_at = ${now}::timestamptz at time zone 'UTC', updated_at = ${now}, user_agent = token.user_agent, ip = token.address::inet
      from token where s.id = token.session_id
    ), audit as (
      insert into auth.audit_log_entries (id, payload, created_at, ip_address)
      select gen_random_uuid(), json_strip_nulls(json_build_object(
          'actor_id', u.id, 'actor_via_sso', u.is_sso_user, 'actor_username', coalesce(nullif(u.phone, ''), u.email, ''),
          'actor_name', nullif(u.raw_user_meta_data ->> 'full_name', ''), 'action', action, 'log_type', 'token')),
        ${now}, coalesce(address, '')
      from token join auth.users u on u.id = token.user_id, unnest(array['token_revoked', 'token_refreshed']) as action
      where ${audited}::boolean
    )
    select token.presented, a.*, token.session_id as "sessionId", coalesce((
        select json_agg(json_build_object('method', c.authentication_method, 'timestamp', floor(extract(epoch from c.updated_at)))
          order by c.updated_at desc)
        from auth.mfa_amr_claims c where c.session_id = token.session_id
      ), '[]') as methods
    from token join auth.accounts a on a.id = token.user_id`
  // Of several who present the same token, the first one has exchanged it.
  const done = new Map(rows.map(({ presented, ...session }) => [presented, session]))
  return exchanges.map(({ presented }) => {
    const session = done.get(presented)
    done.delete(presented)
    return session
  })
}

/** A token that is known, with the session that it belongs to, if that is still there. */
export type PresentedToken = {
  revoked: boolean
  /** When it was exchanged or revoked, for one that is. */
  changedAt: Date
  /** Whether what it was exchanged for is known to us and still the newest of its line. */
  childActive: boolean
  sessionCreatedAt: Date | null
  sessionRefreshedAt: Date | null
  sessionNotAfter: Date | null
  /** Whether somebody's other session is newer than this one. */
  newerExists: boolean
} & (OngoingSession | { sessionId: null })

export async function findToken(sql: Sql, token: string, child: string): Promise<PresentedToken | undefined> {
  const [found] = await sql<PresentedToken>`
    select a.*, t.revoked, t.updated_at as "changedAt", s.id as "sessionId",
      exists (select from auth.refresh_tokens c where c.token = ${child} and c.parent = t.token and not c.revoked) as "childActive",
      s.created_at as "sessionCreatedAt", s.refreshed_at as "sessionRefreshedAt", s.not_after as "sessionNotAfter",
      exists (
        select from auth.sessions newer
        where newer.user_id = s.user_id and newer.id <> s.id and newer.tag is not distinct from s.tag
          and coalesce(newer.refreshed_at at time zone 'UTC', newer.created_at) > coalesce(s.refreshed_at at time zone 'UTC', s.created_at)
      ) as "newerExists",
      coalesce((
        select json_agg(json_build_object('method', c.authentication_method, 'timestamp', floor(extract(epoch from c.updated_at)))
          order by c.updated_at desc)
        from auth.mfa_amr_claims c where c.session_id = s.id
      ), '[]') as methods
    from auth.refresh_tokens t
    left join auth.sessions s on s.id = t.session_id
    left join auth.accounts a on a.id = s.user_id
    where t.token = ${token}`
  return found
}

/** Revokes a token and all that descend from it, however many exchanges ago. */
export async function revokeFamily(tx: Tx, token: string, now: Date): Promise<number> {
  const { count } = await tx`
    with recursive family as (
      select token from auth.refresh_tokens where token = ${token}
      union
      select child.token from auth.refresh_tokens child join family on child.parent = family.token
    )
    update auth.refresh_tokens set revoked = true, updated_at = ${now}
    where token in (select token from family) and not revoked`
  return count
}
