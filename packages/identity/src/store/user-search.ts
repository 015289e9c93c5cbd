import type { Sql } from '@tollgate/kit/db'
import type { User } from './users.ts'

/** An account in a list, which does not tell its identities. */
export type ListedUser = Omit<User, 'identities'>

/** Where in the order of joining: the moment to the microsecond, null for somebody of whom it is not known. */
export type Position = { at: string | null; id: string }

type Stretch = { aud: string; newestFirst: boolean; limit: number }

/** Accounts in the order that their ids are given in. Naming the columns keeps the database from looking for identities. */
export async function listUsers(sql: Sql, ids: readonly string[]): Promise<ListedUser[]> {
  if (ids.length === 0) return []
  return sql<ListedUser>`
    select a.id, a.aud, a.role, a.email, a.phone, a."emailConfirmedAt", a."phoneConfirmedAt", a."confirmedAt", a."invitedAt",
      a."confirmationSentAt", a."recoverySentAt", a."newEmail", a."emailChangeSentAt", a."newPhone", a."phoneChangeSentAt",
      a."reauthenticationSentAt", a."lastSignInAt", a."appMetadata", a."userMetadata", a."createdAt", a."updatedAt",
      a."bannedUntil", a."deletedAt", a."isAnonymous", a."isSsoUser"
    from unnest(${ids}::uuid[]) with ordinality as given (id, place) join auth.accounts a on a.id = given.id
    order by given.place`
}

/** How many there are, counted up to `most`: beyond that it is an estimate. */
export async function countUsers(sql: Sql, aud: string, most: number): Promise<number> {
  const [counted] = await sql<{ count: number; estimate: number }>`
    select count(*), (select reltuples::bigint from pg_class where oid = 'auth.users'::regclass) as estimate
    from (select from auth.users where aud = ${aud} limit ${most}) as found`
  const { count = 0, estimate = 0 } = counted ?? {}
  return count < most ? count : Math.max(count, estimate)
}

/** Some of the texts that a search looks through, evenly spread: what the database found out for its own plans. Nothing where it has not yet. */
export async function sampleSearchTexts(sql: Sql): Promise<string[]> {
  const [found] = await sql<{ texts: string[] | null }>`
    select stats.histogram_bounds::text::text[] as texts
    from pg_stats stats join pg_class c on c.relname = stats.tablename join pg_namespace n on n.oid = c.relnamespace
    where c.oid = 'auth.users'::regclass and n.nspname = stats.schemaname and stats.attname = 'search_text' and not stats.inherited`
  return found?.texts ?? []
}

/**
 * How many a search finds whose text the index is of no use for, `most` for all that are more. The empty text keeps the database from
 * its index, which takes ten times as long where there is no trigram to look for.
 */
export async function countMatches(sql: Sql, aud: string, pattern: string, most: number): Promise<number> {
  const [counted] = await sql<{ count: number }>`
    select count(*) from (
      select from auth.users where aud = ${aud} and search_text || '' like lower(${pattern}) limit ${most}
    ) as found`
  return counted?.count ?? 0
}

/** Whether the index helps: it knows three letters or digits in a row, and nothing shorter. */
export function hasTrigram(pattern: string): boolean {
  return /[\p{L}\p{N}]{3}/u.test(pattern)
}

/** Positions of a page by its number. The index alone is gone through for what is skipped. */
export async function listPage(sql: Sql, { aud, newestFirst, limit }: Stretch, offset: number): Promise<Position[]> {
  return newestFirst
    ? sql<Position>`
        select id, to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at from (
          select id, created_at from auth.users where aud = ${aud}
          order by created_at desc nulls last, id desc offset ${offset} limit ${limit}
        ) as found order by created_at desc nulls last, id desc`
    : sql<Position>`
        select id, to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at from (
          select id, created_at from auth.users where aud = ${aud}
          order by created_at nulls first, id offset ${offset} limit ${limit}
        ) as found order by created_at nulls first, id`
}

const firstId = '00000000-0000-0000-0000-000000000000'
const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** Those who come after a position. Two ranges of one index, for nothing compares with a date that is not known. */
export async function listAfter(sql: Sql, { aud, newestFirst, limit }: Stretch, after?: Position): Promise<Position[]> {
  const { dated, undated } = boundsOf(newestFirst, after)
  return newestFirst
    ? sql<Position>`
        select id, to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at from (
          (select id, created_at from auth.users
            where aud = ${aud} and (created_at, id) < (${dated.at}::timestamptz, ${dated.id}::uuid)
            order by created_at desc nulls last, id desc limit ${limit})
          union all
          (select id, created_at from auth.users where aud = ${aud} and created_at is null and id < ${undated}
            order by created_at desc nulls last, id desc limit ${limit})
        ) as found order by created_at desc nulls last, id desc limit ${limit}`
    : sql<Position>`
        select id, to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at from (
          (select id, created_at from auth.users where aud = ${aud} and created_at is null and id > ${undated}
            order by created_at nulls first, id limit ${limit})
          union all
          (select id, created_at from auth.users
            where aud = ${aud} and (created_at, id) > (${dated.at}::timestamptz, ${dated.id}::uuid)
            order by created_at nulls first, id limit ${limit})
        ) as found order by created_at nulls first, id limit ${limit}`
}

/** Where the ranges begin: with nobody who has a date once those without one are reached, and the other way round. */
function boundsOf(newestFirst: boolean, after: Position | undefined) {
  const beginning = newestFirst ? { at: 'infinity', id: lastId } : { at: '-infinity', id: firstId }
  if (!after) return { dated: beginning, undated: beginning.id }
  if (after.at === null) return { dated: { at: '-infinity', id: firstId }, undated: after.id }
  return { dated: { at: after.at, id: after.id }, undated: lastId }
}

type Search = Stretch & { pattern: string; offset: number; after?: Position | undefined }

/**
 * How many a search finds, and those of them who are asked for, by the index of the search. The index looks for a part of the text, which
 * may be all of it. Nobody but their number where there are `most` or more.
 */
export async function findMatches(
  sql: Sql,
  { aud, newestFirst, limit, pattern, offset, after }: Search,
  { part, most }: { part: string; most: number },
): Promise<{ total: number; found: Position[] }> {
  const { at, id } = { at: after?.at ?? '-infinity', id: after?.id ?? firstId }
  const rows = await sql<{ total: number; id: string | null; at: string | null }>`
    with found as materialized (
      select id, created_at from auth.users
      where aud = ${aud} and search_text like lower(${part})
        and (${part === pattern} or search_text || '' like lower(${pattern}))
      limit ${most}
    ), counted as (
      select count(*) as total from found
    )
    select total, id, to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at
    from counted left join (
      select id, created_at from found
      where (select total < ${most} from counted) and (${after === undefined}
        or (${newestFirst} and (coalesce(created_at, '-infinity'), id) < (${at}::timestamptz, ${id}::uuid))
        or (not ${newestFirst} and (coalesce(created_at, '-infinity'), id) > (${at}::timestamptz, ${id}::uuid)))
      order by case when ${newestFirst} then created_at end desc nulls last, case when ${newestFirst} then id end desc,
        created_at nulls first, id
      offset ${offset} limit ${limit}
    ) as page on true
    order by case when ${newestFirst} then created_at end desc nulls last, case when ${newestFirst} then id end desc,
      created_at nulls first, id`
  return { total: rows[0]?.total ?? 0, found: rows.flatMap(({ id, at }) => (id === null ? [] : { id, at })) }
}

/** What a search for something that many have finds, in order: whoever is next is soon found. The empty text keeps the database to that. */
export async function listManyMatches(
  sql: Sql,
  { aud, newestFirst, limit, pattern, offset, after }: Search,
): Promise<Position[]> {
  const { dated, undated } = boundsOf(newestFirst, after)
  const most = offset + limit
  return newestFirst
    ? sql<Position>`
        select id, to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at from (
          (select id, created_at from auth.users
            where aud = ${aud} and (created_at, id) < (${dated.at}::timestamptz, ${dated.id}::uuid)
              and search_text || '' like lower(${pattern})
            order by created_at desc nulls last, id desc limit ${most})
          union all
          (select id, created_at from auth.users where aud = ${aud} and created_at is null and id < ${undated}
              and search_text || '' like lower(${pattern})
            order by created_at desc nulls last, id desc limit ${most})
        ) as found order by created_at desc nulls last, id desc offset ${offset} limit ${limit}`
    : sql<Position>`
        select id, to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at from (
          (select id, created_at from auth.users where aud = ${aud} and created_at is null and id > ${undated}
              and search_text || '' like lower(${pattern})
            order by created_at nulls first, id limit ${most})
          union all
          (select id, created_at from auth.users
            where aud = ${aud} and (created_at, id) > (${dated.at}::timestamptz, ${dated.id}::uuid)
              and search_text || '' like lower(${pattern})
            order by created_at nulls first, id limit ${most})
        ) as found order by created_at nulls first, id offset ${offset} limit ${limit}`
}

/** A search that cannot be answered in time gives way to the others: the caller is told to try again, with more to go by. */
export async function limitSearchTime(sql: Sql): Promise<void> {
  await sql`set local statement_timeout = '8s'`
}

/** The same for searches for accounts. How one is done does not depend on what is looked for, and planning it takes longer than finding it. */
export async function beginSearch(sql: Sql): Promise<void> {
  await sql`select set_config('statement_timeout', '8s', true), set_config('plan_cache_mode', 'force_generic_plan', true)`
}

/** Whose address or number it is, or both. One account, but for people of single sign-on, who may share an address. */
export async function listByContact(
  sql: Sql,
  { aud, email, phone = null }: { aud: string; email: string | undefined; phone?: string | null | undefined },
): Promise<Position[]> {
  return email === undefined
    ? sql<Position>`select id, null as at from auth.users where phone = ${phone} and aud = ${aud}`
    : sql<Position>`
        select id, null as at from (
          select id, aud, phone from auth.users where email = ${email} and not is_sso_user
          union all
          select id, aud, phone from auth.users where email = ${email} and is_sso_user
        ) as found
        where aud = ${aud} and (${phone}::text is null or phone = ${phone}) order by id limit 1000`
}
