import type { Metrics } from '@tollgate/kit/metrics'
import type { Passwords } from './passwords/hashing.ts'

/** What is counted besides requests, under the names that dashboards of existing installations know. */
export type Meters = {
  /** An outsider took a message, or did not. */
  delivery(outcome: 'taken' | 'refused', channel: 'mail' | 'sms', kind: string): void
  /** A mail or SMS was refused because too many had been sent. */
  limited(what: 'mail' | 'sms'): void
  cleaned(rows: number): void
}

const none: Meters = { delivery() {}, limited() {}, cleaned() {} }

export function createMeters(metrics: Metrics | undefined, passwords: Passwords): Meters {
  if (!metrics) return none
  const { stats } = passwords
  metrics.gauge({ name: 'gotrue_running', help: 'Whether the service runs', over: 'max' }, () => 1)
  metrics.total({ name: 'gotrue_generate_from_password_submitted', help: 'Passwords to hash' }, () => stats().hashed.submitted)
  metrics.total({ name: 'gotrue_generate_from_password_completed', help: 'Passwords hashed' }, () => stats().hashed.completed)
  metrics.total(
    { name: 'gotrue_compare_hash_and_password_submitted', help: 'Passwords to compare' },
    () => stats().compared.submitted,
  )
  metrics.total(
    { name: 'gotrue_compare_hash_and_password_completed', help: 'Passwords compared' },
    () => stats().compared.completed,
  )
  metrics.gauge({ name: 'tollgate_password_queue', help: 'Passwords that wait to be hashed', over: 'sum' }, () => stats().waiting)
  metrics.total(
    { name: 'tollgate_password_queue_refused', help: 'Callers sent away because too many waited' },
    () => stats().refused,
  )

  const mails = metrics.counter({
    name: 'global_auth_email_send_operations',
    help: 'Mails that a server was offered',
    labels: ['type'],
  })
  const mailErrors = metrics.counter({
    name: 'global_auth_email_send_errors',
    help: 'Mails that it did not take',
    labels: ['type'],
  })
  const sms = metrics.counter({ name: 'tollgate_sms_send_operations', help: 'SMS that a gateway was offered', labels: [] })
  const smsErrors = metrics.counter({ name: 'tollgate_sms_send_errors', help: 'SMS that it did not take', labels: [] })
  const mailLimits = metrics.counter({
    name: 'gotrue_email_rate_limit_counter',
    help: 'Mails refused by the limit for all',
    labels: [],
  })
  const smsLimits = metrics.counter({ name: 'tollgate_sms_rate_limit', help: 'SMS refused by the limit for all', labels: [] })
  const rows = metrics.counter({ name: 'gotrue_cleanup_affected_rows', help: 'Rows cleaned up', labels: [] })
  return {
    delivery(outcome, channel, kind) {
      if (channel === 'mail') mails.add(1, kind)
      else sms.add(1)
      if (outcome === 'taken') return
      if (channel === 'mail') mailErrors.add(1, kind)
      else smsErrors.add(1)
    },
    limited: (what) => (what === 'mail' ? mailLimits : smsLimits).add(1),
    cleaned: (count) => rows.add(count),
  }
}
