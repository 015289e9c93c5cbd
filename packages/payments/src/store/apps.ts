import type { Sql } from '@tollgate/kit/db'

export type AppRow = { id: string; name: string | null; created: Date }

/** False when an app with this id is there already. */
export async function insertApp(sql: Sql, app: AppRow & { keyHash: Buffer }): Promise<boolean> {
  const { count } = await sql`
    insert into pay.apps (id, name, key_hash, created) values (${app.id}, ${app.name}, ${app.keyHash}, ${app.created})
    on conflict (id) do nothing`
  return count === 1
}

export async function findAppByKeyHash(sql: Sql, keyHash: Buffer): Promise<AppRow | undefined> {
  const [app] = await sql<AppRow>`select id, name, created from pay.apps where key_hash = ${keyHash}`
  return app
}
