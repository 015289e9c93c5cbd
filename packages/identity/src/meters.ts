import type { Clock } from '@tollgate/kit/clock'
import type { Metrics } from '@tollgate/kit/metrics'
import type { Passwords } from './passwords/hashing.ts'
import type { Waiting } from './store/messages.ts'

/** What is counted besides requests, under the names that dashboards of existing installations know. */
export type Meters = {
  /** An outsider took a message, or did not. */
  delivery(outcome: 'taken' | 'refused', channel: 'mail' | 'sms', kind: string): void
  /** What the last look found neither sent nor given up, of those channels where there is any. */
  waiting(found: readonly Waiting[]): void
  /** A mail or SMS was refused because too many had been sent. */
  limited(what: 'mail' | 'sms'): void
  cleaned(rows: number): void
}

/** However many wait, looking at them costs no more than this. */
export const mostSeen = 10_000

const none: Meters = { delivery() {}, waiting() {}, limited() {}, cleaned() {} }

export function createMeters(metrics: Metrics | undefined, { passwords, now }: { passwords: Passwords; now: Clock }): Meters {
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
  let waiting: readonly Waiting[] = []
  for (const channel of ['mail', 'sms']) {
    const found = () => waiting.find((each) => each.channel === channel)
    const age = (since: Date | undefined) => (since ? Math.max(0, now().getTime() - since.getTime()) / 1000 : 0)
    // Every worker sees the same tables, so that the worst of their figures is the figure.
    metrics.gauge(
      {
        ...{ name: 'tollgate_messages_waiting', values: { channel }, over: 'max' },
        help: `Messages that are neither sent nor given up, of which at most ${mostSeen} are seen`,
      },
      () => found()?.count ?? 0,
    )
    metrics.gauge(
      {
        ...{ name: 'tollgate_messages_waiting_age', values: { channel }, over: 'max', unit: 's' },
        help: 'For how long the oldest of them waits',
      },
      () => age(found()?.since),
    )
  }
  const rows = metrics.counter({ name: 'gotrue_cleanup_affected_rows', help: 'Rows cleaned up', labels: [] })
  return {
    delivery(outcome, channel, kind) {
      if (channel === 'mail') mails.add(1, kind)
      else sms.add(1)
      if (outcome === 'taken') return
      if (channel === 'mail') mailErrors.add(1, kind)
      else smsErrors.add(1)
    },
    waiting(found) {
      waiting = found
    },
    limited: (what) => (what === 'mail' ? mailLimits : smsLimits).add(1),
    cleaned: (count) => rows.add(count),
  }
}
