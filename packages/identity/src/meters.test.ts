import { createMetrics } from '@tollgate/kit/metrics'
import { prometheusText } from '@tollgate/kit/scrape'
import { stillClock } from '@tollgate/kit/testing'
import { expect, test } from 'vitest'
import { createMeters } from './meters.ts'
import { createPasswords } from './passwords/hashing.ts'

test('what is counted has the names that dashboards know', async () => {
  const metrics = createMetrics()
  const passwords = createPasswords({ concurrency: 1, queue: 1 })
  const meters = createMeters(metrics, { passwords, now: stillClock() })
  const hash = await passwords.hash('correct horse')
  await passwords.verify('correct horse', hash)
  await passwords.waste('wrong')
  meters.delivery('taken', 'mail', 'recovery')
  meters.delivery('refused', 'mail', 'recovery')
  meters.delivery('taken', 'sms', 'sms')
  meters.limited('mail')
  meters.cleaned(7)
  const told = Object.fromEntries(
    metrics
      .snapshot()
      .flatMap(({ name, kind, series }) => (kind === 'histogram' ? [] : [[name, series.map(({ value }) => value)]])),
  )
  expect(told).toMatchObject({
    gotrue_running: [1],
    gotrue_generate_from_password_submitted: [1],
    gotrue_generate_from_password_completed: [1],
    gotrue_compare_hash_and_password_submitted: [2],
    gotrue_compare_hash_and_password_completed: [2],
    global_auth_email_send_operations: [2],
    global_auth_email_send_errors: [1],
    tollgate_sms_send_operations: [1],
    tollgate_sms_send_errors: [0],
    gotrue_email_rate_limit_counter: [1],
    gotrue_cleanup_affected_rows: [7],
    tollgate_password_queue: [0],
  })
})

test('what was found to wait grows older until it is looked at again', () => {
  const [metrics, now] = [createMetrics(), stillClock()]
  const meters = createMeters(metrics, { passwords: createPasswords({ concurrency: 1, queue: 1 }), now })
  const told = () =>
    prometheusText(metrics.snapshot())
      .split('\n')
      .filter((line) => line.startsWith('tollgate_messages_waiting'))
  const lines = (mails: number, mailAge: number, sms: number, smsAge: number) => [
    `tollgate_messages_waiting{channel="mail"} ${mails}`,
    `tollgate_messages_waiting{channel="sms"} ${sms}`,
    `tollgate_messages_waiting_age_seconds{channel="mail"} ${mailAge}`,
    `tollgate_messages_waiting_age_seconds{channel="sms"} ${smsAge}`,
  ]
  expect(told()).toEqual(lines(0, 0, 0, 0))
  meters.waiting([{ channel: 'sms', count: 3, since: now() }])
  now.advance(40)
  expect(told()).toEqual(lines(0, 0, 3, 40))
  meters.waiting([{ channel: 'mail', count: 1, since: new Date(now().getTime() - 5_500) }])
  expect(told()).toEqual(lines(1, 5.5, 0, 0))
})

test('where nobody wants metrics nothing is counted', () => {
  const meters = createMeters(undefined, { passwords: createPasswords({ concurrency: 1, queue: 1 }), now: stillClock() })
  expect(() => meters.delivery('refused', 'sms', 'sms')).not.toThrow()
})
