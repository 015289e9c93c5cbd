import type { Db } from '@tollgate/kit/db'

/** Lets very many rows be put into the tables of a schema, which nobody uses meanwhile. */
export async function inBulk(sql: Db, schema: string, insert: () => Promise<void>): Promise<void> {
  await dropIndexes(sql, schema)
  // Every row refers to one that is made here too; looking each of them up would take longer than making it.
  await sql`set session_replication_role = replica`
  await insert()
  await sql`set session_replication_role = origin`
  await sql`do $$
    declare definition text;
    begin
      for definition in select dropped.definition from dropped loop execute definition; end loop;
    end
  $$`
  await sql`drop table dropped`
  await vacuumFilled(sql, schema)
}

/**
 * Otherwise the database would do it, and find out about its plans, in the middle of the measurement. It would not look at an empty table,
 * though: who has been told that one is empty plans for it to stay so, and reads all of it every time when it does not.
 */
async function vacuumFilled(sql: Db, schema: string): Promise<void> {
  const tables = await sql<{ name: string }>`
    select oid::regclass::text as name from pg_class
    where relnamespace = ${schema}::regnamespace and relkind = 'r' and pg_relation_size(oid) > 0`
  // The name of a table cannot be a parameter.
  await sql(Object.assign([`vacuum analyze ${tables.map(({ name }) => name).join(', ')}`], { raw: [] }))
}

/** Making an index of everything at once is much faster than row by row. Those that keep constraints stay. */
async function dropIndexes(sql: Db, schema: string): Promise<void> {
  await sql`
    create temporary table dropped as
    select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition
    from pg_index i join pg_class c on c.oid = i.indrelid
    where c.relnamespace = ${schema}::regnamespace and not exists (select from pg_constraint where conindid = i.indexrelid)`
  await sql`do $$
    declare name text;
    begin
      for name in select dropped.name from dropped loop execute 'drop index ' || name; end loop;
    end
  $$`
}
