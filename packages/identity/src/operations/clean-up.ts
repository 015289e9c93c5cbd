import type { Rate } from '@tollgate/kit/rate'
import type { App } from '../app.ts'
import { deleteExpired } from '../store/clean-up.ts'

const minute = 60
const day = 86_400
const year = 365 * day

/** So that whoever has a mountain to take away does not do so for ever; the rest is for next time. */
const mostSteps = 100

/** Takes away what nobody needs any more, a little at a time. Any number of processes may do so at once. */
export async function cleanUp({
  db,
  log,
  now,
  config,
  meters,
}: Pick<App, 'db' | 'log' | 'now' | 'config' | 'meters'>): Promise<void> {
  const before = (seconds: number) => new Date(now().getTime() - seconds * 1000)
  const { smtp, sms, sessions, external, rateLimit } = config
  const longestInterval = Math.max(smtp.maxFrequency ?? 900, sms.maxFrequency)
  const { emailSent, smsSent, otp, verify, token, anonymousUsers } = rateLimit
  const limits = {
    now: now(),
    codesBefore: before(Math.max(smtp.mailer.otpLifetime, sms.otpLifetime) + day),
    // A flow waits for its mail to be opened, and then for its code to be fetched.
    flowsBefore: before(smtp.mailer.otpLifetime + external.flowLifetime + day),
    sendingsBefore: before(longestInterval + minute),
    // A bucket that is not there is a full one.
    bucketsBefore: before(Math.max(...[emailSent, smsSent, otp, verify, token, anonymousUsers].map(secondsToFill)) + minute),
    messagesBefore: before(7 * day),
    // Until then, whoever presents a stolen one again is found out.
    revokedBefore: before(30 * day),
    sessionsEndedBefore: before(3 * day),
    begunBefore: sessions.timebox === undefined ? null : before(sessions.timebox + day),
    refreshedBefore: sessions.inactivityTimeout === undefined ? null : before(sessions.inactivityTimeout + day),
  }
  try {
    let rows = 0
    for (let step = 1, more = true; more && step <= mostSteps; step++) {
      const deleted = await deleteExpired(db, limits)
      rows += deleted.rows
      more = deleted.more
    }
    meters.cleaned(rows)
    if (rows > 0) log.debug({ rows }, 'cleaned up')
  } catch (problem) {
    log.warn({ error: problem }, 'cleaning up failed, and is tried again later')
  }
}

/** A rate can be so slow that a calendar has no date for it. */
function secondsToFill({ most, amount, seconds }: Rate): number {
  return amount === 0 ? 0 : Math.min(year, Math.ceil(most / amount) * seconds)
}
