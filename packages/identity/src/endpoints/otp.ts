import { anyone } from '@tollgate/kit/endpoint'
import Type from 'typebox'
import { endpoint } from '../app.ts'
import { fail } from '../errors.ts'
import { checkCaptcha } from '../operations/check-captcha.ts'
import { findDestination } from '../operations/find-destination.ts'
import { limitCaller } from '../operations/limit.ts'
import { readChallenge, readEmail, readPhone, readWhatsapp } from '../operations/read-input.ts'
import { checkMagicLinks, sendMagicLink, sendSmsCode } from '../operations/send-magic-link.ts'
import { captchaFields, challengeFields, Data, Empty, redirectQuery } from '../shapes.ts'

export const otp = endpoint({
  method: 'POST',
  path: '/otp',
  summary: 'Send a code to sign in with',
  description:
    'By mail, with a link, or by SMS. People unknown so far are signed up, unless create_user is false; the answer does not tell.',
  tag: 'Sign in',
  caller: anyone,
  query: redirectQuery,
  body: Type.Object({
    email: Type.Optional(Type.String()),
    phone: Type.Optional(Type.String()),
    create_user: Type.Optional(Type.Boolean({ description: 'true when not said' })),
    data: Type.Optional(Data),
    channel: Type.Optional(Type.String({ description: 'sms or whatsapp' })),
    ...challengeFields,
    ...captchaFields,
  }),
  reply: { 200: Empty },
  fails: [
    'captcha_failed',
    'over_request_rate_limit',
    'over_email_send_rate_limit',
    'over_sms_send_rate_limit',
    'email_provider_disabled',
    'phone_provider_disabled',
    'email_address_not_authorized',
  ],

  async run(app, { body, query, request }) {
    await limitCaller(app, request, 'otp', app.config.rateLimit.otp)
    await checkCaptcha(app, request, body)
    const { email = '', phone = '', channel = '', create_user: createUser = true, data = {} } = body
    if (email !== '' && phone !== '')
      throw fail('validation_failed', { message: 'Only an email address or phone number should be provided' })
    if (email !== '' && channel !== '')
      throw fail('validation_failed', { message: 'Channel should only be specified with Phone OTP' })
    const challenge = readChallenge(app, body)
    if (email !== '') {
      checkMagicLinks(app)
      const redirectTo = findDestination(app, request, query.redirect_to)
      await sendMagicLink(app, request, { email: readEmail(email), createUser, data, redirectTo, challenge })
    } else if (phone !== '') {
      if (!app.config.external.phone)
        throw fail('phone_provider_disabled', { status: 400, message: 'Unsupported phone provider' })
      const whatsapp = readWhatsapp(app, channel)
      await sendSmsCode(app, request, { phone: readPhone(phone), createUser, data, whatsapp })
    } else throw fail('validation_failed', { message: 'One of email or phone must be set' })
    return {}
  },
})
