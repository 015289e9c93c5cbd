import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import pg from 'pg'
import { inSchema, quoted, type Schema } from './db/statements.ts'

export type Migration = { version: string; name: string; sql: string }

/** What keeps a database from being migrated, in words for the person who runs it. */
export class MigrationProblem extends Error {}

/** `0001_apps.sql`, in order of their numbers. */
export function readMigrations(folder: URL): Migration[] {
  const migrations = readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => {
      const [, version, name] = /^(\d{4})_([a-z0-9_]+)\.sql$/.exec(file) ?? []
      if (version === undefined || name === undefined) throw new Error(`${file} is not named like 0001_what.sql`)
      return { version, name, sql: readFileSync(new URL(file, folder), 'utf8') }
    })
  const twice = migrations.find(({ version }, index) => migrations[index + 1]?.version === version)
  if (twice) throw new Error(`Two migrations have the number ${twice.version}`)
  return migrations
}

type Applied = { version: string; checksum: string | null }

/**
 * Brings the schema up to date, all pending migrations in one transaction: they apply together or not at all. The lock ends with the
 * transaction, so that it holds through a connection pooler too and nothing is left behind by a crash.
 */
export async function migrate(options: { url: string; schema: Schema; migrations: readonly Migration[] }): Promise<string[]> {
  const { schema, migrations } = options
  const client = new pg.Client({ connectionString: options.url, connectionTimeoutMillis: 10_000 })
  // The statement under way tells of a broken connection; the event, unheard, would end the process.
  client.on('error', () => {})
  await client.connect()
  try {
    if (pendingOf(migrations, await findApplied(client, schema)).length === 0) return []
    await client.query('begin')
    await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`tollgate migrations ${schema.actual}`])
    await prepare(client, schema)
    const pending = pendingOf(migrations, await findApplied(client, schema))
    for (const migration of pending) await apply(client, schema, migration)
    await client.query('commit')
    return pending.map(({ version, name }) => `${version}_${name}`)
  } finally {
    await client.end()
  }
}

async function prepare(client: pg.Client, schema: Schema) {
  const { rows } = await client.query('select to_regnamespace($1) as found', [quoted(schema.actual)])
  // Asked first, because `if not exists` wants the right to create schemas even where there is nothing to create.
  if (rows[0]?.found === null) await client.query(`create schema ${quoted(schema.actual)}`)
  // Nameless rows are welcome: the dump of an installation that we take over brings the numbers of its own migrations along.
  await client.query(`create table if not exists ${quoted(schema.actual)}.schema_migrations (
    version text constraint schema_migrations_pkey primary key,
    name text,
    checksum text,
    applied_at timestamptz not null default now())`)
}

async function apply(client: pg.Client, schema: Schema, migration: Migration) {
  try {
    await client.query(inSchema(migration.sql, schema))
  } catch (problem) {
    const reason = problem instanceof Error ? problem.message : String(problem)
    throw new MigrationProblem(`Migration ${migration.version}_${migration.name} failed and nothing was changed: ${reason}`, {
      cause: problem,
    })
  }
  const entry = [migration.version, migration.name, checksumOf(migration)]
  await client.query(
    `insert into ${quoted(schema.actual)}.schema_migrations (version, name, checksum) values ($1, $2, $3)`,
    entry,
  )
}

async function findApplied(client: pg.Client, schema: Schema): Promise<Applied[]> {
  const table = `${quoted(schema.actual)}.schema_migrations`
  const { rows: found } = await client.query<{ found: boolean; ours: boolean }>(
    `select to_regclass($1) is not null as found,
      exists (select from pg_attribute where attrelid = to_regclass($1) and attname = 'checksum') as ours`,
    [table],
  )
  if (!found[0]?.found) return []
  if (!found[0].ours)
    throw new MigrationProblem(
      `The schema ${schema.actual} holds the tables of another program. Use another database, or another schema (DB_NAMESPACE).`,
    )
  const { rows } = await client.query<Applied>(`select version, checksum from ${table}`)
  return rows
}

function pendingOf(migrations: readonly Migration[], applied: Applied[]): Migration[] {
  const checksums = new Map(applied.map(({ version, checksum }) => [version, checksum]))
  for (const migration of migrations) {
    const checksum = checksums.get(migration.version)
    if (checksums.has(migration.version) && checksum !== checksumOf(migration)) {
      throw new MigrationProblem(
        `Migration ${migration.version}_${migration.name} was changed after this database applied it. Put the file back as it was and write a new migration.`,
      )
    }
  }
  return migrations.filter(({ version }) => !checksums.has(version))
}

function checksumOf({ sql }: Migration): string {
  return createHash('sha256').update(sql).digest('hex')
}
