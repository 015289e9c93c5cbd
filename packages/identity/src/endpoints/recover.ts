import { anyone } from '@tollgate/kit/endpoint'
import Type from 'typebox'
import { endpoint } from '../app.ts'
import { audienceOf } from '../callers.ts'
import { fail } from '../errors.ts'
import { checkCaptcha } from '../operations/check-captcha.ts'
import { evenOut } from '../operations/even-out.ts'
import { findDestination } from '../operations/find-destination.ts'
import { holdInterval } from '../operations/hold-interval.ts'
import { limitCaller } from '../operations/limit.ts'
import { noteAudit } from '../operations/note-audit.ts'
import { readChallenge, readEmail } from '../operations/read-input.ts'
import { sendCodeByMail } from '../operations/send-code.ts'
import { isWelcome } from '../operations/sign-up.ts'
import { originOf } from '../operations/start-session.ts'
import { captchaFields, challengeFields, Empty, redirectQuery } from '../shapes.ts'
import { actorOf, findUserByContact } from '../store/users.ts'

export const recover = endpoint({
  method: 'POST',
  path: '/recover',
  summary: 'Send a password recovery message',
  tag: 'Sign in',
  caller: anyone,
  query: redirectQuery,
  body: Type.Object({ email: Type.Optional(Type.String()), ...challengeFields, ...captchaFields }),
  reply: { 200: Empty },
  fails: [
    'captcha_failed',
    'over_request_rate_limit',
    'over_email_send_rate_limit',
    'email_provider_disabled',
    'email_address_not_authorized',
  ],

  async run(app, { body, query, request }) {
    await limitCaller(app, request, 'recover', app.config.rateLimit.otp)
    await checkCaptcha(app, request, body)
    if (!app.config.external.email) throw fail('email_provider_disabled', { status: 400 })
    if (!body.email) throw fail('validation_failed', { message: 'Password recovery requires an email' })
    const email = readEmail(body.email)
    const challenge = readChallenge(app, body)
    const redirectTo = findDestination(app, request, query.redirect_to)
    return evenOut(async () => {
      await app.db.begin(async (tx) => {
        await holdInterval(app, tx, 'recovery', email)
        const known = await findUserByContact(tx, { email }, audienceOf(app, request))
        // An unknown address gets the same answer after the same work, so that nobody can probe for accounts.
        const user = known && isWelcome(app, known) ? known : undefined
        if (user) {
          const { address } = originOf(request)
          await noteAudit(app, tx, { action: 'user_recovery_requested', actor: actorOf(user) }, address)
        }
        await sendCodeByMail(app, tx, request, { purpose: 'recovery', user, to: email, redirectTo, challenge })
      })
      app.nudge()
      return {}
    })
  },
})
