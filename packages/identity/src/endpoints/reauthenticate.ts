import { endpoint } from '../app.ts'
import { signedIn } from '../callers.ts'
import { fail } from '../errors.ts'
import { holdInterval } from '../operations/hold-interval.ts'
import { noteAudit } from '../operations/note-audit.ts'
import { sendCodeByMail, sendCodeBySms } from '../operations/send-code.ts'
import { originOf } from '../operations/start-session.ts'
import { Empty } from '../shapes.ts'
import { actorOf } from '../store/users.ts'

export const reauthenticate = endpoint({
  method: 'GET',
  path: '/reauthenticate',
  summary: 'Send a nonce for a new password',
  description: 'To the email address, or to the phone number where there is none. PUT /user takes it together with the password.',
  tag: 'Account',
  caller: signedIn,
  reply: { 200: Empty },
  fails: [
    'validation_failed',
    'email_not_confirmed',
    'phone_not_confirmed',
    'phone_provider_disabled',
    'email_address_not_authorized',
    'over_email_send_rate_limit',
    'over_sms_send_rate_limit',
  ],

  async run(app, { who: { user }, request }) {
    const { email, phone } = user
    if (email === '' && phone === '')
      throw fail('validation_failed', { message: 'Reauthentication requires the user to have an email or a phone number' })
    if (email !== '' && !user.emailConfirmedAt)
      throw fail('email_not_confirmed', { status: 422, message: 'Please verify your email first.' })
    if (email === '' && !user.phoneConfirmedAt)
      throw fail('phone_not_confirmed', { status: 422, message: 'Please verify your phone first.' })

    await app.db.begin(async (tx) => {
      await holdInterval(app, tx, email === '' ? 'sms_reauthentication' : 'reauthentication', email || phone)
      await noteAudit(app, tx, { action: 'user_reauthenticate_requested', actor: actorOf(user) }, originOf(request).address)
      if (email === '') await sendCodeBySms(app, tx, { purpose: 'sms_reauthentication', user, to: phone, whatsapp: false })
      else
        await sendCodeByMail(app, tx, request, {
          purpose: 'reauthentication',
          user,
          to: email,
          // It has no link that could lead anywhere.
          redirectTo: app.config.siteUrl,
          challenge: undefined,
        })
    })
    app.nudge()
    return {}
  },
})
