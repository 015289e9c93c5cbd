import type { Db } from '@tollgate/kit/db'
import { merchantId, sourceId } from './merchants.ts'

/** The key of the only app that the textbook knows. */
export const textbookKey = '4c0c2d6e-5d0b-4f0e-9d0a-3a4f5b6c7d8e'

/** The tables of the textbook, with the keys and indexes that its statements need, and one merchant with a transaction to charge again. */
export async function makeTextbook(sql: Db): Promise<void> {
  await sql`create table merchants (id text collate "C" primary key, key text not null, descriptor text not null, rate float8 not null,
    flat integer not null)`
  await sql`create table balances (merchant_id text collate "C" primary key, balance bigint not null)`
  await sql`create table transactions (merchant_id text collate "C" not null, id text collate "C" not null, created timestamptz not null,
    currency text not null, amount bigint not null, captured bigint not null default 0, card text not null, source_id text,
    primary key (merchant_id, id)) with (fillfactor = 80)`
  await sql`create index transactions_id_idx on transactions (id)`
  await sql`create table trail (merchant_id text collate "C" not null, transaction_id text collate "C" not null,
    id text collate "C" not null, created timestamptz not null, kind text not null, amount bigint not null, fee bigint not null,
    line_id text not null, primary key (merchant_id, transaction_id, id))`
  await sql`create table lines (merchant_id text collate "C" not null, id text collate "C" not null, created timestamptz not null,
    balance bigint not null, fee bigint not null, amount bigint not null, currency text not null, transaction_id text not null,
    primary key (merchant_id, id))`
  await sql`create index lines_id_idx on lines (id)`
  await sql`create table postings (merchant_id text collate "C" not null, line_id text collate "C" not null, number smallint not null,
    debit text not null, credit text not null, currency text not null, amount bigint not null check (amount > 0),
    primary key (merchant_id, line_id, number))`
  await sql`insert into merchants values (${merchantId(0)}, ${textbookKey}, 'Shop', 0.025, 25)`
  await sql`insert into balances values (${merchantId(0)}, 0)`
  await sql`insert into transactions (merchant_id, id, created, currency, amount, card)
    values (${merchantId(0)}, ${sourceId(0)}, now(), 'EUR', 1000, '4100000000000000')`
  await sql`vacuum analyze`
}
