import type { Db } from '@tollgate/kit/db'

/** Lets very many rows be put into the tables of a schema, which nobody uses meanwhile. */
export async function inBulk(sql: Db, schema: string, insert: () => Promise<void>): Promise<void> {
  // Sorting in memory is faster than on disk. It is given back with the connection.
  await sql`set maintenance_work_mem = '1GB'`
  await takeAway(sql, schema)
  // Triggers are for those who come one at a time.
  await sql`set session_replication_role = replica`
  await insert()
  await sql`set session_replication_role = origin`
  await runAll(sql, 'restoring')
  await sql`drop table bulk_plan`
  await vacuumFilled(sql, schema)
}

/**
 * Making an index of everything at once is much faster than row by row, and so is looking once whether all that is referred to is there. What
 * goes first comes back last.
 */
async function takeAway(sql: Db, schema: string): Promise<void> {
  await sql`
    create temporary table bulk_plan as
    select case contype when 'f' then 1 else 3 end as step,
      format('alter table %s drop constraint %I', conrelid::regclass, conname) as removing,
      format('alter table %s add constraint %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) as restoring
    from pg_constraint where connamespace = ${schema}::regnamespace and contype in ('f', 'p', 'u') and conrelid <> 0
    union all
    select 2, format('drop index %s', i.indexrelid::regclass), pg_get_indexdef(i.indexrelid)
    from pg_index i join pg_class c on c.oid = i.indrelid
    where c.relnamespace = ${schema}::regnamespace and c.relkind = 'r'
      and not exists (select from pg_constraint where conindid = i.indexrelid)`
  await runAll(sql, 'removing')
}

async function runAll(sql: Db, what: 'removing' | 'restoring'): Promise<void> {
  const plan = await sql<{ statement: string }>`
    select case ${what} when 'removing' then removing else restoring end as statement from bulk_plan
    order by case ${what} when 'removing' then step else -step end`
  for (const { statement } of plan) await say(sql, statement)
}

/**
 * Otherwise the database would do it, and find out about its plans, in the middle of the measurement. It would not look at an empty table,
 * though: who has been told that one is empty plans for it to stay so, and reads all of it every time when it does not.
 */
async function vacuumFilled(sql: Db, schema: string): Promise<void> {
  const tables = await sql<{ name: string }>`
    select oid::regclass::text as name from pg_class
    where relnamespace = ${schema}::regnamespace and relkind = 'r' and pg_relation_size(oid) > 0`
  await say(sql, `vacuum analyze ${tables.map(({ name }) => name).join(', ')}`)
}

/** The names of tables cannot be parameters. */
async function say(sql: Db, statement: string): Promise<void> {
  await sql(Object.assign([statement], { raw: [] }))
}
