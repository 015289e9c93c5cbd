import type { Sql } from '@tollgate/kit/db'

/** How far a loop has come that goes through something once. */
export async function findWatermark(sql: Sql, name: string): Promise<Date | undefined> {
  const [mark] = await sql<{ through: Date }>`select through from pay.watermarks where name = ${name}`
  return mark?.through
}

/** Never goes back: of two processes that do the same the one that came further counts. */
export async function setWatermark(sql: Sql, name: string, through: Date): Promise<void> {
  await sql`
    insert into pay.watermarks (name, through) values (${name}, ${through})
    on conflict (name) do update set through = greatest(watermarks.through, excluded.through)`
}
