import type { Sql } from '@tollgate/kit/db'
import type { Page } from '../rules/page.ts'

export type LineKind = 'capture' | 'refund' | 'dispute' | 'payout'

export type LineRow = {
  id: string
  merchantId: string
  created: Date
  test: boolean
  kind: LineKind
  /** Of a dispute that was decided. */
  won: boolean | null
  balance: number
  fee: number
  amount: number
  currency: string
  transactionId: string | null
  iban: string | null
  description: string | null
}

export type LineFilter = { kinds: readonly LineKind[]; transactionId?: string | undefined; description?: string | undefined }

export async function listLines(sql: Sql, merchantId: string, filter: LineFilter, page: Page): Promise<LineRow[]> {
  const { limit, before, after, ascending } = page
  const { kinds, transactionId = null, description = null } = filter
  return await sql<LineRow>`
    select id, merchant_id as "merchantId", created, test, kind, won, balance, fee, amount, currency,
      transaction_id as "transactionId", iban, description
    from (
      (select * from pay.lines
        where merchant_id = ${merchantId} and id < ${before} and id > ${after} and not ${ascending}::boolean
          and ${transactionId}::text is null and kind = any(${kinds})
          and (${description}::text is null or description = ${description})
        order by id desc limit ${limit})
      union all
      (select * from pay.lines
        where merchant_id = ${merchantId} and id < ${before} and id > ${after} and ${ascending}::boolean
          and ${transactionId}::text is null and kind = any(${kinds})
          and (${description}::text is null or description = ${description})
        order by id limit ${limit})
      union all
      (select * from pay.lines
        where merchant_id = ${merchantId} and id < ${before} and id > ${after}
          and ${transactionId}::text is not null and transaction_id = ${transactionId} and kind = any(${kinds})
          and (${description}::text is null or description = ${description})
        order by case when ${ascending}::boolean then id end, id desc limit ${limit})
    ) as page
    order by case when ${ascending}::boolean then id end, id desc`
}

/** For a list that may have to pass over millions of lines to find the few that are asked for. */
export async function limitLineSearch(sql: Sql): Promise<void> {
  await sql`set local statement_timeout = '8s'`
}

/** A line of one of the merchants that this identity is a member of. They are looked through one by one: an index of all lines costs more. */
export async function findOwnLine(sql: Sql, identityId: string, id: string): Promise<LineRow | undefined> {
  const [line] = await sql<LineRow>`
    select lines.id, lines.merchant_id as "merchantId", lines.created, test, lines.kind, won, balance, fee, amount, currency,
      transaction_id as "transactionId", iban, description
    from pay.members join pay.lines on lines.merchant_id = members.merchant_id and lines.id = ${id}
    where identity_id = ${identityId}`
  return line
}
