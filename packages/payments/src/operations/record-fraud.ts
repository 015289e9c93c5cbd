import type { Sql } from '@tollgate/kit/db'
import { tagOf } from '@tollgate/kit/id'
import type { App } from '../app.ts'
import { unfit } from '../errors.ts'
import { type FraudRow, findFraudByReference, insertFraud } from '../store/frauds.ts'
import { findTransaction } from '../store/transactions.ts'

/** What an acquirer tells of a payment that may not have been the cardholder's. */
export type FraudNotice = {
  merchantId: string
  transactionId: string
  /** When the cardholder's bank was told. */
  reported?: Date | undefined
  /** From 0 to 8. */
  reason?: number | undefined
  acquirerReference: string
}

/** Keeps a fraud alert; no money moves. The same notification any number of times is one alert. `db` may be a transaction. */
export async function recordFraud(app: Pick<App, 'now' | 'mintId'> & { db: Sql }, notice: FraudNotice): Promise<FraudRow> {
  const { merchantId, transactionId, reported = null, reason = null, acquirerReference } = notice
  const now = app.now()
  if (reported && reported > now) throw unfit('reported', 'Must not be in the future')
  const found = await findTransaction(app.db, merchantId, transactionId)
  if (!found) throw unfit('transactionId', 'There is no transaction with this id')
  const fraud = { merchantId, id: app.mintId(tagOf(merchantId)), transactionId, created: now, reported, reason }
  if (await insertFraud(app.db, { ...fraud, acquirerReference })) return fraud
  const known = await findFraudByReference(app.db, merchantId, acquirerReference)
  if (known?.transactionId === transactionId) return known
  throw unfit('acquirerReference', 'A fraud alert of another transaction has this reference')
}
