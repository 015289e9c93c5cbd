import type { Tx } from '@tollgate/kit/db'
import type { Account } from '../../rules/books.ts'
import type { PageOf } from './place.ts'

export type PostingFacts = { debit: Account; credit: Account; currency: string; amount: string }

export type LineFacts = {
  merchantId: string
  id: string
  created: Date
  test: boolean
  kind: 'capture' | 'refund' | 'dispute' | 'payout'
  won: boolean | null
  balance: string
  fee: string
  amount: string
  currency: string
  transactionId: string | null
  disputeId: string | null
  merchant: { test: boolean; currency: string } | null
  transactionCurrency: string | null
  /** How many done entries of its transaction's trail name it. */
  entries: number
  /** How many payouts name it. */
  payouts: number
  dispute: { transactionId: string; won: boolean | null } | null
  postings: PostingFacts[]
}

export async function readLines(tx: Tx, { after: [merchantId, id], limit }: PageOf): Promise<LineFacts[]> {
  return await tx<LineFacts>`
    select it.merchant_id as "merchantId", it.id, it.created, it.test, it.kind, it.won, it.balance::text, it.fee::text, it.amount::text,
      it.currency, it.transaction_id as "transactionId", it.dispute_id as "disputeId",
      (select json_build_object('test', merchants.test, 'currency', merchants.currency)
       from pay.merchants where merchants.id = it.merchant_id) as merchant,
      (select currency from pay.transactions
       where transactions.merchant_id = it.merchant_id and transactions.id = it.transaction_id) as "transactionCurrency",
      (select count(*) from pay.trail
       where trail.merchant_id = it.merchant_id and trail.transaction_id = it.transaction_id and line_id = it.id
         and state = 'done' and trail.kind = it.kind) as entries,
      case when it.kind = 'payout' then
        (select count(*) from pay.payouts where payouts.merchant_id = it.merchant_id and payouts.line_id = it.id)
      else 0 end as payouts,
      (select json_build_object('transactionId', disputes.transaction_id, 'won', disputes.won)
       from pay.disputes where disputes.merchant_id = it.merchant_id and disputes.id = it.dispute_id) as dispute,
      (select coalesce(json_agg(json_build_object(
          'debit', debit, 'credit', credit, 'currency', currency, 'amount', amount::text) order by number), '[]')
       from pay.postings where postings.merchant_id = it.merchant_id and line_id = it.id) as postings
    from (
      select * from pay.lines where (merchant_id, id) > (${merchantId}, ${id}) order by merchant_id, id limit ${limit}
    ) it
    order by it.merchant_id, it.id`
}

export type PostedFacts = { merchantId: string; lineId: string; postings: number; lineExists: boolean }

/** The lines that postings speak of, whether they are there or not. */
export async function readPosted(tx: Tx, { after: [merchantId, lineId], limit }: PageOf): Promise<PostedFacts[]> {
  return await tx<PostedFacts>`
    select it.merchant_id as "merchantId", it.line_id as "lineId", it.postings,
      exists (select from pay.lines where lines.merchant_id = it.merchant_id and lines.id = it.line_id) as "lineExists"
    from (
      select merchant_id, line_id, count(*) as postings from pay.postings
      where (merchant_id, line_id) > (${merchantId}, ${lineId})
      group by merchant_id, line_id order by merchant_id, line_id limit ${limit}
    ) it
    order by it.merchant_id, it.line_id`
}

export type SumFacts = {
  merchantId: string
  through: Date
  place: string
  merchantExists: boolean
  lines: string
  balance: string
  /** Whether it is the merchant's first, and what the lines since the one before it add up to. */
  first: boolean
  linesSince: string
  balanceSince: string
}

export async function readLineSums(tx: Tx, { after: [merchantId, through], limit }: PageOf): Promise<SumFacts[]> {
  return await tx<SumFacts>`
    select it.merchant_id as "merchantId", it.through, it.through::text as place,
      exists (select from pay.merchants where merchants.id = it.merchant_id) as "merchantExists",
      it.lines::text, it.balance::text, before.through is null as first,
      since.lines::text as "linesSince", since.balance::text as "balanceSince"
    from (
      select * from pay.line_sums
      where (merchant_id, through) > (${merchantId}, coalesce(nullif(${through}::text, ''), '-infinity')::timestamptz)
      order by merchant_id, through limit ${limit}
    ) it
    left join lateral (
      select through from pay.line_sums earlier
      where earlier.merchant_id = it.merchant_id and earlier.through < it.through order by through desc limit 1
    ) before on true
    cross join lateral (
      select count(*) as lines, coalesce(sum(lines.balance), 0) as balance from pay.lines
      where lines.merchant_id = it.merchant_id and created <= it.through and created > coalesce(before.through, '-infinity')
    ) since
    order by it.merchant_id, it.through`
}

export type PayoutFacts = {
  merchantId: string
  day: string
  id: string
  created: Date
  test: boolean
  currency: string
  amount: string
  iban: string
  lineId: string
  merchant: { test: boolean; currency: string } | null
  line: { kind: string; balance: string; fee: string; amount: string; iban: string | null } | null
}

export async function readPayouts(tx: Tx, { after: [merchantId, day], limit }: PageOf): Promise<PayoutFacts[]> {
  return await tx<PayoutFacts>`
    select it.merchant_id as "merchantId", it.day::text as day, it.id, it.created, it.test, it.currency, it.amount::text, it.iban,
      it.line_id as "lineId",
      (select json_build_object('test', merchants.test, 'currency', merchants.currency)
       from pay.merchants where merchants.id = it.merchant_id) as merchant,
      (select json_build_object(
         'kind', kind, 'balance', balance::text, 'fee', fee::text, 'amount', lines.amount::text, 'iban', lines.iban)
       from pay.lines where lines.merchant_id = it.merchant_id and lines.id = it.line_id) as line
    from (
      select * from pay.payouts where (merchant_id, day) > (${merchantId}, coalesce(nullif(${day}::text, ''), '-infinity')::date)
      order by merchant_id, day limit ${limit}
    ) it
    order by it.merchant_id, it.day`
}
