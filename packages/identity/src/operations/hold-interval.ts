import { createHmac } from 'node:crypto'
import type { Tx } from '@tollgate/kit/db'
import type { App } from '../app.ts'
import { fail } from '../errors.ts'
import { findSending, takeSending } from '../store/sendings.ts'

/** What may go out to one recipient only so often, each kind by itself. */
export type SendingKind =
  | 'signup'
  | 'magiclink'
  | 'recovery'
  | 'email_change'
  | 'reauthentication'
  | 'sms'
  | 'phone_change'
  | 'sms_reauthentication'

const bySms = new Set<SendingKind>(['sms', 'phone_change', 'sms_reauthentication'])

/**
 * Refuses what comes too soon after the last one of its kind. Kept by recipient, whether they have an account or not: a refusal then tells
 * nothing about accounts.
 */
export async function holdInterval(app: App, tx: Tx, kind: SendingKind, recipient: string): Promise<void> {
  const seconds = intervalOf(app, kind)
  if (seconds <= 0) return
  const now = app.now()
  const sending = { kind, recipient: createHmac('sha256', app.secrets.recipients.reveal()).update(recipient).digest() }
  if (await takeSending(tx, sending, { now, seconds })) return
  const last = await findSending(tx, sending)
  const left = Math.max(1, Math.ceil(((last ?? now).getTime() - now.getTime()) / 1000 + seconds))
  throw fail(bySms.has(kind) ? 'over_sms_send_rate_limit' : 'over_email_send_rate_limit', {
    message: `For security purposes, you can only request this after ${left} seconds.`,
    headers: { 'retry-after': String(left) },
  })
}

function intervalOf({ config }: App, kind: SendingKind): number {
  if (bySms.has(kind)) return config.sms.maxFrequency
  return config.smtp.maxFrequency ?? (kind === 'signup' ? 900 : 60)
}
