import type pg from 'pg'
import { Unavailable } from '../failure.ts'

/**
 * A standby reads, but what it reads is old by as much as it lags, and it writes nothing. Whoever is led to one, as an address may for a
 * while after another server was promoted, asks for the way again: connections are kept, and this one would stay.
 */
export async function refuseStandby(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ standby: boolean }>('select pg_is_in_recovery() as standby')
  if (rows[0]?.standby) throw new Unavailable('the database is a standby')
}
