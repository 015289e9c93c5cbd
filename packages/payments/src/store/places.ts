import type { Sql } from '@tollgate/kit/db'

/** Whose a payment is. For the command line: callers from outside are told only of what is theirs. */
export type Place = { merchantId: string; test: boolean; currency: string }

export async function findTransactionPlace(sql: Sql, id: string): Promise<Place | undefined> {
  const [place] = await sql<Place>`select merchant_id as "merchantId", test, currency from pay.transactions where id = ${id}`
  return place
}

/** Of the payment that a dispute is about. */
export async function findDisputePlace(sql: Sql, id: string): Promise<Place | undefined> {
  const [place] = await sql<Place>`
    select disputes.merchant_id as "merchantId", test, currency
    from pay.disputes
    join pay.transactions on transactions.merchant_id = disputes.merchant_id and transactions.id = transaction_id
    where disputes.id = ${id}`
  return place
}
