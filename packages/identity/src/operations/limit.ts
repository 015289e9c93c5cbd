import { createHmac } from 'node:crypto'
import { takeFromBucket } from '@tollgate/kit/buckets'
import { networkOf } from '@tollgate/kit/client-address'
import type { Sql, Tx } from '@tollgate/kit/db'
import type { Incoming } from '@tollgate/kit/endpoint'
import type { Rate } from '@tollgate/kit/rate'
import type { App } from '../app.ts'
import { fail } from '../errors.ts'

type Limited = 'over_request_rate_limit' | 'over_email_send_rate_limit' | 'over_sms_send_rate_limit'

/** Refuses a caller who asks too often. Callers are told apart by the header that the operator's proxy sets; without one, nobody is limited. */
export async function limitCaller(app: App, request: Incoming, what: string, rate: Rate): Promise<void> {
  const caller = callerOf(app, request)
  if (caller !== undefined)
    await take(app, app.db, { key: `caller ${what}\0${caller}`, rate, refusal: 'over_request_rate_limit' })
}

function callerOf({ config }: App, { headers, peer }: Incoming): string | undefined {
  const { header, byAddress } = config.rateLimit
  const value = header === undefined ? undefined : headers[header.toLowerCase()]
  const first = (Array.isArray(value) ? value.join() : value)?.split(',')[0]?.trim()
  const address = first || (byAddress ? peer : undefined)
  return address && networkOf(address)
}

/** Refuses a mail beyond what may be sent in all. Asked last, because everybody who sends asks the same bucket. */
export async function limitMail(app: App, tx: Tx): Promise<void> {
  const { rateLimit, smtp } = app.config
  // Who confirms by themselves has no flood of confirmations to fear; nothing at all still means nothing at all.
  if (smtp.mailer.autoconfirm && rateLimit.emailSent.most > 0) return
  await take(app, tx, { key: 'mail', rate: rateLimit.emailSent, refusal: 'over_email_send_rate_limit' })
}

export async function limitSms(app: App, tx: Tx): Promise<void> {
  const { rateLimit, sms } = app.config
  if (sms.autoconfirm) return
  await take(app, tx, { key: 'sms', rate: rateLimit.smsSent, refusal: 'over_sms_send_rate_limit' })
}

async function take(app: App, sql: Sql, { key, rate, refusal }: { key: string; rate: Rate; refusal: Limited }): Promise<void> {
  if (rate.most < 1) throw refused(app, refusal, {})
  const bucket = createHmac('sha256', app.secrets.recipients.reveal()).update(key).digest()
  const now = app.now()
  const { taken, refilledAt } = await takeFromBucket(sql, bucket, rate, now)
  if (taken) return
  const left = Math.max(1, Math.ceil(rate.seconds - (now.getTime() - refilledAt.getTime()) / 1000))
  throw refused(app, refusal, { headers: { 'retry-after': String(left) } })
}

function refused({ meters }: App, refusal: Limited, details: Parameters<typeof fail>[1]) {
  if (refusal === 'over_email_send_rate_limit') meters.limited('mail')
  if (refusal === 'over_sms_send_rate_limit') meters.limited('sms')
  return fail(refusal, details)
}
