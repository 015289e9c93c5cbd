import type { Sql } from '@tollgate/kit/db'

/** What opens the security code that is in a token. */
export type SecurityCode = { id: Buffer; wrappedKey: Buffer; expires: Date }

export async function insertSecurityCode(sql: Sql, { id, wrappedKey, expires }: SecurityCode): Promise<void> {
  await sql`insert into pay.security_codes (id, wrapped_key, expires) values (${id}, ${wrappedKey}, ${expires})`
}

/** Whoever takes it is the only one who does: the code cannot be read a second time. */
export async function takeSecurityCode(tx: Sql, id: Buffer, now: Date): Promise<Buffer | undefined> {
  const [taken] = await tx<{ wrappedKey: Buffer }>`
    delete from pay.security_codes where id = ${id} and expires > ${now} returning wrapped_key as "wrappedKey"`
  return taken?.wrappedKey
}

/** Some of those that have expired, the oldest first, and none that somebody else is deleting already. Tells how many. */
export async function deleteExpiredSecurityCodes(sql: Sql, now: Date, most: number): Promise<number> {
  const { count } = await sql`
    delete from pay.security_codes where id in (
      select id from pay.security_codes where expires <= ${now} order by expires limit ${most} for update skip locked
    )`
  return count
}
