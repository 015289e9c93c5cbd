import type { Sql, Tx } from '@tollgate/kit/db'

export type Exchange = {
  presented: string
  child: string
  now: Date
  /** Sessions that began, or were refreshed last, before these moments are over. */
  begunAfter: Date | null
  refreshedAfter: Date | null
  userAgent: string
  address: string | null
}

/**
 * Exchanges a valid token for its child: one statement, so that of any number of requests with the same token exactly one does it.
 * Undefined when there was nothing to exchange; `findToken` tells why.
 */
export async function exchangeToken(sql: Sql, exchange: Exchange): Promise<{ sessionId: string; userId: string } | undefined> {
  const { presented, child, now, begunAfter, refreshedAfter, userAgent, address } = exchange
  const [exchanged] = await sql<{ sessionId: string; userId: string }>`
    with token as (
      update auth.refresh_tokens t set revoked = true, updated_at = ${now}
      from auth.sessions s join auth.users u on u.id = s.user_id
      where t.token = ${presented} and not t.revoked and s.id = t.session_id
        and (s.not_after is null or s.not_after >= ${now})
        and (${begunAfter}::timestamptz is null or s.created_at >= ${begunAfter})
        and (${refreshedAfter}::timestamptz is null or coalesce(s.refreshed_at at time zone 'UTC', s.created_at) >= ${refreshedAfter})
        and (u.banned_until is null or u.banned_until <= ${now}) and u.deleted_at is null
      returning t.token, t.session_id, t.user_id
    ), child as (
      insert into auth.refresh_tokens (token, user_id, session_id, parent, created_at, updated_at)
      select ${child}, user_id, session_id, token, ${now}, ${now} from token
    )
    update auth.sessions s
    set refreshed_at = ${now}::timestamptz at time zone 'UTC', updated_at = ${now}, user_agent = ${userAgent}, ip = ${address}
    from token where s.id = token.session_id
    returning s.id as "sessionId", s.user_id as "userId"`
  return exchanged
}

export type PresentedToken = {
  revoked: boolean
  /** When it was exchanged or revoked, for one that is. */
  updatedAt: Date
  sessionId: string | null
  userId: string | null
  /** Whether what it was exchanged for is still the newest of its line. */
  childActive: boolean
  sessionCreatedAt: Date | null
  sessionRefreshedAt: Date | null
  sessionNotAfter: Date | null
  bannedUntil: Date | null
}

export async function findToken(sql: Sql, token: string): Promise<PresentedToken | undefined> {
  const [found] = await sql<PresentedToken>`
    select t.revoked, t.updated_at as "updatedAt", s.id as "sessionId", s.user_id as "userId",
      exists (select from auth.refresh_tokens c where c.parent = t.token and not c.revoked) as "childActive",
      s.created_at as "sessionCreatedAt", s.refreshed_at as "sessionRefreshedAt", s.not_after as "sessionNotAfter",
      u.banned_until as "bannedUntil"
    from auth.refresh_tokens t
    left join auth.sessions s on s.id = t.session_id
    left join auth.users u on u.id = s.user_id
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
