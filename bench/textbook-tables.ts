import type { Db } from '@tollgate/kit/db'
import { merchantId, type Owner, seedMerchants } from './merchants.ts'

/** The tables of the service, filled like those of the service, and the one that the textbook has besides: a row a merchant, its balance. */
export async function makeTextbook(sql: Db, owner: Owner, past: number): Promise<void> {
  await seedMerchants(sql, owner, { past, waiting: 0 })
  await sql`create table balances (merchant_id text collate "C" primary key, balance bigint not null,
    reserved bigint not null)`
  await sql`insert into balances values (${merchantId(0)}, 0, 0)`
  await sql`vacuum analyze balances`
}
