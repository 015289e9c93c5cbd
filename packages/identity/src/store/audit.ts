import { Json, type Sql } from '@tollgate/kit/db'

/** As it is written down: see rules/audit-actions for what can be said. */
export type AuditPayload = Readonly<Record<string, unknown>>

/** Who did what and when; what was done with is in the traits, and no secret ever. */
export async function insertAudits(
  sql: Sql,
  payloads: readonly AuditPayload[],
  { now, address }: { now: Date; address: string | null },
): Promise<void> {
  await sql`
    insert into auth.audit_log_entries (id, payload, created_at, ip_address)
    select gen_random_uuid(), payload, ${now}, coalesce(${address}, '') from jsonb_array_elements(${new Json(payloads)}) as payload`
}

type AuditEntry = { id: string; payload: AuditPayload; createdAt: Date; address: string }

/** Entries of certain actions, or those in one of whose fields a text occurs. */
export type AuditFilter = { actions: readonly string[] } | { fields: readonly [string, string]; pattern: string }

/** How many entries there are, `most` for all that are more. */
export async function countAudits(sql: Sql, filter: AuditFilter | undefined, most: number): Promise<number> {
  const [counted] = await countFound(sql, filter, most)
  return counted?.count ?? 0
}

/** Each filter has a statement of its own, so that it keeps to its index. */
function countFound(sql: Sql, filter: AuditFilter | undefined, most: number) {
  if (!filter) return sql<{ count: number }>`select count(*) from (select from auth.audit_log_entries limit ${most}) as found`
  if ('actions' in filter)
    return sql<{ count: number }>`select count(*) from (
      select from auth.audit_log_entries where payload ->> 'action' = any(${filter.actions}) limit ${most}) as found`
  const [one, other] = filter.fields
  return sql<{ count: number }>`select count(*) from (
    select from auth.audit_log_entries
    where payload ->> ${one} ilike ${filter.pattern} or payload ->> ${other} ilike ${filter.pattern} limit ${most}) as found`
}

type Page = { offset: number; limit: number }

/** A page of the log, newest first. */
export async function listAudits(sql: Sql, filter: AuditFilter | undefined, page: Page): Promise<AuditEntry[]> {
  const ids = (await findPage(sql, filter, page)).map(({ id }) => id)
  if (ids.length === 0) return []
  return sql<AuditEntry>`
    select e.id, coalesce(e.payload, '{}') as payload, coalesce(e.created_at, 'epoch') as "createdAt", e.ip_address as address
    from unnest(${ids}::uuid[]) with ordinality as given (id, place)
    join auth.audit_log_entries e on e.id = given.id order by given.place`
}

/** Ids alone: what a page skips is skipped in the index. */
function findPage(sql: Sql, filter: AuditFilter | undefined, { offset, limit }: Page) {
  if (!filter)
    return sql<{ id: string }>`
      select id from auth.audit_log_entries order by created_at desc, id offset ${offset} limit ${limit}`
  if ('actions' in filter)
    return sql<{ id: string }>`
      select id from auth.audit_log_entries where payload ->> 'action' = any(${filter.actions})
      order by created_at desc, id offset ${offset} limit ${limit}`
  const [one, other] = filter.fields
  return sql<{ id: string }>`
    select id from auth.audit_log_entries
    where payload ->> ${one} ilike ${filter.pattern} or payload ->> ${other} ilike ${filter.pattern}
    order by created_at desc, id offset ${offset} limit ${limit}`
}

/** What has ever been done here, a dozen leaps through the index however long the log is. */
export async function listActions(sql: Sql): Promise<string[]> {
  const found = await sql<{ action: string }>`
    with recursive leap as (
      (select payload ->> 'action' as action from auth.audit_log_entries
        where payload ->> 'action' is not null order by payload ->> 'action' limit 1)
      union all
      select (select e.payload ->> 'action' from auth.audit_log_entries e
        where e.payload ->> 'action' > leap.action order by e.payload ->> 'action' limit 1)
      from leap where leap.action is not null
    )
    select action from leap where action is not null limit 1000`
  return found.map(({ action }) => action)
}
